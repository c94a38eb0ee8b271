"""The two sections of a bundle, and how they are bound (docs/spec/bundle.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kansho_sign import identity
from kansho_sign.canonical_json import JsonObject, sha256_hex
from kansho_sign.claims import Cited
from kansho_sign.derivation import DerivedDocument
from kansho_sign.evidence import Decision, VerifiedArtifact

__all__ = [
    "MEDIA_TYPE",
    "Binding",
    "Request",
    "artifact_json",
    "assemble",
    "audit_payload",
    "decision_json",
    "document_json",
    "public_payload",
]

MEDIA_TYPE = "application/vnd.kansho.bundle.v1+json"
COUNTS = ("visible_documents", "visible_entries", "matched_entries", "eligible_entries", "selected_entries")


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks what. ``challenge`` is 32 bytes in hex; ``top_k`` is None where nothing is ranked."""

    tenant: str
    groups: tuple[str, ...]
    subject: str | None
    audience: str | None
    question: str | None
    challenge: str
    authorization_revision: str
    top_k: int | None

    def to_json(self) -> JsonObject:
        """The ``request`` of an audit section."""
        return {
            "audience": self.audience,
            "challenge": self.challenge,
            "question": self.question,
            "tenant": self.tenant,
            "subject": self.subject,
            "groups": sorted(self.groups),
            "authorization_revision": self.authorization_revision,
            "top_k": self.top_k,
        }


@dataclass(frozen=True, slots=True)
class Binding:
    """What both sections say alike, and the nonce (128 bits in hex) that only the audit section holds."""

    issuer: str
    corpus: str
    issued_at: int
    registry: str
    nonce: str


def public_payload(
    binding: Binding,
    request: Request,
    status: str,
    claims: Sequence[JsonObject],
    *,
    annotations: Sequence[JsonObject] = (),
    artifact: JsonObject | None = None,
) -> JsonObject:
    """The public payload with its trace id. No part of it depends on anything the subject may not see."""
    payload: JsonObject = {
        "schema": "kansho.public.v1",
        "issuer": binding.issuer,
        "corpus": binding.corpus,
        "issued_at": binding.issued_at,
        "registry": binding.registry,
        "request_commitment": identity.request_commitment(
            audience=request.audience, question=request.question, challenge=request.challenge
        ),
        "status": status,
        "claims": list(claims),
    }
    if artifact is not None:
        payload["artifact"] = artifact
    if annotations:
        payload["annotations_unverified"] = list(annotations)
    trace = identity.trace_id(nonce=binding.nonce, request=request.to_json(), public=payload)
    return {**payload, "trace_id": trace}


def decision_json(decision: Decision, claim: str | None) -> JsonObject:
    """A decision as the audit section records it."""
    return {
        "path": decision.path,
        "source_id": decision.source_id,
        "excerpt_sha256": decision.excerpt_sha256,
        "code": None if decision.finding is None else str(decision.finding),
        "claim": claim,
    }


def artifact_json(artifact: VerifiedArtifact, evidence: Sequence[JsonObject], sources: Sequence[str]) -> JsonObject:
    """An artifact as the public section names it: by its claims of evidence, and the ids of those of its sources."""
    citations = [(one["claim"], one["citations"][0]) for one in evidence]
    return {
        "kind": artifact.kind,
        "coverage": str(artifact.coverage),
        "order": list(artifact.order),
        "source_order": list(artifact.source_order),
        "sources": [
            {"source_id": one.source_id, "role": one.role, "claim": made}
            for one, made in zip(artifact.sources, sources, strict=True)
        ],
        "evidence": [
            {
                "source_id": citation["document"],
                "claim": made,
                "char_start": citation["char_start"],
                "char_end": citation["char_end"],
                "span_sha256": citation["span_sha256"],
            }
            for made, citation in citations
        ],
    }


def _entry_json(document: DerivedDocument, index: int, proof: list[str]) -> JsonObject:
    entry = document.entries[index]
    return {
        "index": index,
        "char_start": entry.start,
        "char_end": entry.end,
        "content_sha256": entry.content_sha256,
        "retrieval_text_sha256": entry.retrieval_text_sha256,
        "elements": [
            {"element_kind": e.kind, "char_start": e.start, "char_end": e.end, "text_sha256": e.text_sha256}
            for e in entry.elements
        ],
        "proof": proof,
    }


def document_json(document: DerivedDocument, indexes: Sequence[int], siblings: list[str]) -> JsonObject:
    """A document as the audit section discloses it, with the entries at ``indexes``."""
    source, tree = document.source, document.entry_tree()
    return {
        "document": source.document,
        "source_uri": source.source_uri,
        "source_version": source.source_version,
        "role": source.role,
        "media_type": source.media_type,
        "raw_sha256": source.raw_sha256,
        "raw_size": source.raw_size,
        "canonical_sha256": document.canonical_sha256,
        "projection": None,
        "acl": {"groups": list(source.groups), "salt": source.salt},
        "event_sequence": source.event_sequence,
        "entry_count": len(document.entries),
        "entry_root": tree.root,
        "siblings": siblings,
        "entries": [_entry_json(document, index, tree.proof(index)) for index in indexes],
    }


def audit_payload(
    binding: Binding,
    request: Request,
    public: JsonObject,
    *,
    generation_sha256: str,
    method: str,
    cited: Sequence[Cited] = (),
    siblings: Callable[[str], list[str]],
    selection: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
    evidence: Sequence[JsonObject] = (),
    policy: JsonObject | None = None,
) -> JsonObject:
    """The audit payload for a public payload. ``siblings`` gives a document's membership proof in the generation."""
    documents: dict[str, DerivedDocument] = {}
    needed: dict[str, set[int]] = {}
    for one in cited:
        name = one.document.source.document
        documents[name] = one.document
        needed.setdefault(name, set()).update(one.disclosed)
    status = public["status"]
    return {
        "schema": "kansho.audit.v1",
        "issuer": binding.issuer,
        "corpus": binding.corpus,
        "issued_at": binding.issued_at,
        "public_sha256": sha256_hex(public),
        "generation_sha256": generation_sha256,
        "request": request.to_json(),
        "nonce": binding.nonce,
        "documents": [
            document_json(documents[name], sorted(needed[name]), siblings(name)) for name in sorted(documents)
        ],
        "selection": list(selection),
        "filter_summary": dict(counts) if counts else dict.fromkeys(COUNTS, 0),
        "retrieval": {"method": method},
        "evidence": list(evidence),
        "policy": policy,
        "failure": None if status == "answered" else {"code": status},
    }


def assemble(public: JsonObject, audit: JsonObject, generation: JsonObject) -> JsonObject:
    """The bundle of three signed statements, with its self-hash."""
    bundle: JsonObject = {
        "media_type": MEDIA_TYPE,
        "public": public,
        "audit": {"generation": generation, **audit},
    }
    return {**bundle, "bundle_sha256": sha256_hex(bundle)}
