"""Bundles of a request's own sources: what is not demanded of them, and what still is."""

from __future__ import annotations

from typing import Any

import pytest

from kansho_verify import Code, Expectations, Outcome, Result, project, read_registry
from kansho_verify.checklist import Step
from kansho_verify.profiles import is_expected_request
from tests.consumer.attacks import ONE_EXCERPT, change, hooked
from tests.consumer.attacks_on_artifacts import TWO_SOURCES
from tests.consumer.checking import AUDIT, PUBLIC, check
from tests.support import forge as forging
from tests.support.forge import NOW, REFUND, Forge, TestKey, canonical

EXPECTED = {"allow_request_registry": True}
NOTHING: dict[str, Any] = {"generation": None, "live": None}
OPTIONS: dict[str, Any] = {"registry": "request", "excerpts": ONE_EXCERPT}
REQUEST = Forge(**OPTIONS, policy=TWO_SOURCES)
KEY = REQUEST.key_of(REFUND.document).hex()


def _live(**members: Any) -> Any:
    """The verdict with a live state that was given."""
    return check(hooked(OPTIONS, live=change(**members)), expected=EXPECTED)


def test_nothing_is_missing_where_nothing_is_given() -> None:
    sources = read_registry(canonical(REQUEST.registry_document))
    verdict = check(REQUEST, expected=EXPECTED, sources=sources, **NOTHING)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.codes
    assert {claim.result for claim in verdict.claims} == {Result.PASS}
    step = verdict.checks[Step.LIVE - 1]
    assert (step.required, step.result, step.reasons) == (False, Result.NOT_REQUIRED, ())
    said = " ".join(verdict.not_checked)
    assert "whether a request's own sources still hold" in said
    assert "authorization now" in said


def test_what_a_live_state_that_was_given_tells_is_said() -> None:
    verdict = _live()
    assert verdict.outcome is Outcome.ACCEPTED
    step = verdict.checks[Step.LIVE - 1]
    assert (step.required, step.result) == (True, Result.PASS)
    said = " ".join(verdict.not_checked)
    assert "whether a request's own sources still hold" in said
    assert "authorization now" not in said


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"expires_at": NOW - 1}, Code.LIVE_EXPIRED),
        ({"authorization_revision": "auth-2"}, Code.LIVE_AUTHORIZATION_CHANGED),
        ({"corpus": "f" * 32}, Code.LIVE_CORPUS_MISMATCH),
        ({"issuer": "Other"}, Code.LIVE_CORPUS_MISMATCH),
        ({"minimum_trust_root_version": 4}, Code.TRUST_ROOT_TOO_OLD),
        ({"issued_at": NOW + 301}, Code.TIME_IN_FUTURE),
        ({"blocked": [KEY, KEY]}, Code.SCHEMA_NOT_ASCENDING),
    ],
)
def test_a_live_state_that_was_given_counts(members: dict[str, Any], code: Code) -> None:
    verdict = _live(**members)
    assert verdict.codes == {code}
    assert verdict.outcome in (Outcome.STALE, Outcome.REJECTED)


def test_a_live_state_of_another_key_counts() -> None:
    forged = canonical(forging.sign(REQUEST.live["payload"], [TestKey("citation")]))
    assert check(REQUEST, expected=EXPECTED, live=forged).codes == {Code.SIGNATURE_WRONG_ROLE}


@pytest.mark.parametrize("members", [{"blocked": [KEY]}, {"tombstones": [{"document_key": KEY, "event_sequence": 9}]}])
def test_what_is_deleted_or_blocked_is_of_another_map(members: dict[str, Any]) -> None:
    assert _live(**members).outcome is Outcome.ACCEPTED


def test_a_caller_who_waives_the_live_state_reads_none() -> None:
    verdict = check(REQUEST, expected={**EXPECTED, "no_live": True}, live=b"{")
    assert verdict.outcome is Outcome.ACCEPTED
    assert "authorization now" in " ".join(verdict.not_checked)


@pytest.mark.parametrize("given", [{}, NOTHING])
def test_a_request_registry_that_nobody_expects(given: dict[str, Any]) -> None:
    verdict = check(REQUEST, **given)
    assert Code.GENERATION_REQUEST_REGISTRY in verdict.codes
    assert verdict.outcome is Outcome.REJECTED


def test_a_published_registry_is_as_before() -> None:
    verdict = check(Forge(), expected=EXPECTED, **NOTHING)
    assert verdict.codes == {Code.LIVE_MISSING, Code.GENERATION_CURRENT_UNKNOWN}
    assert check(Forge(), expected=EXPECTED, live=None).codes == {Code.LIVE_MISSING}
    gone = hooked({"excerpts": ONE_EXCERPT}, live=change(blocked=[Forge().key_of(REFUND.document).hex()]))
    assert check(gone, expected=EXPECTED).codes == {Code.LIVE_DOCUMENT_BLOCKED}


