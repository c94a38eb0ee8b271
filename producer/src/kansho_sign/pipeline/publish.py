"""From accepted documents to a published generation and the live state (docs/spec/lifecycle.md, Publication)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.cose import sign_statement, statement_sha256
from kansho_sign.derivation import derive
from kansho_sign.document_map import DocumentMap
from kansho_sign.errors import FaultError, StateError
from kansho_sign.generation import MapEntry, generation_payload, live_payload, map_entry, tombstone
from kansho_sign.output import write_whole
from kansho_sign.schema import validate
from kansho_sign.selfcheck import check_generation
from kansho_sign.store import Connection, DocumentRow, PublishedDocument, PublishedEntry
from kansho_sign.workspace import DAY, Workspace

Progress = Callable[[int, str], None]
"""Hears how many steps there are, and the name of the next one."""

__all__ = ["Progress", "Published", "export", "publish", "renew_live"]


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


def _to_export(workspace: Workspace, c: Connection) -> list[tuple[Path, bytes]]:
    """The files whose content is not what the store holds; the generation before the live state that names it."""
    statements = (
        ("generation.json", workspace.store.published_statement(c)),
        ("live.json", workspace.store.live_statement(c)),
    )
    wanted = [(workspace.published / name, dumps(one)) for name, one in statements if one is not None]
    return [(path, data) for path, data in wanted if not _holds(path, data)]


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False


def export(workspace: Workspace) -> None:
    """Writes what consumers read, where it is not there already: safe to repeat, and the repair after a kill."""
    with workspace.store.read() as c:
        if not _to_export(workspace, c):
            return
    # Under the write lock, so that of two commands at once the older state is never written last.
    with workspace.store.write() as c:
        for path, data in _to_export(workspace, c):
            write_whole(path, data)


@dataclass(slots=True)
class _Built:
    """A generation's content, derived from raw bytes."""

    places: list[MapEntry] = field(default_factory=list)
    documents: list[PublishedDocument] = field(default_factory=list)
    entries: list[tuple[str, PublishedEntry]] = field(default_factory=list)


def _build(workspace: Workspace, c: Connection, rows: list[DocumentRow], map_salt: bytes, progress: Progress) -> _Built:
    built = _Built()
    live = [row.revision for row in rows if row.revision is not None]
    for revision in live:
        progress(len(live), revision.document)
        made = derive(workspace.configuration.corpus, revision, workspace.store.blob(c, revision.raw_sha256))
        place = map_entry(made, map_salt)
        built.places.append(place)
        built.documents.append(PublishedDocument(revision, place.document_key, place.record_sha256))
        built.entries += [
            (revision.tenant, PublishedEntry(revision.document, entry.index, entry.entry, entry.retrieval_text))
            for entry in made.entries
        ]
    return built


def _check_stored(workspace: Workspace, c: Connection, payload: JsonObject) -> None:
    """What the store now holds is what the statement says, nothing missing and nothing extra."""
    stored = workspace.store.published_documents(c)
    root = DocumentMap({one.document_key: one.record_sha256 for one in stored}).root
    counts = (len(stored), workspace.store.count_published_entries(c))
    if (root, *counts) != (payload["document_map_root"], payload["document_count"], payload["entry_count"]):
        raise FaultError("publish.stored", "the store does not hold what was built", hint="nothing was published")


def publish(workspace: Workspace, now: int, progress: Progress = lambda _total, _name: None) -> Published:
    """Builds, validates and publishes a generation.

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
        built = _build(workspace, c, rows, bytes.fromhex(map_salt), progress)
    before: JsonObject | None = previous["payload"] if previous else None
    payload = generation_payload(
        issuer=configuration.issuer,
        corpus=configuration.corpus,
        map_salt=map_salt,
        authorization_revision=authorization,
        entries=built.places,
        tombstones=_tombstones(rows, bytes.fromhex(map_salt)),
        previous=before,
        now=now,
        expires_at=now + configuration.generation_days * DAY,
    )
    check_generation(payload)
    renewed = before is not None and before["generation"] == payload["generation"] and before["expires_at"] > now
    statement = previous if renewed and previous else sign_statement(payload, [workspace.key("generation")])
    validate(statement, "generation")
    with store.write() as c:
        now_stored = store.documents(c), store.published_statement(c), store.setting(c, "authorization_revision")
        if now_stored != (rows, previous, authorization):
            raise StateError("publish.raced", "the store changed while this generation was built", hint="publish again")
        if not renewed:
            store.put_generation(c, statement, statement_sha256(statement["payload"]))
            store.replace_published(c, built.documents, built.entries)
        _check_stored(workspace, c, statement["payload"])
        renew_live(workspace, c, now)
    export(workspace)
    current = statement["payload"]
    return Published(
        current["sequence"], current["generation"], current["document_count"], current["entry_count"], renewed
    )
