"""The project's own vectors (``tests/vectors``), read by the consumer alone."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from kansho_verify import VerifyError, cose, document_map, ed25519, identity, text
from kansho_verify.canonical_json import canonical
from tests import ROOT

FOLDER = ROOT / "tests" / "vectors"


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def test_texts() -> None:
    for vector in load("text")["vectors"]:
        raw = base64.b64decode(vector["raw_base64"])
        try:
            found, code = text.canonical_text(raw, unicode_version="18.0.0"), None
        except VerifyError as error:
            found, code = None, str(error.reason.code)
        assert (found, code) == (vector["text"], vector["code"]), vector["name"]
        if found is not None:
            assert identity.text_sha256(found) == vector["canonical_sha256"]


def test_identities() -> None:
    for vector in load("identities")["vectors"]:
        record = {**vector["members"], "kind": vector["kind"], "scheme": identity.SCHEME}
        assert canonical(record).decode() == vector["preimage"]
        assert vector["identity"].endswith(hashlib.sha256(canonical(record)).hexdigest())


def test_signatures() -> None:
    for vector in load("signatures")["vectors"]:
        public_key = cose.base64url(vector["public_key"])
        assert ed25519.thumbprint(public_key) == vector["thumbprint"]
        envelope = cose.read_envelope(vector["envelope"], vector["payload"])
        digest = hashlib.sha256(canonical(vector["payload"])).digest()
        assert digest.hex() == vector["statement_sha256"]
        cose.verify_envelope(
            envelope, public_key=public_key, alg=envelope.alg, payload=vector["payload"], digest=digest
        )


def test_document_keys() -> None:
    trees = load("trees")
    salt = bytes.fromhex(trees["map_salt"])
    for vector in trees["document_keys"]:
        key = document_map.document_key(salt, tenant=vector["tenant"], document=vector["document"])
        assert key.hex() == vector["document_key"]


@pytest.mark.parametrize("position", range(5))
def test_absence(position: int) -> None:
    vector = load("trees")["maps"][position]
    root = bytes.fromhex(vector["root"])
    for absent in vector["absent"]:
        other = absent["other"]
        pair = None
        if other is not None:
            pair = (bytes.fromhex(other["document_key"]), bytes.fromhex(other["record_sha256"]))
        siblings = [bytes.fromhex(item) for item in absent["siblings"]]
        key = bytes.fromhex(absent["document_key"])
        assert document_map.verify_absence(root=root, key=key, siblings=siblings, other=pair)
        assert not document_map.verify_absence(root=bytes(31) + b"\1", key=key, siblings=siblings, other=pair)


@pytest.mark.parametrize("position", range(5))
def test_membership(position: int) -> None:
    vector = load("trees")["maps"][position]
    root = bytes.fromhex(vector["root"])
    for present in vector["present"]:
        record = {name: value for name, value in present["record"].items() if name not in ("kind", "scheme")}
        siblings = [bytes.fromhex(item) for item in present["siblings"]]
        key = bytes.fromhex(record["document_key"])
        assert document_map.verify_membership(root=root, key=key, record=record, siblings=siblings)
        changed = record | {"event_sequence": record["event_sequence"] + 1}
        assert not document_map.verify_membership(root=root, key=key, record=changed, siblings=siblings)
        assert not document_map.verify_membership(root=root, key=key, record=record, siblings=[*siblings, bytes(32)])


def test_entry_trees() -> None:
    for vector in load("trees")["entry_trees"]:
        leaves = [hashlib.sha256(b"\0" + leaf.encode()).digest() for leaf in vector["leaves"]]
        root = document_map.entry_root(leaves)
        assert root.hex() == vector["root"]
        for index, proof in enumerate(vector["proofs"]):
            nodes = [bytes.fromhex(item) for item in proof]
            for other in range(len(leaves)):
                holds = document_map.verify_inclusion(
                    index=other, size=len(leaves), leaf=leaves[index], proof=nodes, root=root
                )
                assert holds == (other == index)
