"""Every attack is refused by the rule that it breaks, and every reason code has an attack."""

from __future__ import annotations

import pytest

from kansho_verify import Code, Outcome, Result
from kansho_verify.explanations import EXPLANATIONS, result_of
from tests.consumer import attacks, attacks_on_artifacts
from tests.consumer.attacks import Attack

ATTACKS = [*attacks.ATTACKS, *attacks_on_artifacts.ARTIFACT_ATTACKS]

EXIT = {Result.FAIL: 3, Result.STALE: 5, Result.UNDECIDED: 4}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.code}-{attack.name}")
def test_attack_is_refused_by_its_rule(attack: Attack) -> None:
    verdict = attack.run()
    assert attack.code in verdict.codes, sorted(verdict.codes)
    assert verdict.outcome is not Outcome.ACCEPTED
    found = {result_of(code) for code in verdict.codes}
    assert verdict.exit_code == next(EXIT[result] for result in EXIT if result in found)
    if result_of(attack.code) is Result.FAIL:
        others = {code for code in verdict.codes if result_of(code) is Result.FAIL}
        assert attack.code in others


def test_every_code_has_an_attack() -> None:
    assert {attack.code for attack in ATTACKS} == set(Code)


def test_every_code_is_explained() -> None:
    assert set(EXPLANATIONS) == set(Code)
    for explanation in EXPLANATIONS.values():
        assert explanation.meaning.endswith(".")
        assert explanation.action.endswith(".")


def test_attack_names_are_different() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names))


STEPS = {
    "limits": {1, 2, 4, 5, 10},
    "json": {2},
    "schema": {3},
    "base64url": {4},
    "cbor": {4},
    "cose": {4},
    "trust_root": {5},
    "key": {5, 6},
    "signature": {5, 6},
    "time": {5, 6},
    "section": {7},
    "request": {7},
    "status": {7},
    "claim": {7},
    "claims": {7},
    "evidence": {7},
    "policy": {7},
    "annotation": {7},
    "artifact": {7, 10},
    "generation": {8},
    "acl": {9},
    "document": {9},
    "entry": {9},
    "citation": {9},
    "selection": {9},
    "source": {10},
    "text": {10},
    "span": {10},
    "live": {8, 11},
    "audit": {12},
    "pin": {1, 8},
}
"""Where the table in ``verification.md`` puts the codes of each family, for reasons about a bundle."""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.code}-{attack.name}")
def test_a_reason_stands_under_its_step(attack: Attack) -> None:
    for check in attack.run().checks:
        for reason in check.reasons:
            family = reason.code.partition(".")[0]
            assert family == "check" or check.step in STEPS[family], (check.step, reason)
            assert result_of(reason.code) in (check.result, Result.STALE, Result.UNDECIDED)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.code}-{attack.name}")
def test_after_a_failed_step_no_later_one_passes(attack: Attack) -> None:
    failed = 13
    for check in attack.run().checks:
        if check.step > failed and check.step <= 9:
            assert check.result is not Result.PASS
        if check.result is Result.FAIL:
            failed = min(failed, check.step)
