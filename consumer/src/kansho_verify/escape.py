"""Text of an artifact, made safe to show: escaped, so that it never steers a terminal, and shortened."""

from __future__ import annotations

import unicodedata2

from kansho_verify.characters import IGNORABLE

__all__ = ["shorten", "shown"]

_SHOWN_CHARS = 80
_MARKS_IN_A_ROW = 2
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me"})


def shown(text: str, limit: int = _SHOWN_CHARS) -> str:
    """``text`` in double quotes, at most ``limit`` code points of it, everything that cannot be seen escaped.

    Controls, formats (bidirectional ones too), surrogates, private, unassigned, odd spaces and marks that pile up
    become ``\\u{…}``; ``"`` and ``\\`` are escaped, so that the quotes cannot be forged.
    """
    parts: list[str] = []
    marks = 0
    for char in text[:limit]:
        is_mark = not char.isascii() and unicodedata2.category(char) == "Mn"
        marks = marks + 1 if is_mark else 0
        stands_alone = is_mark and (not parts or marks > _MARKS_IN_A_ROW)
        parts.append(_code_point(char) if stands_alone else _escaped(char))
    return f'"{"".join(parts)}"' + ("…" if len(text) > limit else "")


def shorten(text: str, limit: int) -> str:
    """``text``, which is safe already, cut to ``limit`` code points with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == "\n":
        return "\\n"
    if " " <= char <= "~":
        return char
    if unicodedata2.category(char) in _HIDDEN_CATEGORIES or _looks_empty(char):
        return _code_point(char)
    return char


def _code_point(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def _looks_empty(char: str) -> bool:
    return char == "\u2800" or unicodedata2.category(char) == "Zs" or IGNORABLE.fullmatch(char) is not None
