"""Text of others in messages: escaped, shortened, never able to steer a terminal."""

import unicodedata2 as ucd

__all__ = ["counted", "escape"]


def counted(number: int, what: str) -> str:
    """``1 document``, ``2 documents``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def escape(text: str, length: int = 200) -> str:
    """``text`` on one line, with controls, format and unassigned characters as escapes, cut at ``length``."""
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return "".join(
        c if c == " " or ucd.category(c)[0] not in "CZ" else c.encode("unicode_escape").decode("ascii") for c in cut
    )
