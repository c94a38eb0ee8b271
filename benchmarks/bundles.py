"""Bundles of any number of claims, from the producer's own stages, without a store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from kansho_sign.bundle import Binding, Request, assemble, audit_payload, decision_json, public_payload
from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.claims import Cited, cite, claim
from kansho_sign.cose import sign_statement, statement_sha256
from kansho_sign.derivation import DerivedDocument, SourceRevision, derive
from kansho_sign.document_map import DocumentMap
from kansho_sign.evidence import Decision, Span
from kansho_sign.generation import MapEntry, generation_payload, live_payload, map_entry
from kansho_sign.keys import ROLES, SigningKey, new_key
from kansho_sign.workspace import NEWCOMER_POLICY, trust_root_payload

NOW = 1_790_000_000
CORPUS, MAP_SALT, SALT, NONCE = "1" * 32, "2" * 64, "3" * 32, "4" * 32
CLAIMS_PER_DOCUMENT = 100
ISSUER = "benchmark"


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that a consumer needs to check one bundle."""

    bundle: bytes
    trust_root: bytes
    generation: bytes
    live: bytes
    sources: dict[str, bytes]


def _derived(number: int, count: int) -> tuple[DerivedDocument, bytes]:
    paragraphs = (
        f"Paragraph {index} of document {number} says that order {number * 7919 + index * 104_729} ships in a week."
        for index in range(count)
    )
    raw = "\n\n".join(paragraphs).encode()
    revision = SourceRevision(
        tenant="default",
        document=f"orders/{number:06}.txt",
        source_uri=f"orders/{number:06}.txt",
        source_version="1",
        role="document",
        media_type="text/plain",
        raw_sha256=hashlib.sha256(raw).hexdigest(),
        raw_size=len(raw),
        groups=("public",),
        salt=SALT,
        event_sequence=1,
    )
    return derive(CORPUS, revision, raw), raw


def _generation(places: list[MapEntry]) -> JsonObject:
    return generation_payload(
        issuer=ISSUER,
        corpus=CORPUS,
        map_salt=MAP_SALT,
        authorization_revision="1",
        entries=places,
        tombstones=[],
        previous=None,
        now=NOW,
        expires_at=NOW + 86_400,
    )


def _live(generation: JsonObject) -> JsonObject:
    return live_payload(
        generation=generation,
        tombstones=[],
        blocked=[],
        authorization_revision="1",
        trust_root_version=1,
        previous=None,
        now=NOW,
        expires_at=NOW + 86_400,
    )


def _sections(
    cited: list[Cited], siblings: dict[str, list[str]], generation: JsonObject
) -> tuple[JsonObject, JsonObject]:
    claims = [claim(one) for one in cited]
    evidence = [
        decision_json(
            Decision(
                f"evidence[{index}].excerpt",
                one.document.source.document,
                one.citation["span_sha256"],
                None,
                Span(one.document.source.document, one.citation["char_start"], one.citation["char_end"], 1),
            ),
            made["claim"],
        )
        for index, (one, made) in enumerate(zip(cited, claims, strict=True))
    ]
    request = Request("default", ("public",), None, None, None, "5" * 64, "1", None)
    binding = Binding(ISSUER, CORPUS, NOW, "published", NONCE)
    public = public_payload(binding, request, "answered", claims)
    audit = audit_payload(
        binding,
        request,
        public,
        generation_sha256=statement_sha256(generation),
        method="evidence",
        cited=cited,
        siblings=siblings.__getitem__,
        counts={
            "visible_documents": generation["document_count"],
            "visible_entries": generation["entry_count"],
            "matched_entries": 0,
            "eligible_entries": 0,
            "selected_entries": 0,
        },
        evidence=evidence,
        policy=NEWCOMER_POLICY,
    )
    return public, audit


def make(claims: int) -> Material:
    """A bundle with so many claims, 100 to a document, and what verifies it."""
    keys: dict[str, SigningKey] = {role: new_key() for role in ROLES}
    documents, sources, places = [], {}, []
    for number in range(-(-claims // CLAIMS_PER_DOCUMENT)):
        count = min(CLAIMS_PER_DOCUMENT, claims - number * CLAIMS_PER_DOCUMENT)
        document, raw = _derived(number, count)
        documents.append(document)
        sources[document.source.document] = raw
        places.append(map_entry(document, bytes.fromhex(MAP_SALT)))
    generation = _generation(places)
    tree = DocumentMap({place.document_key: place.record_sha256 for place in places})
    siblings = {
        document.source.document: tree.membership(place.document_key)
        for document, place in zip(documents, places, strict=True)
    }
    cited = [cite(document, entry.start, entry.end) for document in documents for entry in document.entries]
    public, audit = _sections(cited, siblings, generation)
    signed_generation = sign_statement(generation, [keys["generation"]])
    bundle = assemble(
        sign_statement(public, [keys["citation"]]), sign_statement(audit, [keys["audit"]]), signed_generation
    )
    root = trust_root_payload(ISSUER, CORPUS, keys, range(NOW, NOW + 86_400))
    return Material(
        dumps(bundle),
        dumps(sign_statement(root, [keys["root"]])),
        dumps(signed_generation),
        dumps(sign_statement(_live(generation), [keys["live"]])),
        sources,
    )
