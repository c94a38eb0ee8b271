"""Quotations with their sources in an ordinary Markdown answer (docs/spec/adapters/quotes.md).

Nothing here is believed: what is found becomes untrusted evidence, and :mod:`kansho_sign.evidence` finds out whether it
stands. A quotation that names no source is reported, never passed over.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from markdown_it.common.utils import normalizeReference

from kansho_sign.adapters.quotes.blocks import parse_blocks
from kansho_sign.adapters.quotes.finding import Citation, Finding, Note, Unreferenced, find
from kansho_sign.adapters.quotes.references import References, Target
from kansho_sign.adapters.reading import Reader, Reading, SourcesMap
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.text import canonical_text

__all__ = ["Quotes", "Unreferenced", "find_quotes"]

# What an item of evidence has in JSON beside its strings, and a number in an annotation, at the least.
ITEM_CHARACTERS = len('{"excerpt":"","source_id":""},')
NUMBER_CHARACTERS = len("0,")


@dataclass(frozen=True, slots=True)
class Quotes:
    """``reading`` is the evidence with its lines and the answer's prose; ``unreferenced`` is what is not in it."""

    reading: Reading
    unreferenced: tuple[Unreferenced, ...]


def find_quotes(markdown: str, sources: SourcesMap | None) -> Quotes:
    """The quotations of a Markdown text in their order; without ``sources`` a path is the id of its source.

    Places are lines of the text, ``line 12`` or ``lines 12-14``. Raises InputError ``text.*`` where the text has no
    canonical form, ``limits.bytes`` where it or its nested block quotes are too large, ``quotes.nesting`` where blocks
    are nested too deep, ``quotes.answer_size`` where its evidence would be larger than an answer may be,
    ``adapter.map_conflict``, ``limits.items`` where it is more than an answer may hold.
    """
    if len(markdown) > LIMITS.answer_bytes:
        raise InputError("limits.bytes", f"is larger than {LIMITS.answer_bytes} bytes")
    document = parse_blocks(canonical_text(markdown))
    references = References(document.references, sources)
    finding = find(document, references)
    return Quotes(_reading(finding, references), tuple(finding.unreferenced))


class _Size:
    """Counts what the answer will take at the least: few signs can make very much evidence."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = LIMITS.answer_bytes

    def add(self, characters: int, place: str) -> None:
        """Raises InputError ``quotes.answer_size``."""
        self._left -= characters
        if self._left < 0:
            why = f"with its evidence it makes an answer of more than {LIMITS.answer_bytes} bytes"
            raise InputError("quotes.answer_size", why, place, "split it")


def _reading(finding: Finding, references: References) -> Reading:
    size = _Size()
    named = [[list(_named(one, finding.footnotes, size)) for one in note.citations] for note in finding.notes]
    reader = Reader(references.sources(target for note in named for one in note for target in one))
    own: list[list[int]] = []
    of_footnotes: dict[str, list[int]] = {}
    for note, targets in zip(finding.notes, named, strict=True):
        numbers = [
            reader.cite(references.of(target), citation.excerpt, citation.place)
            for citation, each in zip(note.citations, targets, strict=True)
            for target in each
        ]
        own.append(numbers)
        if note.label is not None:
            of_footnotes.setdefault(note.label, []).extend(numbers)
    for note, numbers in zip(finding.notes, own, strict=True):
        size.add(NUMBER_CHARACTERS * len(numbers), note.place)
        reader.annotate(note.source, [*numbers, *_carried(note, of_footnotes, size)])
    return reader.reading()


def _named(citation: Citation, footnotes: Mapping[str, tuple[Target, ...]], size: _Size) -> Iterator[Target]:
    """What a citation names, each once: of a footnote what stands in it, or itself where it is not defined."""
    seen: set[Target] = set()
    for target in citation.targets:
        meant: Iterable[Target] = (
            footnotes.get(normalizeReference(target.value), ()) if target.kind == "footnote" else (target,)
        )
        for one in meant or (target,):
            if one not in seen:
                seen.add(one)
                size.add(ITEM_CHARACTERS + len(citation.excerpt), citation.place)
                yield one


def _carried(note: Note, of_footnotes: Mapping[str, list[int]], size: _Size) -> Iterator[int]:
    """The evidence that stands in the footnotes to which a part of the prose points."""
    for label in note.footnotes:
        numbers = of_footnotes.get(normalizeReference(label), [])
        size.add(NUMBER_CHARACTERS * len(numbers), note.place)
        yield from numbers
