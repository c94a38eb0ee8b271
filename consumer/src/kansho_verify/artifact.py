"""Step 7, continued: the VerifiedArtifact against the claims, and against the policy and the decisions.

An artifact holds no wording of its own, it names claims. Whoever holds every key could still leave a source out, put
another in its place or cut it: so each name is followed to its claim, and the claims are followed back.
``docs/spec/bundle.md`` (Artifact; Selection and claims), ``evidence.md`` (Policy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kansho_verify.canonical_json import JsonObject
from kansho_verify.reasons import Code, Reason

__all__ = ["check_against_policy", "check_artifact", "only_ordered", "source_claims"]

_CLAIMS = "$.public.payload.claims"
_PATH = "$.public.payload.artifact"
_WHOLE_SOURCES = "all_selected_sources"  # the coverage that materialises sources; the other one, evidence alone
_IN_CITATION = {
    "source_id": "document",
    "char_start": "char_start",
    "char_end": "char_end",
    "span_sha256": "span_sha256",
}


class _Placed(NamedTuple):
    """A claim with its position in the public section."""

    position: int
    claim: JsonObject


def check_artifact(public: JsonObject) -> Iterator[Reason]:
    """What an artifact must satisfy by the public payload alone; a payload without one satisfies it.

    Yields ``artifact.order_mismatch``, ``artifact.claim_unknown``, ``artifact.source_mismatch``,
    ``artifact.source_shortened`` (the first code point; the last one needs the source's text, step 10),
    ``artifact.evidence_mismatch``.
    """
    artifact = public.get("artifact")
    if artifact is None:
        return
    claims = {claim["claim"]: _Placed(i, claim) for i, claim in enumerate(public["claims"])}
    yield from _check_orders(artifact)
    for i, source in enumerate(artifact["sources"]):
        yield from _check_source(source, claims, f"{_PATH}.sources[{i}]")
    for i, item in enumerate(artifact["evidence"]):
        yield from _check_item(item, claims, f"{_PATH}.evidence[{i}]")
    yield from _check_claims(public["claims"], artifact)


def check_against_policy(public: JsonObject, audit: JsonObject) -> Iterator[Reason]:
    """What an artifact must repeat of the policy, and that its evidence is what was decided, no more and no less.

    Whether one has to be there at all is for :func:`kansho_verify.decisions.check_policy`. Yields
    ``policy.artifact_mismatch``, ``artifact.order_mismatch``, ``artifact.evidence_mismatch``.
    """
    artifact, policy = public.get("artifact"), audit["policy"]
    if artifact is None or policy is None or policy["coverage"] is None:
        return
    if artifact["coverage"] != policy["coverage"]:
        detail = "the artifact has another coverage than the policy"
        found = artifact["coverage"]
        yield Reason(Code.POLICY_ARTIFACT_MISMATCH, f"{_PATH}.coverage", detail, policy["coverage"], found)
    if artifact["order"] != policy["selected_ids"]:
        detail = "the sources that the artifact orders are not those that the policy selects, in their order"
        yield Reason(Code.ARTIFACT_ORDER_MISMATCH, f"{_PATH}.order", detail)
    encountered = policy["selected_ids"] if policy["source_order"] is None else policy["source_order"]
    if artifact["source_order"] != encountered:
        detail = "the order of encounter is not the policy's"
        yield Reason(Code.ARTIFACT_ORDER_MISMATCH, f"{_PATH}.source_order", detail)
    decided = dict.fromkeys(decision["claim"] for decision in audit["evidence"] if decision["claim"] is not None)
    if [item["claim"] for item in artifact["evidence"]] != list(decided):
        detail = "the evidence is not every claim that a decision named, each once, in order of its first decision"
        yield Reason(Code.ARTIFACT_EVIDENCE_MISMATCH, f"{_PATH}.evidence", detail)


def source_claims(public: JsonObject) -> dict[str, None]:
    """The ids of the claims that are whole sources of the artifact, each once, in the order of the sources."""
    artifact = public.get("artifact")
    return {} if artifact is None else _claims_of_sources(artifact)


def only_ordered(public: JsonObject) -> frozenset[str]:
    """The documents that the artifact puts in an order though no citation is of them: nothing else tells of them."""
    artifact = public.get("artifact")
    if artifact is None:
        return frozenset()
    cited = {citation["document"] for claim in public["claims"] for citation in claim["citations"]}
    return frozenset((*artifact["order"], *artifact["source_order"])) - cited


def _claims_of_sources(artifact: JsonObject) -> dict[str, None]:
    return dict.fromkeys(source["claim"] for source in artifact["sources"])


def _check_orders(artifact: JsonObject) -> Iterator[Reason]:
    """The schema lets neither order name a source twice."""
    order = artifact["order"]
    expected = order if artifact["coverage"] == _WHOLE_SOURCES else []
    if [source["source_id"] for source in artifact["sources"]] != expected:
        detail = "the sources are not those of the order, each once, as the coverage demands"
        yield Reason(Code.ARTIFACT_ORDER_MISMATCH, f"{_PATH}.sources", detail)
    if not set(artifact["source_order"]).issuperset(order):
        detail = "the order of encounter leaves out a selected source"
        yield Reason(Code.ARTIFACT_ORDER_MISMATCH, f"{_PATH}.source_order", detail)


def _check_source(source: JsonObject, claims: Mapping[str, _Placed], path: str) -> Iterator[Reason]:
    placed = claims.get(source["claim"])
    if placed is None:
        yield _unknown(path)
        return
    citations = placed.claim["citations"]
    if [(citation["document"], citation["role"]) for citation in citations] != [(source["source_id"], source["role"])]:
        detail = "the claim does not have one citation, of this source in this role"
        yield Reason(Code.ARTIFACT_SOURCE_MISMATCH, path, detail)
    for j, citation in enumerate(citations):
        if citation["char_start"] > 0:
            place = f"{_CLAIMS}[{placed.position}].citations[{j}].char_start"
            detail = "a source of the artifact is not cited from its first code point"
            yield Reason(Code.ARTIFACT_SOURCE_SHORTENED, place, detail, "0", str(citation["char_start"]))


def _check_item(item: JsonObject, claims: Mapping[str, _Placed], path: str) -> Iterator[Reason]:
    placed = claims.get(item["claim"])
    if placed is None:
        yield _unknown(path)
        return
    citations = placed.claim["citations"]
    if len(citations) != 1:
        detail = "evidence of a claim that does not have one citation"
        yield Reason(Code.ARTIFACT_EVIDENCE_MISMATCH, f"{path}.claim", detail)
        return
    for member, cited in _IN_CITATION.items():
        if item[member] != citations[0][cited]:
            detail = "the evidence does not repeat its claim's citation"
            yield Reason(Code.ARTIFACT_EVIDENCE_MISMATCH, f"{path}.{member}", detail)


def _check_claims(claims: list[JsonObject], artifact: JsonObject) -> Iterator[Reason]:
    """The claims are those of the evidence, then those of the sources that are not among them, in their order."""
    listed = [claim["claim"] for claim in claims]
    evidence = [item["claim"] for item in artifact["evidence"]]
    known = set(evidence)
    rest = [name for name in _claims_of_sources(artifact) if name not in known]
    known.update(rest)
    unnamed = next((i for i, name in enumerate(listed) if name not in known), None)
    if unnamed is not None:
        detail = "a claim that is neither evidence nor a source of the artifact"
        yield Reason(Code.ARTIFACT_EVIDENCE_MISMATCH, f"{_CLAIMS}[{unnamed}]", detail)
    if evidence != listed[: len(evidence)]:
        detail = "the evidence is not the first claims, each once, in their order"
        yield Reason(Code.ARTIFACT_EVIDENCE_MISMATCH, f"{_PATH}.evidence", detail)
    elif unnamed is None and listed[len(evidence) :] != rest:
        detail = "the claims of the sources do not follow those of the evidence in the order of the sources"
        yield Reason(Code.ARTIFACT_ORDER_MISMATCH, _CLAIMS, detail)


def _unknown(path: str) -> Reason:
    return Reason(Code.ARTIFACT_CLAIM_UNKNOWN, f"{path}.claim", "the artifact names a claim that is not here")
