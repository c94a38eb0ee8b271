"""What one subject may see of the published generation."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from kansho_sign.canonical_json import JsonObject
from kansho_sign.derivation import DerivedDocument, derive
from kansho_sign.document_map import DocumentMap
from kansho_sign.errors import StateError
from kansho_sign.evidence import Registry, Source
from kansho_sign.pipeline.publish import export
from kansho_sign.retrieval import Index, build_index
from kansho_sign.store import Connection, PublishedDocument, PublishedEntry
from kansho_sign.text import canonical_text, decode
from kansho_sign.tokens import tokenise
from kansho_sign.workspace import Workspace

__all__ = ["PublishedView", "View", "open_view"]


class View(Protocol):
    """The documents that a request may cite, in one generation; derived when they are needed."""

    @property
    def generation(self) -> JsonObject:
        """The signed generation statement."""

    @property
    def tenant(self) -> str:
        """The tenant whose documents these are."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The reader's groups, ascending."""

    @property
    def registry(self) -> Registry:
        """The documents as evidence sees them."""

    @property
    def document_count(self) -> int:
        """How many documents are visible."""

    @property
    def entry_count(self) -> int:
        """How many entries the visible documents have."""

    def raw(self, sha256: str) -> bytes:
        """Raw bytes of a source."""

    def derived(self, document: str) -> DerivedDocument:
        """A visible document, derived from its raw bytes."""

    def siblings(self, document: str) -> list[str]:
        """A visible document's membership proof."""


class PublishedView:
    """The view of the published generation, at one moment."""

    def __init__(self, workspace: Workspace, c: Connection, tenant: str, groups: Sequence[str]) -> None:
        store = workspace.store
        statement = store.published_statement(c)
        if statement is None:
            raise StateError("publish.missing", "nothing is published yet", hint="kansho-sign publish")
        self._workspace, self._c = workspace, c
        self.generation = statement
        self.tenant, self.groups = tenant, tuple(sorted(set(groups)))
        self.documents: Mapping[str, PublishedDocument] = {
            one.revision.document: one for one in store.visible_documents(c, tenant, self.groups)
        }
        self.registry: Registry = _PublishedRegistry(self)
        self._entries: Mapping[str, PublishedEntry] | None = None
        self._index: Index | None = None
        self._map = DocumentMap({d.document_key: d.record_sha256 for d in store.published_documents(c)})
        self._derived: dict[str, DerivedDocument] = {}

    @property
    def document_count(self) -> int:
        """How many documents are visible."""
        return len(self.documents)

    @property
    def entry_count(self) -> int:
        """How many entries the visible documents have."""
        return self._workspace.store.count_visible_entries(self._c, self.tenant, self.groups)

    @property
    def entries(self) -> Mapping[str, PublishedEntry]:
        """The visible entries by id, loaded when a question comes."""
        if self._entries is None:
            rows = self._workspace.store.visible_entries(self._c, self.tenant, self.groups)
            self._entries = {entry.entry: entry for entry in rows}
        return self._entries

    @property
    def index(self) -> Index:
        """The statistics of the visible entries, made when the first question comes."""
        if self._index is None:
            self._index = build_index((entry.entry, tokenise(entry.retrieval_text)) for entry in self.entries.values())
        return self._index

    def raw(self, sha256: str) -> bytes:
        """Raw bytes of a source."""
        return self._workspace.store.blob(self._c, sha256)

    def derived(self, document: str) -> DerivedDocument:
        """A visible document, derived from its raw bytes."""
        if document not in self._derived:
            revision = self.documents[document].revision
            self._derived[document] = derive(
                self._workspace.configuration.corpus, revision, self.raw(revision.raw_sha256)
            )
        return self._derived[document]

    def siblings(self, document: str) -> list[str]:
        """A document's membership proof."""
        return self._map.membership(self.documents[document].document_key)


class _PublishedRegistry(Mapping[str, Source]):
    """The visible documents as evidence sees them. A text is read when it is looked at; the last one is kept."""

    def __init__(self, view: PublishedView) -> None:
        self._view = view
        self._last: Source | None = None

    def __getitem__(self, source_id: str) -> Source:
        if self._last is None or self._last.source_id != source_id:
            revision = self._view.documents[source_id].revision
            text = canonical_text(decode(self._view.raw(revision.raw_sha256)))
            self._last = Source(source_id, revision.role, text)
        return self._last

    def __contains__(self, source_id: object) -> bool:
        return source_id in self._view.documents

    def __iter__(self) -> Iterator[str]:
        return iter(self._view.documents)

    def __len__(self) -> int:
        return len(self._view.documents)


@contextmanager
def open_view(workspace: Workspace, tenant: str, groups: Sequence[str]) -> Iterator[PublishedView]:
    """The subject's view, consistent for as long as it is open. Raises StateError ``publish.missing``.

    What consumers read is brought up to date first, should a command have been killed before it wrote that.
    """
    export(workspace)
    with workspace.store.read() as connection:
        yield PublishedView(workspace, connection, tenant, groups)
