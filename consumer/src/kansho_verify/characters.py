"""Classes of characters and the cuts that ``docs/spec/evidence.md`` forbids (Matching, Findings)."""

from __future__ import annotations

import re

import unicodedata2

__all__ = ["IGNORABLE", "cuts", "is_blank"]

IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""One code point that takes no place of its own in a display."""

_BLANK_BRAILLE = "\u2800"
_MARKS = frozenset(".,'\u2019\u066b\u066c\u00a0\u202f")
_SIGNS = frozenset("+-\u2212\u00b1")
_ZERO_WIDTH_JOINER = "\u200d"
_ON_THE_LEFT = re.compile("[\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]")


def is_blank(text: str) -> bool:
    """Whether ``text`` holds nothing but white space and invisible characters."""
    return all(
        unicodedata2.category(char)[0] in "ZC" or char == _BLANK_BRAILLE or IGNORABLE.fullmatch(char) is not None
        for char in set(text)
    )


def cuts(text: str, start: int, end: int) -> bool:
    """Whether the span cuts a number or a character of ``text`` at one of its edges."""
    return (
        _edge_cuts(text, start)
        or _edge_cuts(text, end)
        or (_is_digit(text, start) and _at(text, start - 1) in _SIGNS and not _is_alphanumeric(text, start - 2))
    )


def _edge_cuts(text: str, edge: int) -> bool:
    before, after = _at(text, edge - 1), _at(text, edge)
    if not before or not after:
        return False
    if _is_digit(text, edge - 1):
        cuts_number = _is_digit(text, edge) or (after in _MARKS and _is_digit(text, edge + 1))
    else:
        cuts_number = before in _MARKS and _is_digit(text, edge) and _is_digit(text, edge - 2)
    cuts_character = (
        before == _ZERO_WIDTH_JOINER
        or _ON_THE_LEFT.fullmatch(after) is not None
        or str(unicodedata2.category(after)).startswith("M")
    )
    return cuts_number or cuts_character


def _at(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else ""


def _is_digit(text: str, index: int) -> bool:
    char = _at(text, index)
    return char != "" and unicodedata2.category(char) == "Nd"


def _is_alphanumeric(text: str, index: int) -> bool:
    char = _at(text, index)
    return char != "" and unicodedata2.category(char)[0] in "LN"
