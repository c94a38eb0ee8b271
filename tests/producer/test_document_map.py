"""Entry tree and document map, against naive definitions written here (docs/spec/document-map.md)."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.document_map import (
    Absence,
    DocumentMap,
    EntryTree,
    document_key,
    document_record,
    entry_is_included,
    map_root_of_member,
)

EMPTY = bytes(32)


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def mth(leaves: list[bytes]) -> bytes:
    """RFC 9162, section 2.1.1, word for word."""
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return sha(b"\x00" + leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha(b"\x01" + mth(leaves[:split]) + mth(leaves[split:]))


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 9162, section 2.1.3.1."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return [*path(index, leaves[:split]), mth(leaves[split:])]
    return [*path(index - split, leaves[split:]), mth(leaves[:split])]


@pytest.mark.parametrize("size", [*range(70), 127, 128, 129, 300])
def test_entry_tree(size: int) -> None:
    leaves = [f"leaf {number % 7} {number}".encode() for number in range(size)]
    tree = EntryTree(leaves)
    root = mth(leaves).hex()
    assert tree.root == root
    for index in {*range(min(size, 20)), size // 2, size - 1} - {-1} if size else ():
        proof = tree.proof(index)
        assert proof == [node.hex() for node in path(index, leaves)]
        assert entry_is_included(leaves[index], index, size, proof, root)
        assert not entry_is_included(leaves[index] + b"x", index, size, proof, root)
        assert not entry_is_included(leaves[index], index, size, [*proof, EMPTY.hex()], root)
        assert not entry_is_included(leaves[index], index, size, [*proof, root], root)
        assert not entry_is_included(leaves[index], index, size, proof, EMPTY.hex())
        if proof:
            assert not entry_is_included(leaves[index], index, size, proof[:-1], root)
            assert not entry_is_included(leaves[index], index, size, proof[1:], root)
            assert not entry_is_included(leaves[index], index, size, [], root)
        if len(proof) > 1:
            assert not entry_is_included(leaves[index], index, size, proof[::-1], root)
        for other in (-1, index + 1, index - 1, size, size + 1, 2**70):
            assert not entry_is_included(leaves[index], other, size, proof, root)


def test_the_wrong_size_is_refused() -> None:
    """A size that demands the same path gives the same root; every other one is refused."""
    leaves = [bytes([number]) for number in range(21)]
    tree = EntryTree(leaves)
    for index in range(21):
        shape = shape_of(index, 21)
        for size in range(60):
            if size != 21 and (index >= size or shape_of(index, size) != shape):
                assert not entry_is_included(leaves[index], index, size, tree.proof(index), tree.root)


def shape_of(index: int, size: int) -> list[bool]:
    """For each level whether the sibling stands on the left."""
    if size == 1:
        return []
    split = 1
    while split * 2 < size:
        split *= 2
    return [*shape_of(index, split), False] if index < split else [*shape_of(index - split, size - split), True]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_no_proof_beyond_the_tree(size: int) -> None:
    tree = EntryTree([b"x"] * size)
    for index in (-1, size, size + 1):
        with pytest.raises(IndexError):
            tree.proof(index)
    assert not entry_is_included(b"", 0, 0, [], sha(b"").hex())


def test_leaves_and_nodes_are_kept_apart() -> None:
    """The concatenation of two leaf hashes as a leaf is not the node over both."""
    left, right = sha(b"\x00a"), sha(b"\x00b")
    assert EntryTree([b"a", b"b"]).root != EntryTree([left + right]).root
    assert EntryTree([b"a", b"a"]).root != EntryTree([b"a"]).root


def test_reference_tree(vectors: Path, subtests: pytest.Subtests) -> None:
    data = json.loads((vectors / "merkle" / "rfc6962_reference_tree.json").read_bytes())
    leaves = [bytes.fromhex(leaf) for leaf in data["leaf_inputs"]]
    for size, root in enumerate(data["root_by_size"]):
        with subtests.test(id=f"size {size}"):
            assert EntryTree(leaves[:size]).root == root
    assert len(data["inclusion"]) == 36
    for case in data["inclusion"]:
        index, size, proof = case["index"], case["size"], case["proof"]
        with subtests.test(id=f"{index} of {size}"):
            assert EntryTree(leaves[:size]).proof(index) == proof
            assert entry_is_included(leaves[index], index, size, proof, data["root_by_size"][size])


def bit(key: bytes, depth: int) -> int:
    return int.from_bytes(key, "big") >> (255 - depth) & 1


def naive(documents: dict[bytes, bytes], depth: int = 0) -> bytes:
    """The three lines of the page."""
    if not documents:
        return EMPTY
    if len(documents) == 1:
        ((key, record),) = documents.items()
        return sha(b"\x02" + key + record)
    halves = [{key: r for key, r in documents.items() if bit(key, depth) == side} for side in (0, 1)]
    return sha(b"\x03" + naive(halves[0], depth + 1) + naive(halves[1], depth + 1))


def combine(node: bytes, key: bytes, siblings: list[str]) -> bytes:
    for depth in range(len(siblings) - 1, -1, -1):
        sibling = bytes.fromhex(siblings[depth])
        node = sha(b"\x03" + (node + sibling if bit(key, depth) == 0 else sibling + node))
    return node


def absence_holds(key: bytes, proof: Absence, root: bytes) -> bool:
    if proof.siblings and bytes.fromhex(proof.siblings[-1]) == EMPTY:
        return False
    if proof.other is None:
        return combine(EMPTY, key, proof.siblings) == root
    other, record = (bytes.fromhex(part) for part in proof.other)
    shared = all(bit(other, depth) == bit(key, depth) for depth in range(len(proof.siblings)))
    leaf = sha(b"\x02" + other + record)
    return other != key and shared and combine(leaf, key, proof.siblings) == root


def near(key: bytes, depth: int) -> bytes:
    """The key that differs in this bit alone."""
    return (int.from_bytes(key, "big") ^ 1 << (255 - depth)).to_bytes(32, "big")


KEYS = st.one_of(
    st.binary(min_size=32, max_size=32),
    st.builds(near, st.sampled_from([EMPTY, b"\xff" * 32, sha(b"x")]), st.integers(0, 255)),
    st.sampled_from([EMPTY, b"\xff" * 32]),
)


@given(st.sets(KEYS, max_size=12), st.sets(KEYS, max_size=6))
def test_document_map(keys: set[bytes], others: set[bytes]) -> None:
    documents = {key: sha(b"record" + key) for key in keys}
    made = DocumentMap({key.hex(): record.hex() for key, record in documents.items()})
    root = naive(documents)
    assert made.root == root.hex()
    for key, record in documents.items():
        siblings = made.membership(key.hex())
        assert map_root_of_member(key.hex(), record.hex(), siblings) == root.hex()
        assert combine(sha(b"\x02" + key + record), key, siblings) == root
        assert not siblings or bytes.fromhex(siblings[-1]) != EMPTY
        assert map_root_of_member(key.hex(), sha(b"other").hex(), siblings) != root.hex()
        assert map_root_of_member(key.hex(), record.hex(), [*siblings, EMPTY.hex()][:256]) != root.hex() or (
            len(siblings) == 256
        )
        if siblings:
            assert map_root_of_member(key.hex(), record.hex(), siblings[:-1]) != root.hex()
        with pytest.raises(KeyError):
            made.absence(key.hex())
    for key in others - keys | {near(key, 255) for key in keys} - keys:
        proof = made.absence(key.hex())
        assert absence_holds(key, proof, root)
        assert (proof.other is None) or proof.other[0] in {one.hex() for one in keys}
        with pytest.raises(KeyError):
            made.membership(key.hex())


def test_two_documents_that_differ_in_the_last_bit() -> None:
    first, second = EMPTY, near(EMPTY, 255)
    made = DocumentMap({first.hex(): "11" * 32, second.hex(): "22" * 32})
    assert len(made.membership(first.hex())) == 256
    assert made.membership(first.hex())[:255] == [EMPTY.hex()] * 255
    assert made.root == naive({first: bytes([0x11]) * 32, second: bytes([0x22]) * 32}).hex()


def test_proofs_before_and_after_the_root_was_made() -> None:
    """Hashes are kept for reuse; the order in which they are asked for does not matter."""
    hashes = {sha(bytes([n])).hex(): sha(bytes([n, n])).hex() for n in range(50)}
    before = DocumentMap(hashes)
    proofs = {key: before.membership(key) for key in hashes}
    after = DocumentMap(dict(reversed(hashes.items())))
    assert after.root == before.root
    assert {key: after.membership(key) for key in hashes} == proofs


def test_document_key_and_record() -> None:
    salt = bytes(range(32))
    message = b'{"document":"a/b.md","kind":"document","scheme":"kansho.v1","tenant":"t"}'
    assert document_key(salt, "t", "a/b.md") == hmac.new(salt, message, hashlib.sha256).hexdigest()
    assert document_key(salt, "t", "a") != document_key(salt, "ta", "")
    assert document_key(bytes(32), "t", "a") != document_key(salt, "t", "a")
    parts = {"document_key": "k", "canonical_revision": "c", "parse_revision": "p", "entry_root": "r"}
    record = document_record(**parts, event_sequence=3, entry_count=0)
    assert record == {
        "kind": "document_record",
        "scheme": "kansho.v1",
        "event_sequence": 3,
        "entry_count": 0,
        **parts,
    }
