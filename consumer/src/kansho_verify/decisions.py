"""Step 7, continued: evidence decisions and policy by themselves, and against claims, annotations and artifact.

``docs/spec/bundle.md`` (Selection and claims, Decision), ``evidence.md`` (Policy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kansho_verify import identity
from kansho_verify.artifact import check_against_policy, source_claims
from kansho_verify.canonical_json import JsonObject
from kansho_verify.characters import is_blank
from kansho_verify.escape import shown
from kansho_verify.reasons import Code, Reason

__all__ = ["EVIDENCE", "check_decisions", "check_policy"]

EVIDENCE = "evidence"
"""The retrieval method under which claims come from evidence decisions."""

_PATH = "$.audit.payload.evidence"
_POLICY = "$.audit.payload.policy"


def check_decisions(public: JsonObject, audit: JsonObject) -> Iterator[Reason]:
    """Whether decisions stand exactly where the method has them, and the claims are those that were accepted."""
    decisions = audit["evidence"]
    if audit["retrieval"]["method"] != EVIDENCE:
        if decisions:
            yield Reason(Code.EVIDENCE_UNEXPECTED, _PATH, "decisions stand here, but the method makes none")
        return
    answered = public["status"] == "answered"
    whole = {document["document"]: document["canonical_sha256"] for document in audit["documents"]}
    excerpts = sum(decision["path"].startswith(EVIDENCE) for decision in decisions)
    for i, decision in enumerate(decisions):
        item = f"evidence[{i}]." if i < excerpts else f"proposed_texts[{i - excerpts}]."
        problem = _problem(decision, answered=answered)
        if not decision["path"].startswith(item):
            problem = "the answer's items are decided in order, each once, and none is left out"
        elif i >= excerpts and decision["code"] is None and _differs(decision, whole):
            problem = "a proposed text was accepted that is not the source's"
        if problem is not None:
            yield Reason(Code.EVIDENCE_DECISION_INVALID, f"{_PATH}[{i}]", problem)
    if public["status"] == "evidence_rejected" and all(decision["code"] is None for decision in decisions):
        detail = "the evidence is said to be rejected, but no decision rejects any"
        yield Reason(Code.EVIDENCE_DECISION_INVALID, _PATH, detail)
    if answered:
        yield from _check_claims(public["claims"], decisions, source_claims(public))


def check_policy(public: JsonObject, audit: JsonObject) -> Iterator[Reason]:
    """Whether the policy stands exactly where the method has one, and what it says of sources, roles, annotations."""
    policy = audit["policy"]
    if (policy is not None) != (audit["retrieval"]["method"] == EVIDENCE):
        detail = "a policy belongs to the method evidence, and to no other"
        yield Reason(Code.POLICY_UNEXPECTED, _POLICY, detail)
        return
    if "annotations_unverified" in public and not (policy and policy["include_unverified_annotations"]):
        detail = "annotations stand here, but no policy asks for them"
        yield Reason(Code.ANNOTATION_NOT_ALLOWED, "$.public.payload.annotations_unverified", detail)
    if public["status"] == "answered" and ("artifact" in public) != bool(policy and policy["coverage"]):
        detail = "an artifact stands in the public section exactly where the policy asks for coverage"
        yield Reason(Code.POLICY_ARTIFACT_MISMATCH, "$.public.payload", detail)
    if policy is None:
        return
    yield from _check_selection(policy)
    yield from check_against_policy(public, audit)
    allowed = set(policy["allowed_roles"])
    for i, claim in enumerate(public["claims"]):
        for j, citation in enumerate(claim["citations"]):
            if citation["role"] not in allowed:
                path = f"$.public.payload.claims[{i}].citations[{j}].role"
                detail = "the policy does not allow this role"
                yield Reason(Code.POLICY_ROLE_NOT_ALLOWED, path, detail, found=shown(citation["role"], 64))


def _check_selection(policy: JsonObject) -> Iterator[Reason]:
    for member in ("selected_ids", "source_order"):
        names = policy[member] or []
        if len(set(names)) < len(names):
            yield Reason(Code.POLICY_SELECTION_INVALID, f"{_POLICY}.{member}", "the policy names a source twice")
    if policy["source_order"] is not None and not set(policy["source_order"]).issuperset(policy["selected_ids"]):
        detail = "the order of encounter leaves out a source that the policy selects"
        yield Reason(Code.POLICY_SELECTION_INVALID, f"{_POLICY}.source_order", detail)


def _differs(decision: JsonObject, whole: Mapping[str, str]) -> bool:
    """Whether a proposed text is another than that of the source, where the source is one that is cited."""
    digest: str = decision["excerpt_sha256"]
    return whole.get(decision["source_id"], digest) != digest


def _problem(decision: JsonObject, *, answered: bool) -> str | None:
    accepted = decision["code"] is None
    is_proposed = decision["path"].startswith("proposed_texts")
    if answered and not accepted:
        return "a rejected item, yet the status is answered"
    has_claim = decision["claim"] is not None
    if has_claim and not (answered and accepted and not is_proposed):
        return "a claim is named by a decision that makes none"
    if answered and not is_proposed and not has_claim:
        return "an accepted excerpt without its claim"
    if accepted and decision["path"].endswith(".source_id"):
        return "an accepted item that is no excerpt"
    return None


def _check_claims(
    claims: list[JsonObject], decisions: list[JsonObject], sources: Mapping[str, None]
) -> Iterator[Reason]:
    """The claims are those of the decisions, each once, in order of first decision; then the rest of ``sources``."""
    by_id = {claim["claim"]: claim for claim in claims}
    order: dict[str, None] = {}
    digests: dict[str, str] = {}
    for i, decision in enumerate(decisions):
        name = decision["claim"]
        if name is None:
            continue
        order[name] = None
        claim = by_id.get(name)
        if claim is None:
            yield Reason(Code.EVIDENCE_CLAIMS_MISMATCH, f"{_PATH}[{i}].claim", "no such claim in the public section")
            continue
        if name not in digests:
            digests[name] = identity.text_sha256(claim["text"])
            if is_blank(claim["text"]):
                detail = "an accepted excerpt of nothing but white space and invisible characters"
                yield Reason(Code.EVIDENCE_DECISION_INVALID, f"{_PATH}[{i}]", detail)
        if decision["excerpt_sha256"] != digests[name]:
            detail = "the accepted excerpt is not the claim's text"
            yield Reason(Code.EVIDENCE_CLAIMS_MISMATCH, f"{_PATH}[{i}].excerpt_sha256", detail)
        if [citation["document"] for citation in claim["citations"]] != [decision["source_id"]]:
            detail = "the claim cites another source than the evidence named"
            yield Reason(Code.EVIDENCE_CLAIMS_MISMATCH, f"{_PATH}[{i}].source_id", detail)
    order.update(sources)
    if [claim["claim"] for claim in claims] != list(order):
        detail = "the claims are not those of the decisions in order of the first one, then the rest of the sources"
        yield Reason(Code.EVIDENCE_CLAIMS_MISMATCH, "$.public.payload.claims", detail)
