"""The consumer's own files pass the same checks as the bundle; where they fail, the reason stands under their step."""

from __future__ import annotations

from typing import Any

import pytest

from kansho_verify import Code, Profile, Result
from kansho_verify.explanations import result_of
from tests.consumer.attacks import change, hooked
from tests.consumer.checking import check
from tests.support import forge as forging
from tests.support.forge import NOW, Forge, TestKey, canonical

STEP = {"trust_root": 5, "generation": 8, "live": 11}
BROKEN: list[tuple[bytes, Code]] = [
    (b"", Code.JSON_SYNTAX),
    (b"\xff", Code.JSON_UTF8),
    (b"{}", Code.SCHEMA_VIOLATION),
    (b'{"a":1,"a":1}', Code.JSON_DUPLICATE_KEY),
    (b"[" * 100, Code.LIMITS_DEPTH),
]


@pytest.mark.parametrize("name", STEP)
@pytest.mark.parametrize(("data", "code"), BROKEN)
def test_a_broken_file_fails_its_step(name: str, data: bytes, code: Code) -> None:
    given: dict[str, Any] = {name: data}
    verdict = check(Forge(), **given)
    assert verdict.exit_code == 3
    failed = [one for one in verdict.checks if one.result is Result.FAIL]
    assert [one.step for one in failed] == [STEP[name]]
    assert code in {reason.code for reason in failed[0].reasons}
    assert all(reason.path == "" for reason in failed[0].reasons)


@pytest.mark.parametrize("name", ["generation", "live"])
def test_a_file_signed_by_another_role_fails_its_step(name: str) -> None:
    made = Forge()
    forged = canonical(forging.sign(getattr(made, name)["payload"], [TestKey("citation")]))
    given: dict[str, Any] = {name: forged}
    verdict = check(made, **given)
    assert Code.SIGNATURE_WRONG_ROLE in verdict.codes
    assert verdict.checks[STEP[name] - 1].result is Result.FAIL


def test_a_trust_root_signed_by_another_role() -> None:
    made = Forge()
    forged = canonical(forging.sign(made.trust_root["payload"], [TestKey("live")]))
    assert Code.SIGNATURE_WRONG_ROLE in check(made, trust_root=forged).codes


def test_a_self_made_trust_root_does_not_fit_the_bundle() -> None:
    """Whoever makes a trust root of their own, for the same issuer and corpus, has other keys."""
    own = Forge(signers={role: [TestKey("mine " + role)] for role in forging.ROLES})
    assert Code.SIGNATURE_KEY_UNKNOWN in check(Forge(), trust_root=own.trust_root_bytes).codes


def test_files_given_in_each_others_place() -> None:
    made = Forge()
    verdict = check(made, live=made.generation_bytes, generation=made.live_bytes)
    assert {one.step for one in verdict.checks if one.result is Result.FAIL} == {8, 11}


def test_a_retired_root_key_leaves_the_trust_root_undecided() -> None:
    made = Forge(keys={"root": {"retired_at": NOW - 10}})
    verdict = check(made)
    assert verdict.exit_code == 4
    assert [one.step for one in verdict.checks if one.result is not Result.PASS] == [5, 12]


def test_a_broken_live_state_demands_no_trust_root() -> None:
    made = hooked(live=change(minimum_trust_root_version=9))
    bad = canonical(forging.sign(made.live["payload"], [TestKey("stranger")]))
    codes = check(made, live=bad).codes
    assert Code.TRUST_ROOT_TOO_OLD not in codes
    assert Code.SIGNATURE_KEY_UNKNOWN in codes


def test_the_public_profile_reads_neither_live_state_nor_generation() -> None:
    assert check(Forge(), profile=Profile.PUBLIC, live=b"{", generation=b"{").exit_code == 0


def test_every_result_has_codes() -> None:
    assert {result_of(code) for code in Code} == {Result.FAIL, Result.STALE, Result.UNDECIDED}
