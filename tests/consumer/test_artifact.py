"""The VerifiedArtifact: what may not pass, whatever is signed, and what a verdict says about it.

The single attacks are in :mod:`tests.consumer.attacks_on_artifacts`.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kansho_verify import Code, Outcome, Result
from kansho_verify.artifact import check_artifact, only_ordered, source_claims
from tests.consumer.attacks import hooked
from tests.consumer.attacks_on_artifacts import EVIDENCE_ONLY, EXCERPTS, TWO_SOURCES, artifact
from tests.consumer.checking import BOUNDARY, PUBLIC, check
from tests.support.forge import ALL_SOURCES, EVIDENCE_ALONE, NOW, REFUND, Doc, Forge, covering

ID = REFUND.document
HONEST = Forge(excerpts=EXCERPTS, policy=TWO_SOURCES)
PAYLOAD: dict[str, Any] = HONEST.public["payload"]
LISTS = ("order", "source_order", "sources", "evidence")


@st.composite
def _other_lists(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A list of the artifact, with its items dropped, repeated or reordered, or with one of an absent source."""
    member = draw(st.sampled_from(LISTS))
    items = copy.deepcopy(PAYLOAD["artifact"][member])
    strange = "blank.txt" if isinstance(items[0], str) else items[0] | {"source_id": "blank.txt"}
    return member, draw(st.lists(st.sampled_from([*items, strange]), max_size=4).filter(lambda other: other != items))


@settings(max_examples=60, deadline=None)
@given(_other_lists())
def test_no_other_artifact_passes_than_the_one_that_policy_and_decisions_give(other: tuple[str, list[Any]]) -> None:
    member, items = other
    verdict = check(artifact(lambda value: value.update({member: items})))
    assert verdict.outcome is Outcome.REJECTED
    assert verdict.codes & {
        Code.ARTIFACT_ORDER_MISMATCH,
        Code.ARTIFACT_EVIDENCE_MISMATCH,
        Code.ARTIFACT_SOURCE_MISMATCH,
        Code.SCHEMA_VIOLATION,
    }


