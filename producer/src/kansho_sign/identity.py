"""Derived identities (docs/spec/identities.md).

Each function builds the record that the page lists and returns prefix and SHA-256 of its canonical JSON.
"""

import hashlib
import hmac
from collections.abc import Sequence

from kansho_sign.canonical_json import JsonObject, dumps, sha256_hex

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
    "request_acl_salt",
    "request_commitment",
    "request_map_salt",
    "snapshot_hash",
    "tombstones_hash",
    "trace_id",
]

SCHEME = "kansho.v1"


def _hash(kind: str, members: JsonObject) -> str:
    return sha256_hex({"kind": kind, "scheme": SCHEME, **members})


def acl_hash(groups: Sequence[str], salt: str) -> str:
    """Hash of an ACL state: groups (any order, unique) and its 128-bit salt in hex. No prefix; never public."""
    return _hash("acl", {"groups": sorted(groups), "salt": salt})


def canonical_revision_id(
    *,
    corpus: str,
    tenant: str,
    document: str,
    source_uri: str,
    source_version: str,
    role: str,
    media_type: str,
    raw_sha256: str,
    raw_size: int,
    canonical_sha256: str,
    projection: JsonObject | None,
    normaliser: str,
    acl: str,
) -> str:
    """``can_``: one version of one document under one ACL state. ``acl`` is the acl hash."""
    return "can_" + _hash(
        "canonical_revision",
        {
            "corpus": corpus,
            "tenant": tenant,
            "document": document,
            "source_uri": source_uri,
            "source_version": source_version,
            "role": role,
            "media_type": media_type,
            "raw_sha256": raw_sha256,
            "raw_size": raw_size,
            "canonical_sha256": canonical_sha256,
            "projection": projection,
            "normaliser": normaliser,
            "acl": acl,
        },
    )


def parse_revision_id(*, canonical_revision: str, parser: str, configuration_sha256: str) -> str:
    """``par_``: a canonical revision as one parser in one configuration reads it."""
    members = {
        "canonical_revision": canonical_revision,
        "parser": parser,
        "configuration_sha256": configuration_sha256,
    }
    return "par_" + _hash("parse_revision", members)


def element_id(
    *,
    parse_revision: str,
    element_kind: str,
    coordinate_space: str,
    char_start: int,
    char_end: int,
    text_sha256: str,
) -> str:
    """``el_``: one block at one place."""
    return "el_" + _hash(
        "element",
        {
            "parse_revision": parse_revision,
            "element_kind": element_kind,
            "coordinate_space": coordinate_space,
            "char_start": char_start,
            "char_end": char_end,
            "text_sha256": text_sha256,
        },
    )


def chunk_id(
    *,
    canonical_revision: str,
    parse_revision: str,
    chunker: str,
    elements: Sequence[str],
    char_start: int,
    char_end: int,
    content_sha256: str,
    acl: str,
) -> str:
    """``chk_``: one contiguous span over the elements it lists."""
    return "chk_" + _hash(
        "chunk",
        {
            "canonical_revision": canonical_revision,
            "parse_revision": parse_revision,
            "chunker": chunker,
            "elements": list(elements),
            "char_start": char_start,
            "char_end": char_end,
            "content_sha256": content_sha256,
            "acl": acl,
        },
    )


def entry_id(*, chunk: str, retrieval_text_sha256: str, index: str, acl: str) -> str:
    """``idx_``: a chunk as the index finds it."""
    members = {"chunk": chunk, "retrieval_text_sha256": retrieval_text_sha256, "index": index, "acl": acl}
    return "idx_" + _hash("index_entry", members)


def pipeline_fingerprint(pipeline: JsonObject) -> str:
    """Hash of the whole pipeline: normaliser, Unicode tables, parsers, chunker, index, retrieval."""
    return _hash("pipeline", {"pipeline": pipeline})


def snapshot_hash(corpus: str, documents: Sequence[JsonObject]) -> str:
    """Hash of ``{document_key, canonical_revision, event_sequence}`` for every live document."""
    ordered = sorted(documents, key=lambda item: str(item["document_key"]))
    return _hash("source_snapshot", {"corpus": corpus, "documents": ordered})


def tombstones_hash(corpus: str, tombstones: Sequence[JsonObject]) -> str:
    """Hash of ``{document_key, event_sequence}`` for every deleted document."""
    ordered = sorted(tombstones, key=lambda item: str(item["document_key"]))
    return _hash("tombstones", {"corpus": corpus, "tombstones": ordered})


GENERATION_MEMBERS = (
    "corpus",
    "registry",
    "source_snapshot_sha256",
    "tombstones_sha256",
    "authorization_revision",
    "pipeline_fingerprint",
    "document_map_root",
    "document_count",
    "entry_count",
)


def generation_id(statement: JsonObject) -> str:
    """``gen_``: from the members of a generation statement that describe its content."""
    return "gen_" + _hash("generation", {name: statement[name] for name in GENERATION_MEMBERS})


def claim_id(text_sha256: str, citations: Sequence[JsonObject]) -> str:
    """``clm_``: a wording and the places where it stands."""
    return "clm_" + _hash("claim", {"text_sha256": text_sha256, "citations": list(citations)})


def request_commitment(*, audience: str | None, question: str | None, challenge: str) -> str:
    """What the public section says of the request: nothing, to whoever does not know it."""
    return _hash("request", {"audience": audience, "question": question, "challenge": challenge})


def trace_id(*, nonce: str, request: JsonObject, public: JsonObject) -> str:
    """Ties a public payload (without ``trace_id``) to the whole request and the nonce."""
    return _hash("trace", {"nonce": nonce, "request": sha256_hex(request), "public": public})


def _of_nonce(nonce: str, record: JsonObject) -> str:
    return hmac.new(bytes.fromhex(nonce), dumps({"scheme": SCHEME, **record}), hashlib.sha256).hexdigest()


def request_map_salt(nonce: str) -> str:
    """The map salt (256 bits in hex) of a request's own registry; ``nonce`` is that of the audit section, in hex."""
    return _of_nonce(nonce, {"kind": "request_map_salt"})


def request_acl_salt(nonce: str, document: str) -> str:
    """The ACL salt (128 bits in hex) of a document of a request's own registry."""
    return _of_nonce(nonce, {"kind": "request_acl_salt", "document": document})[:32]
