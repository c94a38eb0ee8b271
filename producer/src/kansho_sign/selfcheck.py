"""The producer checks its own bundle as a consumer would, before it signs (docs/spec/lifecycle.md).

It works on the finished payloads and on raw bytes fetched anew; nothing that was derived on the way here is used.
"""

from collections.abc import Callable, Mapping, Sequence

from kansho_sign import identity
from kansho_sign.bundle import document_json
from kansho_sign.canonical_json import JsonObject, dumps, sha256_hex
from kansho_sign.claims import cite
from kansho_sign.cose import statement_sha256
from kansho_sign.derivation import DerivedDocument, SourceRevision, derive
from kansho_sign.document_map import document_key, document_record, entry_is_included, map_root_of_member
from kansho_sign.errors import FaultError, InputError
from kansho_sign.retrieval import RETRIEVAL
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
    try:
        return derive(corpus, revision, raw_bytes(item["raw_sha256"]))
    except InputError as error:
        raise SelfCheckError("selfcheck.failed", f"{item['document']}: {error}") from None


def _check_document(
    item: JsonObject, made: DerivedDocument, disclosed: set[int], generation: JsonObject, request: JsonObject
) -> None:
    name = item["document"]
    _require(set(request["groups"]) & set(item["acl"]["groups"]), f"{name}: the subject may see it")
    _require(item == document_json(made, sorted(disclosed), item["siblings"]), f"{name}: what is disclosed of it")
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
    for entry in item["entries"]:
        leaf = dumps(made.entries[entry["index"]].record())
        place = (entry["index"], item["entry_count"], entry["proof"], item["entry_root"])
        _require(entry_is_included(leaf, *place), f"{name}: entry {entry['index']}")


def _check_claims(
    public: JsonObject, documents: Mapping[str, DerivedDocument], disclosed: Mapping[str, set[int]]
) -> None:
    """Every citation made anew from the derived documents; ``disclosed`` gathers the entries that it demands."""
    claims: list[JsonObject] = public["claims"]
    _require(len({claim["claim"] for claim in claims}) == len(claims), "different claims")
    for claim in claims:
        digest = sha256_text(claim["text"])
        _require(claim["claim"] == identity.claim_id(digest, claim["citations"]), "claim id")
        for citation in claim["citations"]:
            name, start, end = citation["document"], citation["char_start"], citation["char_end"]
            _require(name in documents, "a citation's document")
            _require(0 <= start < end <= len(documents[name].text), "a citation's place")
            made = cite(documents[name], start, end)
            _require(made.text == claim["text"] and made.citation == citation, "a citation")
            disclosed[name].update(made.disclosed)


def _check_evidence(public: JsonObject, audit: JsonObject, documents: Mapping[str, DerivedDocument]) -> None:
    """Method ``evidence``: claims are those of the decisions, each once, then those of an artifact's sources."""
    policy, decisions = audit["policy"], audit["evidence"]
    _require(policy is not None and not audit["selection"] and audit["request"]["top_k"] is None, "evidence alone")
    answered = public["status"] == "answered"
    claims = {claim["claim"]: claim for claim in public["claims"]}
    quoted = [*dict.fromkeys(d["claim"] for d in decisions if d["claim"] is not None)]
    _require(set(quoted) <= claims.keys(), "a decision's claim")
    whole = _check_artifact(public.get("artifact"), policy, quoted, claims, documents) if answered else []
    _require([*dict.fromkeys([*quoted, *whole])] == [*claims], "claims of the decisions and of the artifact")
    _require(answered or any(decision["code"] for decision in decisions), "a rejection's findings")
    for decision in decisions:
        _check_decision(decision, claims, policy, answered=answered)
    annotations = public.get("annotations_unverified", [])
    _require(policy["include_unverified_annotations"] or not annotations, "annotations that the policy asks for")
    _require({claim for one in annotations for claim in one["claims"]} <= claims.keys(), "an annotation's claims")
    texts = {item["document"]: item["canonical_sha256"] for item in audit["documents"]}
    for decision in decisions:
        if decision["claim"] is None and decision["code"] is None and answered:
            digest = texts.get(decision["source_id"], decision["excerpt_sha256"])
            _require(decision["excerpt_sha256"] == digest, "a proposed text")
    paths = [f"evidence[{i}].excerpt" for i, d in enumerate(decisions) if d["path"].startswith("evidence[")]
    paths += [f"proposed_texts[{i}].text" for i in range(len(decisions) - len(paths))]
    _require([d["path"] for d in decisions] == paths, "the decisions' paths")


def _check_decision(
    decision: JsonObject, claims: Mapping[str, JsonObject], policy: JsonObject, *, answered: bool
) -> None:
    accepted = decision["code"] is None
    _require(accepted or not answered, "an accepted answer")
    excerpt = decision["path"].startswith("evidence[")
    _require((decision["claim"] is not None) == (answered and excerpt and accepted), "a decision's claim")
    if decision["claim"] is not None:
        claim = claims[decision["claim"]]
        _require(decision["excerpt_sha256"] == sha256_text(claim["text"]), "a decision's excerpt")
        _require(decision["source_id"] == claim["citations"][0]["document"], "a decision's source")
        _require(claim["citations"][0]["role"] in policy["allowed_roles"], "a decision's role")


