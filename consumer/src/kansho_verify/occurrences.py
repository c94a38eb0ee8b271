"""The places where a text stands in a source, overlapping ones too, found in time linear in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator

__all__ = ["count_occurrences", "first_occurrence"]

_SHORT_CHARS = 64
_NEAR_AN_END = 3


def count_occurrences(source: str, part: str) -> int:
    """How often ``part``, not empty, stands in ``source``."""
    length = len(part)
    if length <= _SHORT_CHARS and not any(part.startswith(part[i:]) for i in range(1, length)):
        return source.count(part)  # it cannot overlap itself
    return sum(map(len, _runs(source, part)))


def first_occurrence(source: str, part: str, is_allowed: Callable[[int], bool]) -> int | None:
    """The first place of ``part``, not empty, in ``source`` that ``is_allowed``; None when there is none.

    ``is_allowed`` decides by the two code points on either side of both edges of the part there. So it says the same
    of all places in a run but those near the run's ends, and only these are asked about.
    """
    for run in _runs(source, part):
        inner = len(run) > 2 * _NEAR_AN_END
        for place in (*run[:_NEAR_AN_END], *run[-_NEAR_AN_END:]) if inner else run:
            if is_allowed(place):
                return place
    return None


def _runs(source: str, part: str) -> Iterator[range]:
    """Every place of ``part``, ascending, in runs at equal distances.

    Searching again after each find would be quadratic for a periodic text ("aaaa…"). But when two neighbouring
    finds lie no more than half of ``part`` apart, their distance is the smallest period of ``part``, and every
    further find in this run follows at that distance for as long as the source goes on repeating.
    """
    length, last = len(part), -1
    found = source.find(part)
    while found >= 0:
        period, further = found - last, 0
        if last >= 0 and period <= length // 2:
            further = _repeating(source, found + length, period) // period
        last = found + further * period
        yield range(found, last + 1, period)
        found = source.find(part, last + 1)


def _repeating(source: str, start: int, period: int) -> int:
    """For how many code points from ``start`` on the source equals itself ``period`` earlier."""
    total, step = 0, max(period, 64)
    while step:
        here = start + total
        piece = source[here : here + step]
        if piece and piece == source[here - period : here - period + len(piece)]:
            total += len(piece)
            step *= 2
        elif len(piece) <= 1:
            break
        else:
            step = len(piece) // 2
    return total
