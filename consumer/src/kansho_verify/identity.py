"""Every derived identity of ``docs/spec/identities.md``: a prefix and the SHA-256 of a canonical record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kansho_verify.canonical_json import JsonObject, canonical_sha256

__all__ = [
    "SCHEME",
    "acl_hash",
    "canonical_revision_id",
    "chunk_id",
    "claim_id",
    "element_id",
    "entry_id",
    "generation_id",
    "parse_revision_id",
    "pipeline_fingerprint",
    "request_commitment",
    "text_sha256",
    "trace_id",
]

SCHEME = "kansho.v1"

_REVISION_MEMBERS = (
    "document", "source_uri", "source_version", "role", "media_type", "raw_sha256", "raw_size", "canonical_sha256",
    "projection",
)  # fmt: skip
_GENERATION_MEMBERS = (
    "corpus", "registry", "source_snapshot_sha256", "tombstones_sha256", "authorization_revision",
    "pipeline_fingerprint", "document_map_root", "document_count", "entry_count",
)  # fmt: skip


def text_sha256(text: str) -> str:
    """The hash of a text or a span: SHA-256 of its UTF-8 bytes. ``text`` holds scalar values only."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def acl_hash(groups: Sequence[str], salt: str) -> str:
    """The hash of an access list; ``groups`` ascend, ``salt`` is 32 hex digits."""
    return _identity("", {"kind": "acl", "groups": list(groups), "salt": salt})


def canonical_revision_id(document: JsonObject, *, corpus: str, tenant: str, normaliser: str, acl: str) -> str:
    """The id of the canonical revision; ``document`` is a document of an audit section, ``acl`` its acl hash."""
    members = {name: document[name] for name in _REVISION_MEMBERS}
    kept = {"kind": "canonical_revision", "corpus": corpus, "tenant": tenant, "normaliser": normaliser, "acl": acl}
    return _identity("can_", members | kept)


def parse_revision_id(canonical_revision: str, *, parser: str, configuration_sha256: str) -> str:
    """The id of the parse revision."""
    record = {
        "kind": "parse_revision",
        "canonical_revision": canonical_revision,
        "parser": parser,
        "configuration_sha256": configuration_sha256,
    }
    return _identity("par_", record)


def element_id(element: JsonObject, *, parse_revision: str, coordinate_space: str) -> str:
    """The id of an element; ``element`` has ``element_kind``, ``char_start``, ``char_end``, ``text_sha256``."""
    kept = {"kind": "element", "parse_revision": parse_revision, "coordinate_space": coordinate_space}
    return _identity("el_", element | kept)


def chunk_id(
    entry: JsonObject, *, elements: Sequence[str], canonical_revision: str, parse_revision: str, chunker: str, acl: str
) -> str:
    """The id of a chunk; ``entry`` gives ``char_start``, ``char_end`` and ``content_sha256``."""
    record = {
        "kind": "chunk",
        "canonical_revision": canonical_revision,
        "parse_revision": parse_revision,
        "chunker": chunker,
        "elements": list(elements),
        "char_start": entry["char_start"],
        "char_end": entry["char_end"],
        "content_sha256": entry["content_sha256"],
        "acl": acl,
    }
    return _identity("chk_", record)


def entry_id(chunk: str, *, retrieval_text_sha256: str, index: str, acl: str) -> str:
    """The id of an index entry."""
    record = {"kind": "index_entry", "chunk": chunk, "retrieval_text_sha256": retrieval_text_sha256}
    return _identity("idx_", record | {"index": index, "acl": acl})


def pipeline_fingerprint(pipeline: JsonObject) -> str:
    """The fingerprint of a generation's ``pipeline``."""
    return _identity("", {"kind": "pipeline", "pipeline": pipeline})


def generation_id(payload: JsonObject) -> str:
    """The id of the generation whose statement has this payload."""
    return _identity("gen_", {"kind": "generation"} | {name: payload[name] for name in _GENERATION_MEMBERS})


def claim_id(claim_text_sha256: str, citations: Sequence[JsonObject]) -> str:
    """The id of a claim from the hash of its text and its citation objects in order."""
    return _identity("clm_", {"kind": "claim", "text_sha256": claim_text_sha256, "citations": list(citations)})


def request_commitment(*, audience: str | None, question: str | None, challenge: str) -> str:
    """What the public section says of the request."""
    return _identity("", {"kind": "request", "audience": audience, "question": question, "challenge": challenge})


def trace_id(*, nonce: str, request: JsonObject, public: JsonObject) -> str:
    """The trace id of a public payload, from the nonce and the whole request of the audit section."""
    rest = {name: value for name, value in public.items() if name != "trace_id"}
    record = {"kind": "trace", "nonce": nonce, "request": canonical_sha256(request), "public": rest}
    return _identity("", record)


def _identity(prefix: str, record: JsonObject) -> str:
    return prefix + canonical_sha256(record | {"scheme": SCHEME})
