"""Counting the places where a text stands in a source, overlapping ones too, in time linear in the source."""

from __future__ import annotations

__all__ = ["count_occurrences"]

_SHORT_CHARS = 64


def count_occurrences(source: str, part: str) -> int:
    """How often ``part``, not empty, stands in ``source``.

    Searching again after each find would be quadratic for a periodic text ("aaaa…"). But when two neighbouring
    finds lie no more than half of ``part`` apart, their distance is the smallest period of ``part``, and every
    further find in this run follows at that distance for as long as the source goes on repeating.
    """
    count, length = 0, len(part)
    if length <= _SHORT_CHARS and not any(part.startswith(part[i:]) for i in range(1, length)):
        return source.count(part)  # it cannot overlap itself
    last = -1
    found = source.find(part)
    while found >= 0:
        count += 1
        period = found - last
        if last >= 0 and period <= length // 2:
            run_end = found + length + _repeating(source, found + length, period)
            further = (run_end - found - length) // period
            count += further
            found += further * period
        last = found
        found = source.find(part, found + 1)
    return count


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