@pytest.mark.parametrize("section", ["public", "generation"])
def test_a_published_registry_that_calls_itself_a_requests(section: str) -> None:
    """By which the live state would be saved: the two signed sections have to agree."""
    forge = hooked({"excerpts": ONE_EXCERPT}, **{section: change(registry="request")})
    verdict = check(forge, expected=EXPECTED, **NOTHING)
    assert Code.SECTION_REGISTRY_MISMATCH in verdict.codes
    assert verdict.outcome is Outcome.REJECTED


def test_a_published_registry_relabelled_without_a_key() -> None:
    data = Forge().bundle_bytes.replace(b'"registry":"published"', b'"registry":"request"')
    verdict = check(Forge(), data=data, expected=EXPECTED, **NOTHING)
    assert Code.SIGNATURE_INVALID in verdict.codes
    assert verdict.outcome is Outcome.REJECTED


def test_a_published_generation_relabelled_with_every_key() -> None:
    """A chain and a sequence belong to what was published."""
    both = {"public": change(registry="request"), "generation": change(registry="request")}
    codes = check(hooked({"excerpts": ONE_EXCERPT}, **both), expected=EXPECTED, **NOTHING).codes
    assert {Code.GENERATION_CHAIN_INVALID, Code.GENERATION_ID_MISMATCH} <= codes


def test_a_request_registry_with_a_past_is_refused() -> None:
    forge = hooked(OPTIONS, generation=change(sequence=2, previous_sha256="0" * 64))
    assert Code.GENERATION_CHAIN_INVALID in check(forge, expected=EXPECTED, **NOTHING).codes


def test_a_request_registry_expires() -> None:
    forge = hooked(OPTIONS, generation=change(expires_at=NOW - 1))
    assert check(forge, expected=EXPECTED, **NOTHING).codes == {Code.GENERATION_EXPIRED}


def test_only_what_is_missing_is_named() -> None:
    given: dict[str, Any] = {**NOTHING, "sources": None, "trust_root": None}
    verdict = check(REQUEST, expected={**EXPECTED, "question": None}, **given)
    assert verdict.codes == {
        Code.TRUST_ROOT_MISSING,
        Code.REQUEST_QUESTION_MISSING,
        Code.SOURCE_NOT_GIVEN,
        Code.CHECK_NOT_REACHED,
    }


def test_without_the_audit_section_only_that_is_missing() -> None:
    verdict = check(REQUEST, data=project(REQUEST.bundle_bytes), expected=EXPECTED, **NOTHING)
    assert {Code.SECTION_AUDIT_MISSING} <= verdict.codes
    assert not verdict.codes & {Code.LIVE_MISSING, Code.GENERATION_CURRENT_UNKNOWN}
    assert verdict.outcome is Outcome.UNDECIDED


def test_the_profile_audit_still_demands_the_pack() -> None:
    verdict = check(REQUEST, profile=AUDIT, expected=EXPECTED, **NOTHING)
    assert verdict.codes == {Code.AUDIT_PACK_MISSING}
    assert verdict.checks[Step.LIVE - 1].result is Result.NOT_REQUIRED
    assert check(Forge(), profile=AUDIT, expected=EXPECTED, live=None).codes == {
        Code.AUDIT_PACK_MISSING,
        Code.LIVE_MISSING,
    }


def test_the_public_profile_says_what_it_does_not_ask() -> None:
    verdict = check(REQUEST, profile=PUBLIC, **NOTHING)
    assert verdict.outcome is Outcome.ACCEPTED
    assert (verdict.registry, any("request's own" in line for line in verdict.not_checked)) == ("request", True)
    assert not any("request's own" in line for line in check(Forge(), profile=PUBLIC).not_checked)


def test_a_source_is_looked_for_as_any_other() -> None:
    document = REQUEST.registry_document
    document["sources"][0]["text"] += "!"
    verdict = check(REQUEST, expected=EXPECTED, sources=read_registry(canonical(document)), **NOTHING)
    assert verdict.codes == {Code.SOURCE_RAW_HASH_MISMATCH}


@pytest.mark.parametrize(
    ("registry", "is_allowed", "is_expected"),
    [("request", True, True), ("request", False, False), ("published", True, False), (None, True, False)],
)
def test_when_one_is_expected(registry: str | None, is_allowed: bool, is_expected: bool) -> None:
    assert is_expected_request(registry, Expectations(allow_request_registry=is_allowed)) is is_expected
