"""``block-chunks-v1``: one chunk for each element but headings, long ones cut (docs/spec/parsing.md, Chunks)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kansho_sign.characters import cuts_character
from kansho_sign.parsing.elements import Element

__all__ = ["CHUNKER", "Chunk", "chunks"]

CHUNKER = "block-chunks-v1"
LONGEST = 4_000
SHORTEST = 1_000
SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？", "।")  # noqa: RUF001 - full-width marks are meant
WHITE_SPACE = " \t\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous span of the canonical text, in code points, and the positions of the elements it lies over."""

    start: int
    end: int
    elements: tuple[int, ...]


def _cut(text: str, start: int) -> int:
    """Where a piece that begins at ``start``, with more than LONGEST code points to go, ends."""
    low, high = start + SHORTEST, start + LONGEST
    line = text.rfind("\n", low, high)
    if line >= 0:
        return line + 1
    sentences = [found + len(end) for end in SENTENCE_ENDS if (found := text.rfind(end, low, high)) >= 0]
    if sentences:
        return max(sentences)
    space = text.rfind(" ", low, high)
    if space >= 0:
        return space + 1
    cut = high
    while cut > start and cuts_character(text[cut - 1], text[cut]):
        cut -= 1
    return cut if cut > start else high


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        cut = _cut(text, start)
        yield start, cut
        start = cut
    yield start, end


def chunks(text: str, elements: Sequence[Element]) -> list[Chunk]:
    """Chunks ascending by place, never overlapping, none of white space alone."""
    made: list[Chunk] = []
    for position, element in enumerate(elements):
        if element.kind == "heading":
            continue
        for start, end in _pieces(text, element.start, element.end):
            piece = text[start:end]
            left = len(piece) - len(piece.lstrip(WHITE_SPACE))
            right = len(piece.rstrip(WHITE_SPACE))
            if left < right:
                made.append(Chunk(start + left, start + right, (position,)))
    return made
