"""What a parser makes."""

from dataclasses import dataclass

__all__ = ["Element"]


@dataclass(frozen=True, slots=True)
class Element:
    """One leaf block: the exact slice ``[start, end)`` of the canonical text, in code points.

    ``level`` is a heading's, 1 to 6, and 0 for everything else.
    """

    kind: str
    start: int
    end: int
    level: int = 0