@settings(max_examples=60, deadline=None)
@given(st.text("a1. \n\u00e9", min_size=2, max_size=12), st.data())
def test_a_source_passes_whole_or_not_at_all(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    entries = [(0, 1), (1, len(text))] if data.draw(st.booleans()) else [(0, len(text))]
    doc = Doc("a.txt", text, [], media_type="text/plain", spans=entries)
    forge = Forge(docs=(doc,), excerpts=[], policy=covering(ALL_SOURCES, "a.txt"), materialised={"a.txt": (start, end)})
    for profile in (BOUNDARY, PUBLIC):
        verdict = check(forge, profile=profile)
        is_whole = (start, end) == (0, len(text))
        assert (verdict.outcome is Outcome.ACCEPTED) is is_whole
        assert (Code.ARTIFACT_SOURCE_SHORTENED in verdict.codes) is not is_whole


@pytest.mark.parametrize(
    ("span", "step", "member"), [((1, len(REFUND.text)), 7, "char_start"), ((0, len(REFUND.text) - 1), 10, "char_end")]
)
def test_a_shortened_source_is_named_where_it_is_cited(span: tuple[int, int], step: int, member: str) -> None:
    forge = Forge(excerpts=EXCERPTS, policy=TWO_SOURCES, materialised={ID: span})
    verdict = check(forge)
    reasons = [reason for reason in verdict.checks[step - 1].reasons if reason.code is Code.ARTIFACT_SOURCE_SHORTENED]
    assert [reason.path for reason in reasons] == [f"$.public.payload.claims[3].citations[0].{member}"]
    assert verdict.claims[3].result is not Result.PASS


def test_only_the_shortened_source_fails_in_step_10() -> None:
    verdict = check(Forge(excerpts=EXCERPTS, policy=TWO_SOURCES, materialised={"faq.txt": (0, 5)}))
    assert [claim.result for claim in verdict.claims] == [Result.PASS, Result.PASS, Result.FAIL, Result.PASS]
    assert verdict.claims[2].citations[0].evidence_level is None


def test_a_source_that_nobody_has_is_undecided() -> None:
    verdict = check(HONEST, sources={"faq.txt": HONEST.sources["faq.txt"]})
    assert (verdict.outcome, verdict.claims[3].result) == (Outcome.UNDECIDED, Result.UNDECIDED)


def test_the_cut_source_is_refused_though_the_shorter_file_is_at_hand() -> None:
    """The adversary hands over, with the signed bundle, the file as it would have to be."""
    forge = Forge(excerpts=[], policy=covering(ALL_SOURCES, ID), materialised={ID: (0, len(REFUND.text) - 1)})
    sources = forge.sources | {ID: REFUND.raw[:-1], "original.md": REFUND.raw}
    assert Code.ARTIFACT_SOURCE_SHORTENED in check(forge, sources=sources).codes
    assert check(forge, sources={ID: REFUND.raw[:-1]}).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("status", ["insufficient_evidence", "evidence_rejected"])
def test_an_artifact_without_an_answer(status: str) -> None:
    decided = {"evidence": [{**_rejected(), "code": "wrong_source"}]}
    forge = hooked(
        {"status": status, "method": "evidence", "policy": TWO_SOURCES},
        public=lambda public: public.update(artifact=PAYLOAD["artifact"]),
        audit=lambda audit: audit.update(decided),
    )
    assert Code.SCHEMA_VIOLATION in check(forge).codes


def test_no_artifact_is_missing_where_there_is_no_answer() -> None:
    forge = hooked(
        {"status": "evidence_rejected", "method": "evidence", "policy": TWO_SOURCES},
        audit=lambda audit: audit.update(evidence=[{**_rejected(), "code": "wrong_source"}]),
    )
    assert check(forge).codes == {Code.CLAIMS_NONE}


def _rejected() -> dict[str, Any]:
    return {"path": "evidence[0].excerpt", "source_id": ID, "excerpt_sha256": "0" * 64, "claim": None}


@pytest.mark.parametrize(
    ("forge", "is_said"),
    [
        (HONEST, False),
        (Forge(excerpts=EXCERPTS, policy=EVIDENCE_ONLY), False),
        (Forge(excerpts=EXCERPTS, policy=covering(EVIDENCE_ALONE, "nowhere.txt")), True),
        (Forge(excerpts=EXCERPTS, policy=covering(ALL_SOURCES, ID, source_order=[ID, "nowhere.txt"])), True),
        (Forge(), False),
    ],
)
def test_a_source_that_is_ordered_and_not_cited_is_named_as_not_checked(forge: Forge, is_said: bool) -> None:
    for profile in (BOUNDARY, PUBLIC):
        verdict = check(forge, profile=profile)
        assert verdict.outcome is Outcome.ACCEPTED
        assert any("artifact orders" in line for line in verdict.not_checked) is is_said


def test_the_parts_by_themselves() -> None:
    without = {name: member for name, member in PAYLOAD.items() if name != "artifact"}
    assert list(check_artifact(PAYLOAD)) == list(check_artifact(without)) == []
    assert (list(source_claims(without)), only_ordered(without)) == ([], frozenset())
    assert list(source_claims(PAYLOAD)) == [claim["claim"] for claim in PAYLOAD["claims"][2:]]


def test_an_artifact_of_many_claims_takes_work_in_proportion() -> None:
    """Every name is looked up, none is searched for: a quadratic search over these would not end."""
    count = 60_000
    citation = PAYLOAD["claims"][0]["citations"][0]
    claims = [{"claim": f"clm_{i:064x}", "citations": [citation]} for i in range(count)]
    repeated = {name: citation[name] for name in ("char_start", "char_end", "span_sha256")} | {"source_id": ID}
    value = {
        **PAYLOAD["artifact"],
        "coverage": "selected_evidence",
        "sources": [],
        "evidence": [{"claim": claim["claim"], **repeated} for claim in claims],
    }
    assert list(check_artifact({"claims": claims, "artifact": value})) == []


def test_an_artifact_of_an_expired_generation_is_stale() -> None:
    forge = hooked(
        {"excerpts": EXCERPTS, "policy": TWO_SOURCES}, generation=lambda payload: payload.update(expires_at=NOW - 1)
    )
    assert check(forge).codes == {Code.GENERATION_EXPIRED}
