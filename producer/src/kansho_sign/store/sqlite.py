"""The SQLite store. SQL lives here and nowhere else.

Readers see one consistent state; a writer holds the only write lock from its first statement to its commit.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from kansho_sign.canonical_json import JsonObject
from kansho_sign.derivation import SourceRevision
from kansho_sign.errors import FaultError
from kansho_sign.store.records import DocumentRow, PublishedDocument, PublishedEntry
from kansho_sign.store.tables import (
    SCHEMA_VERSION,
    blob,
    document,
    event,
    generation,
    live,
    metadata,
    published_document,
    published_entry,
    published_group,
    setting,
)

__all__ = ["Connection", "Store"]

Connection = sa.Connection


def _revision(value: JsonObject | None) -> SourceRevision | None:
    return None if value is None else SourceRevision(**{**value, "groups": tuple(value["groups"])})


def _document_row(row: Any) -> DocumentRow:
    return DocumentRow(
        row.tenant,
        row.document,
        row.connector,
        row.deleted,
        row.sequence,
        row.tombstone_sequence,
        row.origin,
        row.private_locator,
        _revision(row.revision),
    )


def _published(row: Any) -> PublishedDocument:
    revision = _revision(row.revision)
    if revision is None:
        raise FaultError("store.damaged", "a published document without revision", row.document)
    return PublishedDocument(revision, row.document_key, row.record_sha256)


class Store:
    """One store. Every method takes the connection of ``read()`` or ``write()``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(path)),  # a path may hold what means something in a URL
            json_serializer=lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True),
            connect_args={"timeout": 30.0},
        )

        @sa.event.listens_for(self._engine, "connect")
        def _connect(connection: Any, _record: Any) -> None:
            # sqlite3 must not open transactions by itself; "begin" below does.
            connection.isolation_level = None
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")

        @sa.event.listens_for(self._engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            mode = connection.get_execution_options().get("kansho_begin", "DEFERRED")
            connection.exec_driver_sql(f"BEGIN {mode}")

    def create(self, settings: dict[str, str]) -> None:
        """Makes the tables and the first settings."""
        with self.write() as connection:
            metadata.create_all(connection)
            rows = [{"name": k, "value": v} for k, v in {**settings, "schema_version": SCHEMA_VERSION}.items()]
            connection.execute(sa.insert(setting), rows)

    def close(self) -> None:
        """Gives back every connection."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[Connection]:
        try:
            with (
                self._engine.connect().execution_options(kansho_begin=mode) as connection,
                connection.begin(),
            ):
                yield connection
        except sa.exc.DatabaseError as error:
            raise FaultError(
                "store.failed",
                f"the store failed: {error.orig}",
                str(self._path),
                "nothing was changed; its folder must be writable, also for ask and attest",
            ) from error

    def read(self) -> Any:
        """A context with a consistent view."""
        return self._transaction("DEFERRED")

    def write(self) -> Any:
        """A context that commits at its end, or changes nothing."""
        return self._transaction("IMMEDIATE")

    # Settings and content

    def setting(self, c: Connection, name: str) -> str:
        """The value of a setting; FaultError ``store.damaged`` when it is missing."""
        value = c.scalar(sa.select(setting.c.value).where(setting.c.name == name))
        if value is None:
            raise FaultError("store.damaged", f"the setting {name} is missing", str(self._path))
        return str(value)

    def put_blob(self, c: Connection, sha256: str, content: bytes) -> None:
        """Stores raw bytes once."""
        if c.scalar(sa.select(blob.c.sha256).where(blob.c.sha256 == sha256)) is None:
            c.execute(sa.insert(blob).values(sha256=sha256, content=content))

    def blob(self, c: Connection, sha256: str) -> bytes:
        """Raw bytes by hash; FaultError ``store.damaged`` when they are missing."""
        content = c.scalar(sa.select(blob.c.content).where(blob.c.sha256 == sha256))
        if content is None:
            raise FaultError("store.damaged", f"the raw bytes {sha256} are missing", str(self._path))
        return bytes(content)

    # Events and documents

    def event_fingerprint(self, c: Connection, event_id: str) -> str | None:
        """The fingerprint that an event id is bound to."""
        found = c.scalar(sa.select(event.c.fingerprint).where(event.c.event_id == event_id))
        return None if found is None else str(found)

    def bind_event(self, c: Connection, event_id: str, fingerprint: str) -> None:
        """Binds an event id for ever."""
        c.execute(sa.insert(event).values(event_id=event_id, fingerprint=fingerprint))

    def document(self, c: Connection, tenant: str, name: str) -> DocumentRow | None:
        """One document's newest state."""
        wanted = sa.select(document).where(document.c.tenant == tenant, document.c.document == name)
        row = c.execute(wanted).one_or_none()
        return None if row is None else _document_row(row)

    def documents(self, c: Connection) -> list[DocumentRow]:
        """Every known document, by tenant and id."""
        return [
            _document_row(row)
            for row in c.execute(sa.select(document).order_by(document.c.tenant, document.c.document))
        ]

    def folded_name(self, c: Connection, tenant: str, folded: str) -> str | None:
        """The document whose folded id this is."""
        found = c.scalar(sa.select(document.c.document).where(document.c.tenant == tenant, document.c.folded == folded))
        return None if found is None else str(found)

    def put_document(self, c: Connection, row: DocumentRow, folded: str) -> None:
        """Inserts or replaces a document's state."""
        values = asdict(row)
        c.execute(sa.delete(document).where(document.c.tenant == row.tenant, document.c.document == row.document))
        c.execute(sa.insert(document).values(**values, folded=folded))

    # Publications

    def published_statement(self, c: Connection) -> JsonObject | None:
        """The signed statement of the published generation."""
        found: JsonObject | None = c.scalar(sa.select(generation.c.statement).where(generation.c.state == "published"))
        return found

    def live_statement(self, c: Connection) -> JsonObject | None:
        """The newest signed live state."""
        found: JsonObject | None = c.scalar(sa.select(live.c.statement).order_by(live.c.sequence.desc()).limit(1))
        return found

    def put_live(self, c: Connection, statement: JsonObject) -> None:
        """Adds a live state."""
        c.execute(sa.insert(live).values(sequence=statement["payload"]["sequence"], statement=statement))

    def put_generation(self, c: Connection, statement: JsonObject, statement_sha256: str) -> None:
        """Publishes a generation; its predecessor becomes superseded."""
        c.execute(sa.update(generation).where(generation.c.state == "published").values(state="superseded"))
        values = {"sequence": statement["payload"]["sequence"], "statement_sha256": statement_sha256}
        c.execute(sa.insert(generation).values(**values, state="published", statement=statement))

    def replace_published(
        self,
        c: Connection,
        documents: Sequence[PublishedDocument],
        entries: Sequence[tuple[str, PublishedEntry]],
    ) -> None:
        """Replaces the published content; ``entries`` come with their tenant."""
        c.execute(sa.delete(published_document))
        if documents:
            c.execute(
                sa.insert(published_document),
                [
                    {
                        "tenant": d.revision.tenant,
                        "document": d.revision.document,
                        "document_key": d.document_key,
                        "record_sha256": d.record_sha256,
                        "revision": asdict(d.revision),
                    }
                    for d in documents
                ],
            )
            c.execute(
                sa.insert(published_group),
                [
                    {"tenant": d.revision.tenant, "group": group, "document": d.revision.document}
                    for d in documents
                    for group in d.revision.groups
                ],
            )
        if entries:
            c.execute(sa.insert(published_entry), [{"tenant": tenant, **asdict(entry)} for tenant, entry in entries])

    def published_documents(self, c: Connection) -> list[PublishedDocument]:
        """Every document of the published generation."""
        ordered = sa.select(published_document).order_by(published_document.c.document_key)
        return [_published(row) for row in c.execute(ordered)]

    def count_published_entries(self, c: Connection) -> int:
        """How many entries the published generation has."""
        return int(c.scalar(sa.select(sa.func.count()).select_from(published_entry)) or 0)

    def _visible(self, tenant: str, groups: Sequence[str]) -> Any:
        """Condition on ``published_document``: an allowed group, not deleted, ACL as published."""
        allowed = sa.exists().where(
            published_group.c.tenant == published_document.c.tenant,
            published_group.c.document == published_document.c.document,
            published_group.c.group.in_(groups),
        )
        unchanged = sa.exists().where(
            document.c.tenant == published_document.c.tenant,
            document.c.document == published_document.c.document,
            document.c.deleted.is_(False),
            document.c.revision["salt"].as_string() == published_document.c.revision["salt"].as_string(),
        )
        return sa.and_(published_document.c.tenant == tenant, allowed, unchanged)

    def visible_documents(self, c: Connection, tenant: str, groups: Sequence[str]) -> list[PublishedDocument]:
        """What a subject may see of the published generation, now."""
        wanted = (
            sa.select(published_document).where(self._visible(tenant, groups)).order_by(published_document.c.document)
        )
        return [_published(row) for row in c.execute(wanted)]

    def _entries(self, wanted: Any, tenant: str, groups: Sequence[str]) -> Any:
        same = sa.and_(
            published_document.c.tenant == published_entry.c.tenant,
            published_document.c.document == published_entry.c.document,
        )
        return wanted.join(published_document, same).where(self._visible(tenant, groups))

    def visible_entries(self, c: Connection, tenant: str, groups: Sequence[str]) -> list[PublishedEntry]:
        """The entries of the visible documents."""
        wanted = self._entries(sa.select(published_entry), tenant, groups)
        ordered = wanted.order_by(published_entry.c.document, published_entry.c.position)
        return [PublishedEntry(r.document, r.position, r.entry, r.retrieval_text) for r in c.execute(ordered)]

    def count_visible_entries(self, c: Connection, tenant: str, groups: Sequence[str]) -> int:
        """How many entries the visible documents have."""
        wanted = self._entries(sa.select(sa.func.count()).select_from(published_entry), tenant, groups)
        return int(c.scalar(wanted) or 0)
