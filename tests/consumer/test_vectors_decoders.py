"""The public and derived vectors, run against the consumer's own decoders."""

from __future__ import annotations

import base64
import bz2
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from kansho_verify import Code, VerifyError, cbor, cose, document_map, ed25519, strict_json
from kansho_verify.canonical_json import canonical
from kansho_verify.text import canonical_text
from tests.support.forge import Forge, b64

LIMIT = 2**20


def load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def code_of(call: Any, *arguments: Any, **keywords: Any) -> Code | None:
    try:
        call(*arguments, **keywords)
    except VerifyError as error:
        return error.reason.code
    return None


def test_json_test_suite(vectors: Path) -> None:
    suite = load(vectors / "json" / "JSONTestSuite" / "cases.json")["files"]
    features = load(vectors / "json" / "JSONTestSuite" / "features.json")["y_cases"]
    files = {name.rpartition("/")[2]: base64.b64decode(data) for name, data in suite.items()}
    files["n_opening_arrays"] = b"[" * 100_000
    files["n_open_array_object"] = b'[{"":' * 50_000 + b"\n"
    form_only = {Code.JSON_NOT_CANONICAL, None}
    for name, data in files.items():
        code = code_of(strict_json.parse, data, limit_bytes=LIMIT)
        if name.startswith("n_"):
            assert code not in form_only, name
        elif name.startswith("y_") and not features[name]:
            # The one restriction of the domain that features.json does not list: names are [a-z][a-z0-9_]*.
            assert code in form_only or (code is Code.JSON_KEY and name == "y_object_empty_key.json"), name


def test_jcs_files_are_outside_the_domain_and_nothing_worse(vectors: Path) -> None:
    paths = sorted((vectors / "json" / "jcs" / "output").glob("*.json"))
    assert len(paths) == 6
    for path in paths:
        code = code_of(strict_json.parse, path.read_bytes(), limit_bytes=LIMIT)
        assert code in {None, Code.JSON_KEY, Code.JSON_NUMBER, Code.JSON_INTEGER_RANGE}, path.name


def test_cbor_that_is_not_well_formed(vectors: Path) -> None:
    cases = load(vectors / "cbor" / "rfc8949_appendix_f_not_well_formed.json")
    assert len(cases) == 94
    for case in cases:
        assert code_of(cbor.decode, bytes.fromhex(case["hex"])) is not None, case


def test_cbor_strict_profile(vectors: Path) -> None:
    for case in load(vectors / "cbor" / "derived_strict_profile.json")["cases"]:
        if case["reason"] == "unicode-duplicate":
            continue  # two names that differ by normalisation only: the closed header has no text names at all
        code = code_of(cbor.decode, bytes.fromhex(case["hex"]))
        assert (code is None) == (case["expect"] == "accept"), case["description"]


def test_cose_of_other_profiles_is_refused(vectors: Path) -> None:
    """Every envelope here is outside the closed profile, by its header if by nothing else."""
    payload = Forge().public["payload"]
    for case in load(vectors / "cose" / "derived_ed25519_sign1.json")["cases"]:
        code = code_of(cose.read_envelope, b64(bytes.fromhex(case["cbor_hex"])), payload)
        assert code is not None, case["id"]
        if case["layer"] in ("wellformed", "canonical"):
            assert str(code).startswith(("cbor.", "cose.", "limits.")), case["id"]


def test_ed25519_key_hygiene(vectors: Path) -> None:
    expected = load(vectors / "ed25519" / "derived_expected.json")
    accepted = [
        case["number"]
        for case in load(vectors / "ed25519" / "cctv_ed25519vectors.json")
        if _verifies(case["key"], case["sig"], case["msg"].encode())
    ]
    assert accepted == expected["cctv_accept"]["prime_order_key"]
    for case in load(vectors / "ed25519" / "speccheck_cases.json"):
        assert not _verifies(case["pub_key"], case["signature"], bytes.fromhex(case["message"]))


def test_ed25519_good_keys_are_kept(vectors: Path) -> None:
    for line in (vectors / "ed25519" / "sign.input.first256").read_text("ascii").splitlines():
        assert code_of(ed25519.check_public_key, bytes.fromhex(line.split(":")[1])) is None


def test_inclusion_proofs(vectors: Path) -> None:
    seen = 0
    for case in load(vectors / "merkle" / "transparency_dev_proofs.json"):
        if "leafHash" not in case:
            continue
        seen += 1
        holds = document_map.verify_inclusion(
            index=case["leafIdx"],
            size=case["treeSize"],
            leaf=_bytes(case["leafHash"]),
            proof=[_bytes(item) for item in case["proof"] or ()],
            root=_bytes(case["root"]),
        )
        assert holds == (not case["wantErr"]), case["path"]
    assert seen > 50


def test_normalisation(vectors: Path) -> None:
    rows = bz2.decompress((vectors / "unicode" / "NormalizationTest.txt.bz2").read_bytes()).decode()
    seen = 0
    for row in rows.splitlines():
        if not row or row[0] in "#@":
            continue
        columns = ["".join(chr(int(point, 16)) for point in column.split()) for column in row.split(";")[:5]]
        for source, wanted in ((0, 1), (1, 1), (2, 1), (3, 3), (4, 3)):
            assert canonical_text(columns[source].encode(), unicode_version="15.0.0") == columns[wanted]
        seen += 1
    assert seen > 18_000


@pytest.mark.parametrize("name", ["blns.json"])
def test_naughty_strings(vectors: Path, name: str) -> None:
    for text in load(vectors / "bad-input" / name):
        data = canonical({"text": text})
        assert strict_json.parse(data, limit_bytes=LIMIT) == {"text": text}


def _bytes(text: str | None) -> bytes:
    return base64.b64decode(text or "")


def _verifies(key: str, signature: str, message: bytes) -> bool:
    raw = bytes.fromhex(key)
    if code_of(ed25519.check_public_key, raw) is not None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True
