"""Source events and what they do to a document: a pure state machine (docs/spec/lifecycle.md, the table)."""

import base64
import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from kansho_sign.canonical_json import JsonObject, loads, sha256_hex
from kansho_sign.derivation import SourceRevision
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.schema import validate
from kansho_sign.sources.names import check_document_id, check_label, check_source_uri
from kansho_sign.store import DocumentRow

__all__ = ["Effect", "Outcome", "SourceEvent", "apply", "check_facts", "parse_event"]


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """One event. A delete has neither content nor ACL (``raw`` None, ``groups`` empty).

    ``origin`` is the folder that plain files came from; it is the connector's own and nothing public holds it.
    """

    event_id: str
    connector: str
    tenant: str
    document: str
    sequence: int
    source_uri: str = ""
    source_version: str = ""
    role: str = ""
    media_type: str = ""
    groups: tuple[str, ...] = ()
    raw: bytes | None = None
    private_locator: str | None = None
    origin: str | None = None

    @property
    def is_delete(self) -> bool:
        """Whether it takes the document away."""
        return self.raw is None

    def fingerprint(self) -> str:
        """What the event id is bound to for ever."""
        return sha256_hex(
            {
                "connector": self.connector,
                "tenant": self.tenant,
                "document": self.document,
                "sequence": self.sequence,
                "source_uri": self.source_uri,
                "source_version": self.source_version,
                "role": self.role,
                "media_type": self.media_type,
                "groups": list(self.groups),
                "raw_sha256": None if self.raw is None else hashlib.sha256(self.raw).hexdigest(),
                "private_locator": self.private_locator,
            }
        )


class Effect(StrEnum):
    """What an accepted event did."""

    REPEATED = "repeated"
    STALE = "stale"
    UNCHANGED = "unchanged"
    NEW = "new"
    CHANGED = "changed"
    ACCESS_CHANGED = "access_changed"
    RESTORED = "restored"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect, and the document's new state (None: nothing changes)."""

    effect: Effect
    row: DocumentRow | None


def _revision(event: SourceEvent, salt: str) -> SourceRevision:
    raw = event.raw or b""
    return SourceRevision(
        tenant=event.tenant,
        document=event.document,
        source_uri=event.source_uri,
        source_version=event.source_version,
        role=event.role,
        media_type=event.media_type,
        raw_sha256=hashlib.sha256(raw).hexdigest(),
        raw_size=len(raw),
        groups=event.groups,
        salt=salt,
        event_sequence=event.sequence,
    )


def _same_state(current: DocumentRow, wanted: DocumentRow) -> bool:
    if current.revision is None or wanted.revision is None:
        return current.deleted == wanted.deleted and current.revision is wanted.revision
    sequence = current.revision.event_sequence
    same = current.revision == replace(wanted.revision, event_sequence=sequence, salt=current.revision.salt)
    return same and (current.deleted, current.private_locator) == (wanted.deleted, wanted.private_locator)


def _wanted(current: DocumentRow | None, event: SourceEvent, fresh_salt: str) -> DocumentRow:
    tombstone = current.tombstone_sequence if current else None
    if event.is_delete:
        origin = current.origin if current else None
        return DocumentRow(
            tenant=event.tenant,
            document=event.document,
            connector=event.connector,
            deleted=True,
            sequence=event.sequence,
            tombstone_sequence=event.sequence,
            origin=origin,
            private_locator=None,
            revision=None,
        )
    kept = current.revision if current and not current.deleted else None
    salt = kept.salt if kept and kept.groups == event.groups else fresh_salt
    return DocumentRow(
        tenant=event.tenant,
        document=event.document,
        connector=event.connector,
        deleted=False,
        sequence=event.sequence,
        tombstone_sequence=tombstone,
        origin=event.origin,
        private_locator=event.private_locator,
        revision=_revision(event, salt),
    )


