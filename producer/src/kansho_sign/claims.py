"""Claims and citations from derived documents (docs/spec/bundle.md, Public section)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject
from kansho_sign.derivation import DerivedDocument, DerivedEntry
from kansho_sign.evidence.matching import occurrences
from kansho_sign.identity import claim_id
from kansho_sign.text import sha256_text

__all__ = ["Cited", "cite", "claim"]


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation, the document under it, and the indexes of the entries that the audit section must disclose for it."""

    citation: JsonObject
    document: DerivedDocument
    text: str
    disclosed: tuple[int, ...]


def _overlapping(entries: Sequence[DerivedEntry], start: int, end: int) -> list[DerivedEntry]:
    return [entry for entry in entries if entry.start < end and entry.end > start]


def _neighbours(document: DerivedDocument, listed: Sequence[DerivedEntry], start: int, end: int) -> list[int]:
    """Entries that are disclosed to show that ``listed`` is all that the span crosses."""
    count = len(document.entries)
    if listed:
        first, last = listed[0], listed[-1]
        before = [first.index - 1] if first.index > 0 and start < first.start else []
        after = [last.index + 1] if last.index + 1 < count and end > last.end else []
        return before + after
    if (start, end) == (0, len(document.text)):
        return [0] if count == 1 else []
    ended = sum(entry.end <= start for entry in document.entries)
    return [index for index in (ended - 1, ended) if 0 <= index < count]


def cite(document: DerivedDocument, start: int, end: int) -> Cited:
    """Cites ``[start, end)``, in code points, not empty, of a document's canonical text."""
    text = document.text[start:end]
    over = _overlapping(document.entries, start, end)
    whole = (start, end) == (0, len(document.text))
    if len(over) == 1 and over[0].start <= start and end <= over[0].end:
        anchor, listed = "entry", over
    elif whole or not over:
        anchor, listed = "document", []
    else:
        anchor, listed = "entries", over
    around = [(element.start, element.end) for entry in listed for element in entry.elements] or [
        (0, len(document.text))
    ]
    surrounding = min([start, *(span[0] for span in around)]), max([end, *(span[1] for span in around)])
    needed = {entry.index for entry in listed}
    if anchor != "entry":
        needed.update(_neighbours(document, listed, start, end))
    source = document.source
    citation: JsonObject = {
        "document": source.document,
        "source_uri": source.source_uri,
        "source_version": source.source_version,
        "media_type": source.media_type,
        "role": source.role,
        "raw_sha256": source.raw_sha256,
        "raw_size": source.raw_size,
        "canonical_revision": document.canonical_revision,
        "parse_revision": document.parse_revision,
        "coordinate_space": document.coordinate_space,
        "char_start": start,
        "char_end": end,
        "span_sha256": sha256_text(text),
        "occurrences": sum(1 for _ in occurrences(document.text, text)),
        "anchor": anchor,
        "entries": [
            {"elements": [e.element for e in entry.elements], "chunk": entry.chunk, "entry": entry.entry}
            for entry in listed
        ],
        "surrounding_start": surrounding[0],
        "surrounding_end": surrounding[1],
        "partial": surrounding != (start, end),
        "evidence_level": "raw_exact",
    }
    return Cited(citation, document, text, tuple(sorted(needed)))


def claim(cited: Cited) -> JsonObject:
    """A claim of one citation: its text is exactly the cited slice."""
    made = claim_id(str(cited.citation["span_sha256"]), [cited.citation])
    return {"claim": made, "text": cited.text, "citations": [cited.citation]}
