"""Proofs of membership, absence and inclusion, against the forger's recursive trees."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import document_map
from kansho_verify.canonical_json import canonical
from tests.support.forge import tree, tree_proof, trie, trie_siblings

NAMES = st.lists(st.integers(0, 10**6), unique=True, max_size=24)


def _record(number: int) -> tuple[bytes, dict[str, object]]:
    key = hashlib.sha256(str(number).encode()).digest()
    return key, {"document_key": key.hex(), "entry_count": number}


def _hashed(record: dict[str, object]) -> bytes:
    return hashlib.sha256(canonical(record | {"kind": "document_record", "scheme": "kansho.v1"})).digest()


@given(st.integers(0, 70), st.data())
def test_inclusion(size: int, data: st.DataObject) -> None:
    leaves = [hashlib.sha256(bytes([i])).digest() for i in range(size)]
    root = document_map.entry_root(leaves)
    assert root == tree(leaves)
    if not size:
        assert not document_map.verify_inclusion(index=0, size=0, leaf=root, proof=[], root=root)
        return
    index = data.draw(st.integers(0, size - 1))
    proof = [bytes.fromhex(item) for item in tree_proof(leaves, index)]

    def holds(**changed: object) -> bool:
        good = {"index": index, "size": size, "leaf": leaves[index], "proof": proof, "root": root}
        return document_map.verify_inclusion(**(good | changed))  # type: ignore[arg-type]

    assert holds()
    assert not holds(index=index + size)
    assert not holds(index=-1)
    assert not holds(proof=[*proof, bytes(32)])
    assert not holds(leaf=bytes(32))
    assert not holds(proof=proof[:-1]) or not proof
    other = data.draw(st.integers(0, size - 1))
    assert holds(index=other) == (other == index)


@given(NAMES, st.integers(0, 10**6))
def test_membership_and_absence_exclude_each_other(numbers: list[int], asked: int) -> None:
    records = dict(map(_record, numbers))
    hashed = [(key, _hashed(record)) for key, record in records.items()]
    root = trie(hashed)
    key, record = _record(asked)
    siblings = [bytes.fromhex(item) for item in trie_siblings(hashed, key)]
    is_member = document_map.verify_membership(root=root, key=key, record=record, siblings=siblings)
    assert is_member == (key in records)
    near = [item for item in hashed if _shares(item[0], key, len(siblings))]
    other = near[0] if near else None
    is_absent = document_map.verify_absence(root=root, key=key, siblings=siblings, other=other)
    assert is_absent == (key not in records)


@given(NAMES)
def test_a_lone_document_stands_high(numbers: list[int]) -> None:
    records = dict(map(_record, numbers[:1]))
    for key, record in records.items():
        leaf = hashlib.sha256(b"\x02" + key + _hashed(record)).digest()
        right = key[0] >> 7
        root = hashlib.sha256(b"\x03" + (bytes(32) + leaf if right else leaf + bytes(32))).digest()
        assert not document_map.verify_membership(root=root, key=key, record=record, siblings=[bytes(32)])


def test_an_empty_map_holds_nothing() -> None:
    key, _ = _record(1)
    assert document_map.verify_absence(root=bytes(32), key=key, siblings=[], other=None)
    assert not document_map.verify_absence(root=bytes(32), key=key, siblings=[bytes(32)], other=None)
    assert not document_map.verify_absence(root=bytes(31) + b"\1", key=key, siblings=[], other=None)


def test_too_many_siblings() -> None:
    key, record = _record(1)
    assert not document_map.verify_membership(root=bytes(32), key=key, record=record, siblings=[b"\1" * 32] * 257)


def _shares(one: bytes, two: bytes, bits: int) -> bool:
    return int.from_bytes(one, "big") >> (256 - bits) == int.from_bytes(two, "big") >> (256 - bits)
