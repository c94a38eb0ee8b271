"""Where an excerpt stands, code point by code point, and which place is meant (docs/spec/evidence.md, Matching)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kansho_sign.characters import cuts_character, is_digit, is_letter_or_digit
from kansho_sign.evidence.policy import Boundary

__all__ = ["Finding", "Span", "Tally", "locate", "occurrences"]

MARKS = frozenset(".,'\u2019\u066b\u066c\u00a0\u202f")
SIGNS = frozenset("+-\u2212\u00b1")


class Finding(StrEnum):
    """Why a piece of evidence is refused."""

    UNKNOWN_SOURCE = "unknown_source"
    ROLE_NOT_ALLOWED = "role_not_allowed"
    EMPTY_EXCERPT = "empty_excerpt"
    WRONG_SOURCE = "wrong_source"
    UNVERIFIED_EXCERPT = "unverified_excerpt"
    EXCERPT_CUTS_NUMBER = "excerpt_cuts_number"
    EXCERPT_CUTS_CHARACTER = "excerpt_cuts_character"
    CANONICAL_OVERWRITE = "canonical_overwrite"


@dataclass(frozen=True, slots=True)
class Span:
    """The place that evidence confirms: ``[start, end)`` in code points, and how often the text stands there."""

    source_id: str
    start: int
    end: int
    occurrences: int


def occurrences(text: str, excerpt: str) -> Iterator[int]:
    """Every place where ``excerpt``, not empty, stands, overlapping ones too, ascending; in linear time."""
    size, period, previous = len(excerpt), 0, -1
    place = text.find(excerpt)
    while place >= 0:
        yield place
        # Two neighbours at most half an excerpt apart show the excerpt's smallest period. While the text goes on with
        # it, the next place is one period away; searching anew for each would read the same text again and again.
        if not period and previous >= 0 and 2 * (place - previous) <= size:
            period = place - previous
        previous = place
        end = place + size
        if period and text[end : end + period] == excerpt[size - period :]:
            place += period
        else:
            place = text.find(excerpt, place + 1)


def _at(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else ""


def _edge_cuts_number(text: str, edge: int) -> bool:
    before, after = _at(text, edge - 1), _at(text, edge)
    if is_digit(before) and is_digit(after):
        return True
    if is_digit(before) and after in MARKS and is_digit(_at(text, edge + 1)):
        return True
    return is_digit(after) and before in MARKS and is_digit(_at(text, edge - 2))


def _cuts_number(text: str, start: int, end: int) -> bool:
    if _edge_cuts_number(text, start) or _edge_cuts_number(text, end):
        return True
    signed = is_digit(_at(text, start)) and _at(text, start - 1) in SIGNS
    return signed and not is_letter_or_digit(_at(text, start - 2))


def _cut(text: str, start: int, end: int) -> Finding | None:
    if _cuts_number(text, start, end):
        return Finding.EXCERPT_CUTS_NUMBER
    for edge in (start, end):
        if cuts_character(_at(text, edge - 1), _at(text, edge)):
            return Finding.EXCERPT_CUTS_CHARACTER
    return None


class Tally:
    """Counts the places of one excerpt in one text, given ascending, and keeps the first that the boundary allows."""

    __slots__ = ("_boundary", "_chosen", "_count", "_first_cut", "_size", "_text")

    def __init__(self, text: str, size: int, boundary: Boundary) -> None:
        self._text, self._size, self._boundary = text, size, boundary
        self._count, self._chosen = 0, -1
        self._first_cut: Finding | None = None

    def add(self, place: int) -> None:
        """One more place."""
        self._count += 1
        if self._chosen >= 0:
            return
        cut = _cut(self._text, place, place + self._size) if self._boundary is Boundary.SAFE else None
        if cut is None:
            self._chosen = place
        elif self._first_cut is None:
            self._first_cut = cut

    def outcome(self, source_id: str) -> Span | Finding:
        """The span, or why there is none."""
        if self._chosen >= 0:
            return Span(source_id, self._chosen, self._chosen + self._size, self._count)
        return self._first_cut or Finding.UNVERIFIED_EXCERPT


def locate(source_id: str, text: str, excerpt: str, boundary: Boundary) -> Span | Finding:
    """The place of a canonical, non-empty excerpt in the text of one source, or why there is none."""
    tally = Tally(text, len(excerpt), boundary)
    for place in occurrences(text, excerpt):
        tally.add(place)
    return tally.outcome(source_id)
