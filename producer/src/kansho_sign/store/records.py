"""What the store hands out."""

from dataclasses import dataclass

from kansho_sign.derivation import SourceRevision

__all__ = ["DocumentRow", "PublishedDocument", "PublishedEntry"]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """The newest accepted state of a document; ``revision`` is None where only a tombstone is known."""

    tenant: str
    document: str
    connector: str
    deleted: bool
    sequence: int
    tombstone_sequence: int | None
    origin: str | None
    private_locator: str | None
    revision: SourceRevision | None


@dataclass(frozen=True, slots=True)
class PublishedDocument:
    """A document of the published generation."""

    revision: SourceRevision
    document_key: str
    record_sha256: str


@dataclass(frozen=True, slots=True)
class PublishedEntry:
    """An entry of the published generation, as retrieval sees it."""

    document: str
    position: int
    entry: str
    retrieval_text: str
