"""From accepted documents to a published generation and the live state (docs/spec/lifecycle.md, Publication)."""

from collections.abc import Callable
from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.cose import sign_statement, statement_sha256
from kansho_sign.derivation import derive
from kansho_sign.errors import StateError
from kansho_sign.generation import generation_payload, live_payload, map_entry, tombstone
from kansho_sign.output import write_whole
from kansho_sign.schema import validate
from kansho_sign.selfcheck import check_generation
from kansho_sign.store import Connection, DocumentRow, PublishedDocument, PublishedEntry
from kansho_sign.workspace import DAY, Workspace

__all__ = ["Published", "export", "publish", "renew_live"]


@dataclass(frozen=True, slots=True)
class Published:
    """What a publication did. ``renewed``: nothing had changed, the generation stayed."""

    sequence: int
    generation: str
    documents: int
    entries: int
    renewed: bool


def _tombstones(rows: list[DocumentRow], salt: bytes) -> list[JsonObject]:
    return [
        tombstone(salt, row.tenant, row.document, row.tombstone_sequence)
        for row in rows
        if row.tombstone_sequence is not None
    ]


def _blocked(rows: list[DocumentRow], published: list[PublishedDocument]) -> list[str]:
    """Keys of documents whose ACL is no longer the published one."""
    salts = {(row.tenant, row.document): row.revision.salt for row in rows if row.revision}
    return [
        one.document_key
        for one in published
        if salts.get((one.revision.tenant, one.revision.document), one.revision.salt) != one.revision.salt
    ]


def renew_live(workspace: Workspace, c: Connection, now: int) -> JsonObject | None:
    """Signs and stores a new live state for what the store holds in this transaction; None before a publication."""
    store, configuration = workspace.store, workspace.configuration
    statement = store.published_statement(c)
    if statement is None:
        return None
    rows = store.documents(c)
    salt = bytes.fromhex(store.setting(c, "map_salt"))
    previous = store.live_statement(c)
    payload = live_payload(
        generation=statement["payload"],
        tombstones=_tombstones(rows, salt),
        blocked=_blocked(rows, store.published_documents(c)),
        authorization_revision=store.setting(c, "authorization_revision"),
        trust_root_version=int(store.setting(c, "minimum_trust_root_version")),
        previous=previous["payload"] if previous else None,
        now=now,
        expires_at=now + configuration.live_days * DAY,
    )
    live = sign_statement(payload, [workspace.key("live")])
    validate(live, "live")
    store.put_live(c, live)
    return live


def export(workspace: Workspace) -> None:
    """Writes what consumers read. Safe to repeat; the generation goes before the live state that names it."""
    with workspace.store.read() as c:
        statements = (
            ("generation.json", workspace.store.published_statement(c)),
            ("live.json", workspace.store.live_statement(c)),
        )
    for name, statement in statements:
        if statement is not None:
            write_whole(workspace.published / name, dumps(statement))


def publish(workspace: Workspace, now: int, progress: Callable[[str], None] = lambda _: None) -> Published:
    """Builds, validates and publishes a generation; ``progress`` hears of each document.

    Documents are derived outside the write lock; the publication is refused with ``publish.raced`` when anything
    changed meanwhile. Where nothing changed since the last publication, the generation stays and the live state is
    renewed.
    """
    store, configuration = workspace.store, workspace.configuration
    with store.read() as c:
        rows = store.documents(c)
        map_salt = store.setting(c, "map_salt")
        authorization = store.setting(c, "authorization_revision")
        previous = store.published_statement(c)
        documents, entries, placed = [], [], []
        for row in rows:
            if row.revision is None:
                continue
            made = derive(configuration.corpus, row.revision, store.blob(c, row.revision.raw_sha256))
            place = map_entry(made, bytes.fromhex(map_salt))
            placed.append(place)
            documents.append(PublishedDocument(row.revision, place.document_key, place.record_sha256))
            entries += [
                (row.tenant, PublishedEntry(row.document, entry.index, entry.entry, entry.retrieval_text))
                for entry in made.entries
            ]
            progress(row.document)
    payload = generation_payload(
        issuer=configuration.issuer,
        corpus=configuration.corpus,
        map_salt=map_salt,
        authorization_revision=authorization,
        entries=placed,
        tombstones=_tombstones(rows, bytes.fromhex(map_salt)),
        previous=previous["payload"] if previous else None,
        now=now,
        expires_at=now + configuration.generation_days * DAY,
    )
    check_generation(payload)
    before = previous["payload"] if previous else None
    renewed = before is not None and before["generation"] == payload["generation"] and before["expires_at"] > now
    statement = previous if renewed and previous else sign_statement(payload, [workspace.key("generation")])
    validate(statement, "generation")
    with store.write() as c:
        if (store.documents(c), store.published_statement(c)) != (rows, previous):
            raise StateError("publish.raced", "the store changed while this generation was built", hint="publish again")
        if not renewed:
            store.put_generation(c, statement, statement_sha256(statement["payload"]))
            store.replace_published(c, documents, entries)
        renew_live(workspace, c, now)
    export(workspace)
    current = statement["payload"]
    return Published(
        current["sequence"], current["generation"], current["document_count"], current["entry_count"], renewed
    )
