"""The producer checks its own bundle as a consumer would, before it signs (docs/spec/lifecycle.md).

It works on the finished payloads and on raw bytes fetched anew; nothing that was derived on the way here is used.
"""

from collections.abc import Callable, Mapping

from kansho_sign import identity
from kansho_sign.canonical_json import JsonObject, dumps, sha256_hex
from kansho_sign.cose import statement_sha256
from kansho_sign.derivation import DerivedDocument, SourceRevision, derive
from kansho_sign.document_map import document_key, document_record, entry_is_included, map_root_of_member
from kansho_sign.errors import FaultError
from kansho_sign.schema import validate
from kansho_sign.text import sha256_text

__all__ = ["SelfCheckError", "check_generation", "check_payloads"]


class SelfCheckError(FaultError):
    """The producer made something that does not hold: a fault of the program, exit 70."""


def _require(condition: object, what: str) -> None:
    if not condition:
        raise SelfCheckError("selfcheck.failed", what, hint="nothing was signed; this is a bug, please report it")


def check_generation(payload: JsonObject) -> None:
    """A generation statement's own derived members."""
    _require(payload["generation"] == identity.generation_id(payload), "generation id")
    _require(
        payload["pipeline_fingerprint"] == identity.pipeline_fingerprint(payload["pipeline"]),
        "pipeline fingerprint",
    )


def _rederive(item: JsonObject, request: JsonObject, corpus: str, raw_bytes: Callable[[str], bytes]) -> DerivedDocument:
    revision = SourceRevision(
        tenant=request["tenant"],
        document=item["document"],
        source_uri=item["source_uri"],
        source_version=item["source_version"],
        role=item["role"],
        media_type=item["media_type"],
        raw_sha256=item["raw_sha256"],
        raw_size=item["raw_size"],
        groups=tuple(item["acl"]["groups"]),
        salt=item["acl"]["salt"],
        event_sequence=item["event_sequence"],
    )
    return derive(corpus, revision, raw_bytes(item["raw_sha256"]))


def _check_document(item: JsonObject, made: DerivedDocument, generation: JsonObject, request: JsonObject) -> None:
    name = item["document"]
    _require(set(request["groups"]) & set(item["acl"]["groups"]), f"{name}: the subject may see it")
    _require(
        (item["entry_count"], item["entry_root"]) == (len(made.entries), made.entry_tree().root),
        f"{name}: entries",
    )
    key = document_key(bytes.fromhex(generation["map_salt"]), request["tenant"], name)
    record = document_record(
        document_key=key,
        canonical_revision=made.canonical_revision,
        parse_revision=made.parse_revision,
        event_sequence=item["event_sequence"],
        entry_count=item["entry_count"],
        entry_root=item["entry_root"],
    )
    root = map_root_of_member(key, sha256_hex(record), item["siblings"])
    _require(root == generation["document_map_root"], f"{name}: place in the generation")
    for disclosed in item["entries"]:
        leaf = dumps(made.entries[disclosed["index"]].record())
        place = (disclosed["index"], item["entry_count"], disclosed["proof"], item["entry_root"])
        _require(entry_is_included(leaf, *place), f"{name}: entry {disclosed['index']}")


def _check_claim(claim: JsonObject, documents: Mapping[str, DerivedDocument]) -> None:
    digest = sha256_text(claim["text"])
    _require(claim["claim"] == identity.claim_id(digest, claim["citations"]), "claim id")
    for citation in claim["citations"]:
        made = documents[citation["document"]]
        span = made.text[citation["char_start"] : citation["char_end"]]
        _require(span == claim["text"] and citation["span_sha256"] == digest, "a citation's wording")
        ids = (citation["canonical_revision"], citation["parse_revision"])
        _require(ids == (made.canonical_revision, made.parse_revision), "a citation's revision")
        known = {(e.entry, e.chunk, tuple(x.element for x in e.elements)) for e in made.entries}
        listed = {(e["entry"], e["chunk"], tuple(e["elements"])) for e in citation["entries"]}
        _require(listed <= known, "a citation's entries")


def check_payloads(
    public: JsonObject, audit: JsonObject, generation: JsonObject, raw_bytes: Callable[[str], bytes]
) -> None:
    """Re-derives everything the payloads say. ``raw_bytes`` gives a source by its hash. Raises SelfCheckError."""
    validate(public, "public", "#/properties/payload")
    validate(audit, "audit", "#/properties/payload")
    check_generation(generation)
    request = audit["request"]
    _require(audit["public_sha256"] == sha256_hex(public), "public hash")
    _require(audit["generation_sha256"] == statement_sha256(generation), "generation hash")
    _require(request["authorization_revision"] == generation["authorization_revision"], "authorization revision")
    commitment = identity.request_commitment(
        audience=request["audience"], question=request["question"], challenge=request["challenge"]
    )
    _require(public["request_commitment"] == commitment, "request commitment")
    untraced = {name: value for name, value in public.items() if name != "trace_id"}
    trace = identity.trace_id(nonce=audit["nonce"], request=request, public=untraced)
    _require(public["trace_id"] == trace, "trace id")
    documents: dict[str, DerivedDocument] = {}
    for item in audit["documents"]:
        made = _rederive(item, request, audit["corpus"], raw_bytes)
        _check_document(item, made, generation, request)
        documents[item["document"]] = made
    for claim in public["claims"]:
        _check_claim(claim, documents)
