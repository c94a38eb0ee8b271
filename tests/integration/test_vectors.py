"""``tests/vectors``: rebuilt byte for byte by the producer, decided alike by the consumer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kansho_verify import reasons
from tests.support.cases import FOLDER, codes, verify_case
from tests.vectors import build

CASES: list[dict[str, Any]] = json.loads((FOLDER / "bundles" / "cases.json").read_bytes())["cases"]


def test_every_vector_is_rebuilt_byte_for_byte() -> None:
    built = build.files()
    kept = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*.json")}
    assert sorted(kept) == sorted(built)
    assert [name for name in built if kept[name] != built[name]] == [], "run: make vectors"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_consumer_decides_as_the_vector_says(case: dict[str, Any]) -> None:
    verdict = verify_case(case)
    found = set(codes(verdict))
    assert verdict.exit_code == case["exit_code"], sorted(found)
    assert set(case["codes"]) <= found
    assert (verdict.exit_code == 0) == (case["codes"] == []), "a refusing vector names its reason"


def test_the_example_trust_root_is_the_one_of_the_vectors() -> None:
    assert build.EXAMPLE_TRUST_ROOT.read_bytes() == (FOLDER / "bundles" / "trust-root.json").read_bytes()


def test_every_code_of_a_vector_is_documented() -> None:
    known = {str(code) for code in reasons.Code}
    assert {code for case in CASES for code in case["codes"]} <= known


def test_every_bundle_belongs_to_a_case() -> None:
    used = {case[name] for case in CASES for name in ("bundle", "trust_root", "generation", "live")} - {None}
    assert {path.name for path in (FOLDER / "bundles").iterdir()} == used | {"cases.json"}


def test_base64_of_the_vectors_is_base64url_without_padding() -> None:
    for vector in json.loads((FOLDER / "signatures.json").read_bytes())["vectors"]:
        assert "=" not in vector["envelope"]
        assert base64.urlsafe_b64decode(vector["envelope"] + "=" * (-len(vector["envelope"]) % 4))[0] == 0xD2
