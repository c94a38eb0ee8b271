"""A part of a text without entities, markup, case and form, that still knows where everything stood."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from kansho_sign.evidence.markup import Edit, Worded
from kansho_sign.evidence.shapes import LEVEL, SKELETON

__all__ = ["Reading"]

BLOCK: Final = 256  # code points whose skeleton is made at once; finding a place inside takes as many steps


class Reading:
    """What ``text[lo:hi]`` says to a reader.

    ``content`` is the part with its entities decoded and its markup left out, ``level`` the same, code point for code
    point, without case and kinds of marks, and ``skeleton`` its letters and numbers alone. ``inline`` as in
    :func:`markup_edits`.
    """

    __slots__ = (
        *("content", "hi", "level", "lo", "skeleton", "text"),
        *("_edits", "_origins", "_skeleton_starts", "_starts", "_worded"),
    )

    def __init__(self, text: str, lo: int = 0, hi: int | None = None, *, inline: bool = False) -> None:
        self.text, self.lo, self.hi = text, lo, len(text) if hi is None else hi
        part = text[lo : self.hi]
        self._worded = Worded.read(part, inline=inline)
        self._edits = self._worded.edits()
        self._starts: list[int] = []
        self._origins: list[tuple[int, int]] = []
        pieces: list[str] = []
        size = 0
        for start, end, piece in self._pieces(part):
            self._starts.append(size)
            self._origins.append((lo + start, lo + end))
            pieces.append(piece)
            size += len(piece)
        self.content = "".join(pieces)
        self.level = self.content.translate(LEVEL)
        self._skeleton_starts: list[int] = []
        blocks: list[str] = []
        size = 0
        for start in range(0, len(self.content), BLOCK):
            self._skeleton_starts.append(size)
            blocks.append(self.content[start : start + BLOCK].translate(SKELETON))
            size += len(blocks[-1])
        self.skeleton = "".join(blocks)

    def _pieces(self, part: str) -> Iterator[tuple[int, int, str]]:
        place = 0
        for edit in self._edits:
            if edit.start > place:
                yield place, edit.start, part[place : edit.start]
            if edit.replacement:
                yield edit.start, edit.end, edit.replacement
            place = edit.end
        if place < len(part):
            yield place, len(part), part[place:]

    def origin(self, index: int) -> tuple[int, int]:
        """Where in the whole text the code point ``content[index]`` comes from."""
        number = bisect_right(self._starts, index) - 1
        start, end = self._origins[number]
        following = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.content)
        if following - self._starts[number] != end - start or self._is_replaced(start):
            return start, end
        place = start + index - self._starts[number]
        return place, place + 1

    def _is_replaced(self, start: int) -> bool:
        number = bisect_right(self._edits, start - self.lo, key=lambda edit: edit.start) - 1
        return number >= 0 and self._edits[number].start == start - self.lo

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where in the whole text ``content[start:end]``, not empty, comes from."""
        return self.origin(start)[0], self.origin(end - 1)[1]

    def index(self, offset: int) -> int:
        """Which code point of ``content`` gave ``skeleton[offset]``."""
        number = bisect_right(self._skeleton_starts, offset) - 1
        passed, index = self._skeleton_starts[number], number * BLOCK
        for c in self.content[index : index + BLOCK]:
            passed += len(SKELETON[ord(c)] or "")
            if passed > offset:
                return index
            index += 1
        raise IndexError(offset)

    def edits(self, start: int, end: int) -> list[Edit]:
        """Entities and markup that lie in ``text[start:end]``, at their places in the whole text."""
        return [edit.moved(self.lo) for edit in _inside(self._edits, start - self.lo, end - self.lo)]

    def worded(self, start: int, end: int) -> Worded:
        """``text[start:end]``, with what is an entity or markup there."""
        inside = start - self.lo, end - self.lo
        entities, markup = (
            tuple(edit.moved(self.lo - start) for edit in _inside(edits, *inside))
            for edits in (self._worded.entities, self._worded.markup)
        )
        return Worded(self.text[start:end], entities, markup)

    def words(self) -> tuple[int, int]:
        """Where in ``content`` the first word or number begins and the last one ends; (0, 0) where there is none."""
        if not self.skeleton:
            return 0, 0
        return self.index(0), self.index(len(self.skeleton) - 1) + 1


def _inside(edits: Sequence[Edit], start: int, end: int) -> Sequence[Edit]:
    """Those of ``edits``, ascending and apart, that lie in ``[start, end)``."""
    first = bisect_left(edits, start, key=lambda edit: edit.start)
    return edits[first : bisect_right(edits, end, key=lambda edit: edit.end)]
