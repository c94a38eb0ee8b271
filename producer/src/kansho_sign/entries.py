"""``heading-path-v1``: retrieval texts of chunks (docs/spec/parsing.md, Entries)."""

from collections.abc import Sequence

from kansho_sign.chunking import Chunk
from kansho_sign.parsing.elements import Element

__all__ = ["INDEX", "retrieval_texts"]

INDEX = "heading-path-v1"


def retrieval_texts(text: str, elements: Sequence[Element], chunks: Sequence[Chunk]) -> list[str]:
    """One retrieval text for each chunk: the headings above it, outermost first, and its own text, joined by LF."""
    paths: list[list[str]] = []
    above: list[tuple[int, str]] = []
    for element in elements:
        if element.level:
            above = [heading for heading in above if heading[0] < element.level]
        paths.append([heading for _, heading in above])
        if element.level:
            above.append((element.level, text[element.start : element.end]))
    return ["\n".join([*paths[chunk.elements[0]], text[chunk.start : chunk.end]]) for chunk in chunks]