def _check_artifact(
    artifact: JsonObject | None,
    policy: JsonObject,
    quoted: Sequence[str],
    claims: Mapping[str, JsonObject],
    documents: Mapping[str, DerivedDocument],
) -> list[str]:
    """The artifact made anew from the policy and the claims; the claims of its sources."""
    coverage, selected = policy["coverage"], policy["selected_ids"]
    _require((artifact is None) == (coverage is None), "an artifact where the policy asks for one")
    if artifact is None:
        return []
    whole = {
        citation["document"]: (name, citation)
        for name, claim in claims.items()
        for citation in claim["citations"]
        if (citation["char_start"], citation["char_end"]) == (0, len(documents[citation["document"]].text))
    }
    materialised = selected if coverage == "all_selected_sources" else []
    _require(set(materialised) <= whole.keys(), "the whole of every selected source")
    _require(all(whole[one][1]["role"] in policy["allowed_roles"] for one in materialised), "a selected source's role")
    order = selected if policy["source_order"] is None else policy["source_order"]
    _require(set(selected) <= set(order), "an order of every selected source")
    _require(all(len(set(ids)) == len(ids) for ids in (selected, order)), "different sources")
    of_quotes = [(name, claims[name]["citations"][0]) for name in quoted]
    expected = {
        "kind": "verified_artifact",
        "coverage": coverage,
        "order": selected,
        "source_order": order,
        "sources": [{"source_id": one, "role": whole[one][1]["role"], "claim": whole[one][0]} for one in materialised],
        "evidence": [
            {
                "source_id": citation["document"],
                "claim": name,
                **{member: citation[member] for member in ("char_start", "char_end", "span_sha256")},
            }
            for name, citation in of_quotes
        ],
    }
    _require(artifact == expected, "the artifact")
    return [whole[one][0] for one in materialised]


def _check_selection(public: JsonObject, audit: JsonObject) -> None:
    """Other methods: claim i cites the i-th selected entry, and it alone."""
    _require(audit["policy"] is None and not audit["evidence"], "a selection alone")
    for claim in public["claims"]:
        _require(len(claim["citations"]) == 1 and claim["citations"][0]["anchor"] == "entry", "a claim's anchor")
    chosen = [claim["citations"][0]["entries"][0]["entry"] for claim in public["claims"]]
    _require(chosen == audit["selection"], "the selection")
    if audit["retrieval"]["method"] == RETRIEVAL:
        top_k = audit["request"]["top_k"]
        _require(top_k is not None and len(chosen) <= top_k, "top-k")


def _check_agreement(public: JsonObject, audit: JsonObject, generation: JsonObject) -> None:
    for name in ("issuer", "corpus", "issued_at"):
        _require(public[name] == audit[name], f"{name} of both sections")
    for name in ("issuer", "corpus", "registry"):
        _require(public[name] == generation[name], f"{name} of the generation")
    failure = None if public["status"] == "answered" else {"code": public["status"]}
    _require(audit["failure"] == failure, "status and failure")
    request = audit["request"]
    _require(request["groups"] == sorted(set(request["groups"])), "groups ascending")
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


def _check_counts(audit: JsonObject) -> None:
    counts = audit["filter_summary"]
    falling = [counts[f"{name}_entries"] for name in ("visible", "matched", "eligible", "selected")]
    _require(falling == sorted(falling, reverse=True), "filter summary")
    _require(counts["visible_documents"] >= len(audit["documents"]), "filter summary, documents")
    _require(counts["selected_entries"] == len(audit["selection"]), "filter summary, selection")


def check_payloads(
    public: JsonObject, audit: JsonObject, generation: JsonObject, raw_bytes: Callable[[str], bytes]
) -> None:
    """Makes everything the payloads say anew and compares it whole. ``raw_bytes`` gives a source by its hash.

    What only the whole of the visible documents could tell (counts, ranking) is checked for consistency alone. Raises
    SelfCheckError; InputError ``schema.violation`` for payloads that their schema does not allow.
    """
    validate(public, "public", "#/properties/payload")
    validate(audit, "audit", "#/properties/payload")
    validate(generation, "generation", "#/properties/payload")
    check_generation(generation)
    _check_agreement(public, audit, generation)
    request = audit["request"]
    documents = {item["document"]: _rederive(item, request, audit["corpus"], raw_bytes) for item in audit["documents"]}
    _require([item["document"] for item in audit["documents"]] == sorted(documents), "documents ascending")
    disclosed: dict[str, set[int]] = {name: set() for name in documents}
    _check_claims(public, documents, disclosed)
    cited = {citation["document"] for claim in public["claims"] for citation in claim["citations"]}
    _require(cited == set(documents), "the cited documents and no others")
    for item in audit["documents"]:
        name = item["document"]
        _check_document(item, documents[name], disclosed[name], generation, request)
    if audit["retrieval"]["method"] == "evidence":
        _check_evidence(public, audit, documents)
    else:
        _check_selection(public, audit)
    _check_counts(audit)
