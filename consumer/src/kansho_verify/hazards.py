"""Display hazards: places in verified text that a display could be fooled by (``verification.md``, Verdict document).

They are told, not judged: the text is verified as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import unicodedata2

from kansho_verify.limits import LIMITS

__all__ = ["Hazard", "find_hazards"]

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_KINDS = (
    ("bidi_control", re.compile(f"[{_BIDI}]")),
    ("tag_character", re.compile(f"[{_TAGS}]")),
    ("invisible", re.compile(f"(?![{_BIDI}])[{_INVISIBLE}]")),
    ("control", re.compile(f"[{_CONTROL}]")),
)
_ANY_NOT_PLAIN = re.compile("[^\n\t -~]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Hazard:
    """One kind of hazard in one text: how often, and which code points (``U+202E``), at most 64 of them."""

    path: str
    kind: str
    code_points: tuple[str, ...]
    count: int


def find_hazards(text: str, path: str) -> list[Hazard]:
    """The hazards of ``text``; ``path`` is the JSON path it stands at."""
    if _ANY_NOT_PLAIN.search(text) is None:
        return []
    hazards: list[Hazard] = []
    for kind, pattern in _KINDS:
        found = pattern.findall(text)
        if found:
            points = sorted(set(found))[: LIMITS.hazard_code_points]
            hazards.append(Hazard(path, kind, tuple(f"U+{ord(char):04X}" for char in points), len(found)))
    mixed = sum(map(_is_mixed, _WORD.findall(text)))
    if mixed:
        hazards.append(Hazard(path, "mixed_script", (), mixed))
    return hazards


def _is_mixed(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {_script(char) for char in set(word)}
    return "LATIN" in scripts and not scripts.isdisjoint({"CYRILLIC", "GREEK"})


def _script(char: str) -> str:
    if not unicodedata2.category(char).startswith("L"):
        return ""
    return str(unicodedata2.name(char, "")).partition(" ")[0]
