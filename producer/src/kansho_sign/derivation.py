"""One document from raw bytes to index entries: revision, elements, chunks, entries, record.

Every value here is derived; nothing is taken from a store or a caller but the raw bytes and the facts of the event
(docs/spec/identities.md, docs/spec/parsing.md).
"""

import hashlib
from dataclasses import dataclass

from kansho_sign import identity
from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.chunking import CHUNKER, chunks
from kansho_sign.document_map import EntryTree
from kansho_sign.entries import INDEX, retrieval_texts
from kansho_sign.errors import InputError
from kansho_sign.parsing import PARSERS, parser_for
from kansho_sign.retrieval import RETRIEVAL
from kansho_sign.text import NORMALISER, UNICODE_VERSION, canonical_text, decode, sha256_text

__all__ = ["DerivedDocument", "DerivedElement", "DerivedEntry", "SourceRevision", "derive", "pipeline"]


def pipeline() -> JsonObject:
    """The pipeline of a generation, in full: everything that can change what is derived."""
    return {
        "normaliser": NORMALISER,
        "unicode_version": UNICODE_VERSION,
        "parsers": [PARSERS[media_type].pipeline_entry(media_type) for media_type in sorted(PARSERS)],
        "chunker": CHUNKER,
        "index": INDEX,
        "retrieval": RETRIEVAL,
    }


@dataclass(frozen=True, slots=True)
class SourceRevision:
    """What the store knows of one version of a document; ``groups`` ascending, ``salt`` 32 hexadecimal digits."""

    tenant: str
    document: str
    source_uri: str
    source_version: str
    role: str
    media_type: str
    raw_sha256: str
    raw_size: int
    groups: tuple[str, ...]
    salt: str
    event_sequence: int


@dataclass(frozen=True, slots=True)
class DerivedElement:
    """An element with its id; offsets in code points of the canonical text."""

    element: str
    kind: str
    start: int
    end: int
    text_sha256: str


@dataclass(frozen=True, slots=True)
class DerivedEntry:
    """An index entry and the chunk under it."""

    entry: str
    chunk: str
    index: int
    start: int
    end: int
    elements: tuple[DerivedElement, ...]
    content_sha256: str
    retrieval_text: str
    retrieval_text_sha256: str

    def record(self) -> JsonObject:
        """The entry record, whose canonical JSON is a leaf of the entry tree."""
        return {
            "kind": "entry_record",
            "scheme": identity.SCHEME,
            "entry": self.entry,
            "chunk": self.chunk,
            "elements": [element.element for element in self.elements],
            "char_start": self.start,
            "char_end": self.end,
            "content_sha256": self.content_sha256,
            "retrieval_text_sha256": self.retrieval_text_sha256,
        }


@dataclass(frozen=True, slots=True)
class DerivedDocument:
    """Everything that follows from one source revision, entries ascending by place."""

    source: SourceRevision
    text: str
    canonical_sha256: str
    acl: str
    canonical_revision: str
    parse_revision: str
    coordinate_space: str
    elements: tuple[DerivedElement, ...]
    entries: tuple[DerivedEntry, ...]

    def entry_tree(self) -> EntryTree:
        """The Merkle tree over the entry records."""
        return EntryTree([dumps(entry.record()) for entry in self.entries])


def derive(corpus: str, source: SourceRevision, raw: bytes) -> DerivedDocument:
    """Derives a document from its raw bytes.

    Raises InputError (``text.*``, ``source.media_type``) for a source that has no canonical text or no parser, and
    ``source.raw_mismatch`` when the bytes are not those that the revision names.
    """
    if hashlib.sha256(raw).hexdigest() != source.raw_sha256 or len(raw) != source.raw_size:
        raise InputError("source.raw_mismatch", "the raw bytes are not those of this revision", source.document)
    parser = parser_for(source.media_type)
    text = canonical_text(decode(raw))
    canonical_sha256 = sha256_text(text)
    acl = identity.acl_hash(source.groups, source.salt)
    canonical_revision = identity.canonical_revision_id(
        corpus=corpus,
        tenant=source.tenant,
        document=source.document,
        source_uri=source.source_uri,
        source_version=source.source_version,
        role=source.role,
        media_type=source.media_type,
        raw_sha256=source.raw_sha256,
        raw_size=source.raw_size,
        canonical_sha256=canonical_sha256,
        projection=None,
        normaliser=NORMALISER,
        acl=acl,
    )
    parse_revision = identity.parse_revision_id(
        canonical_revision=canonical_revision,
        parser=parser.revision,
        configuration_sha256=parser.configuration_sha256,
    )
    parsed = parser.parse(text)
    elements = []
    for element in parsed:
        text_sha256 = sha256_text(text[element.start : element.end])
        made = identity.element_id(
            parse_revision=parse_revision,
            element_kind=element.kind,
            coordinate_space=NORMALISER,
            char_start=element.start,
            char_end=element.end,
            text_sha256=text_sha256,
        )
        elements.append(DerivedElement(made, element.kind, element.start, element.end, text_sha256))
    entries = []
    cut = chunks(text, parsed)
    for index, (chunk, retrieval_text) in enumerate(zip(cut, retrieval_texts(text, parsed, cut), strict=True)):
        over = tuple(elements[position] for position in chunk.elements)
        content_sha256 = sha256_text(text[chunk.start : chunk.end])
        retrieval_text_sha256 = sha256_text(retrieval_text)
        chunk_id = identity.chunk_id(
            canonical_revision=canonical_revision,
            parse_revision=parse_revision,
            chunker=CHUNKER,
            elements=[element.element for element in over],
            char_start=chunk.start,
            char_end=chunk.end,
            content_sha256=content_sha256,
            acl=acl,
        )
        entry = identity.entry_id(chunk=chunk_id, retrieval_text_sha256=retrieval_text_sha256, index=INDEX, acl=acl)
        entries.append(
            DerivedEntry(
                entry,
                chunk_id,
                index,
                chunk.start,
                chunk.end,
                over,
                content_sha256,
                retrieval_text,
                retrieval_text_sha256,
            )
        )
    return DerivedDocument(
        source,
        text,
        canonical_sha256,
        acl,
        canonical_revision,
        parse_revision,
        NORMALISER,
        tuple(elements),
        tuple(entries),
    )