def apply(current: DocumentRow | None, event: SourceEvent, fresh_salt: str) -> Outcome:
    """The outcome of an event whose id is new, for a document's current state.

    ``fresh_salt`` (128 bits in hex) becomes the salt of a new ACL state. Raises InputError
    ``event.sequence_conflict`` for another state under a known sequence, ``event.connector_conflict`` for a document
    that another connector holds.
    """
    wanted = _wanted(current, event, fresh_salt)
    if current is None:
        return Outcome(Effect.DELETED if event.is_delete else Effect.NEW, wanted)
    if event.sequence < current.sequence:
        return Outcome(Effect.STALE, None)
    same = _same_state(current, wanted)
    if event.sequence == current.sequence:
        if same:
            return Outcome(Effect.REPEATED, None)
        raise InputError(
            "event.sequence_conflict",
            f"sequence {event.sequence} is taken by another state of this document",
            event.document,
            "give the event a higher sequence",
        )
    if not current.deleted and event.connector != current.connector:
        raise InputError(
            "event.connector_conflict",
            f"this document is the connector {current.connector!a}'s, not {event.connector!a}'s",
            event.document,
            "give it another document id (--prefix for files), or delete the document first",
        )
    if event.is_delete:
        return Outcome(Effect.UNCHANGED if current.deleted else Effect.DELETED, wanted)
    if current.deleted:
        return Outcome(Effect.RESTORED, wanted)
    if same and current.revision is not None:
        # The checkpoint moves; the revision keeps the sequence that made it: no invented version.
        return Outcome(Effect.UNCHANGED, replace(current, sequence=event.sequence, origin=wanted.origin))
    changed_access = current.revision is not None and current.revision.groups != event.groups
    return Outcome(Effect.ACCESS_CHANGED if changed_access else Effect.CHANGED, wanted)


def _raw(value: JsonObject) -> bytes:
    if "content" in value:
        content: str = value["content"]
        return content.encode("utf-8")
    try:
        raw = base64.b64decode(value["content_base64"], validate=True)
    except ValueError:
        raise InputError("event.base64", "not base64 (RFC 4648, section 4)", "$.content_base64") from None
    if base64.b64encode(raw).decode("ascii") != value["content_base64"]:
        raise InputError("event.base64", "not canonical base64", "$.content_base64")
    return raw


def check_facts(event: SourceEvent) -> None:
    """Refuses what no signed statement could hold by its schema. Raises InputError ``name.*``, ``event.groups``."""
    for name in ("event_id", "connector", "tenant"):
        check_label(getattr(event, name), name)
    check_document_id(event.document)
    if event.is_delete:
        return
    for label in (*event.groups, event.role, event.source_version):
        check_label(label, "label")
    if event.groups != tuple(sorted(set(event.groups))) or not 1 <= len(event.groups) <= LIMITS.groups:
        raise InputError("event.groups", f"1 to {LIMITS.groups} groups, sorted and unique", "$.groups")
    check_source_uri(event.source_uri, public=True)


def parse_event(line: bytes) -> SourceEvent:
    """One line of JSON Lines. Raises InputError (``json.*``, ``schema.violation``, ``event.*``, ``name.*``)."""
    value: JsonObject = loads(line, LIMITS.event_line_bytes, canonical=False)
    validate(value, "source-event")
    base = {name: value[name] for name in ("event_id", "connector", "tenant", "document", "sequence")}
    if value["kind"] == "delete":
        deletion = SourceEvent(**base)
        check_facts(deletion)
        return deletion
    raw = _raw(value)
    if len(raw) > LIMITS.source_bytes:
        raise InputError("limits.bytes", f"the content is larger than {LIMITS.source_bytes} bytes", "$.content")
    if hashlib.sha256(raw).hexdigest() != value["raw_sha256"]:
        raise InputError("event.raw_sha256", "is not the hash of the content", "$.raw_sha256")
    event = SourceEvent(
        **base,
        source_uri=check_source_uri(value["source_uri"], public=value.get("source_uri_public", False)),
        source_version=value["source_version"],
        role=value["role"],
        media_type=value["media_type"],
        groups=tuple(value["groups"]),
        raw=raw,
        private_locator=value.get("private_locator"),
    )
    check_facts(event)
    return event
