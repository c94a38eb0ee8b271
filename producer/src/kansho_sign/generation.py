"""Generation statements and live states (docs/spec/statements.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kansho_sign import identity
from kansho_sign.canonical_json import JsonObject, sha256_hex
from kansho_sign.cose import statement_sha256
from kansho_sign.derivation import DerivedDocument, pipeline
from kansho_sign.document_map import DocumentMap, document_key, document_record

__all__ = ["MapEntry", "generation_payload", "live_payload", "map_entry", "tombstone"]


@dataclass(frozen=True, slots=True)
class MapEntry:
    """What a generation keeps of one document."""

    document_key: str
    record_sha256: str
    canonical_revision: str
    event_sequence: int
    entry_count: int


def map_entry(document: DerivedDocument, map_salt: bytes) -> MapEntry:
    """A derived document's place and record."""
    source = document.source
    key = document_key(map_salt, source.tenant, source.document)
    record = document_record(
        document_key=key,
        canonical_revision=document.canonical_revision,
        parse_revision=document.parse_revision,
        event_sequence=source.event_sequence,
        entry_count=len(document.entries),
        entry_root=document.entry_tree().root,
    )
    return MapEntry(key, sha256_hex(record), document.canonical_revision, source.event_sequence, len(document.entries))


def tombstone(map_salt: bytes, tenant: str, document: str, sequence: int) -> JsonObject:
    """A deleted document, by its key."""
    return {"document_key": document_key(map_salt, tenant, document), "event_sequence": sequence}


def _sorted(tombstones: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(tombstones, key=lambda item: str(item["document_key"]))


def generation_payload(
    *,
    issuer: str,
    corpus: str,
    registry: str = "published",
    map_salt: str,
    authorization_revision: str,
    entries: Sequence[MapEntry],
    tombstones: Sequence[JsonObject],
    previous: JsonObject | None,
    now: int,
    expires_at: int,
) -> JsonObject:
    """The payload of a generation; ``previous`` is the payload that it supersedes, None for the first or only one."""
    facts: JsonObject = {
        "corpus": corpus,
        "registry": registry,
        "source_snapshot_sha256": identity.snapshot_hash(
            corpus,
            [
                {
                    "document_key": entry.document_key,
                    "canonical_revision": entry.canonical_revision,
                    "event_sequence": entry.event_sequence,
                }
                for entry in entries
            ],
        ),
        "tombstones_sha256": identity.tombstones_hash(corpus, tombstones),
        "authorization_revision": authorization_revision,
        "pipeline_fingerprint": identity.pipeline_fingerprint(pipeline()),
        "document_map_root": DocumentMap({entry.document_key: entry.record_sha256 for entry in entries}).root,
        "document_count": len(entries),
        "entry_count": sum(entry.entry_count for entry in entries),
    }
    return {
        "schema": "kansho.generation.v1",
        "issuer": issuer,
        "issued_at": now,
        "expires_at": expires_at,
        "sequence": previous["sequence"] + 1 if previous else 1,
        "previous_sha256": statement_sha256(previous) if previous else None,
        "pipeline": pipeline(),
        "map_salt": map_salt,
        **facts,
        "generation": identity.generation_id(facts),
    }


def live_payload(
    *,
    generation: JsonObject,
    tombstones: Sequence[JsonObject],
    blocked: Sequence[str],
    authorization_revision: str,
    trust_root_version: int,
    previous: JsonObject | None,
    now: int,
    expires_at: int,
) -> JsonObject:
    """The payload of a live state for the newest generation payload; ``blocked`` are document keys."""
    return {
        "schema": "kansho.live.v1",
        "issuer": generation["issuer"],
        "corpus": generation["corpus"],
        "issued_at": now,
        "expires_at": expires_at,
        "sequence": previous["sequence"] + 1 if previous else 1,
        "previous_sha256": statement_sha256(previous) if previous else None,
        "generation": {"sequence": generation["sequence"], "statement_sha256": statement_sha256(generation)},
        "minimum_trust_root_version": trust_root_version,
        "authorization_revision": authorization_revision,
        "tombstones": _sorted(tombstones),
        "blocked": sorted(blocked),
    }
