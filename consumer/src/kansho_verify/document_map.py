"""The entry tree and the document map (``docs/spec/document-map.md``; RFC 9162, sections 2.1.1 and 2.1.3.2).

Hashes and keys are bytes of length 32. Proofs are judged, not explained: every function that verifies returns bool.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from kansho_verify.canonical_json import JsonObject, serialise
from kansho_verify.identity import SCHEME
from kansho_verify.limits import LIMITS

__all__ = [
    "document_key",
    "entry_leaf",
    "entry_root",
    "verify_absence",
    "verify_inclusion",
    "verify_membership",
]

_LEAF, _NODE, _MAP_LEAF, _MAP_NODE = b"\x00", b"\x01", b"\x02", b"\x03"
_HASH_BYTES = 32
_EMPTY = bytes(_HASH_BYTES)
_KEY_BITS = 256


def document_key(map_salt: bytes, *, tenant: str, document: str) -> bytes:
    """The key of a document in the map of a corpus with this salt."""
    message = serialise({"kind": "document", "scheme": SCHEME, "tenant": tenant, "document": document})
    return hmac.digest(map_salt, message, "sha256")


def entry_leaf(entry_record: JsonObject) -> bytes:
    """The leaf hash of an entry record (its members without ``kind`` and ``scheme``)."""
    return _sha256(_LEAF, serialise(entry_record | {"kind": "entry_record", "scheme": SCHEME}))


def entry_root(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over leaf hashes in their order. Without leaves: SHA-256 of nothing."""
    if not leaves:
        return hashlib.sha256().digest()
    peaks: list[tuple[int, bytes]] = []
    for leaf in leaves:
        size, node = 1, leaf
        while peaks and peaks[-1][0] == size:
            node = _sha256(_NODE, peaks.pop()[1], node)
            size *= 2
        peaks.append((size, node))
    root = peaks.pop()[1]
    while peaks:
        root = _sha256(_NODE, peaks.pop()[1], root)
    return root


def verify_inclusion(*, index: int, size: int, leaf: bytes, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether ``leaf`` stands at ``index`` in the tree of ``size`` leaves with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size or any(len(node) != _HASH_BYTES for node in (leaf, root, *proof)):
        return False
    node, last, running = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if node & 1 or node == last:
            running = _sha256(_NODE, sibling, running)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            running = _sha256(_NODE, running, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and running == root


def verify_membership(*, root: bytes, key: bytes, record: JsonObject, siblings: Sequence[bytes]) -> bool:
    """Whether the map with this root holds, under ``key``, this document record (without kind and scheme)."""
    whole = record | {"kind": "document_record", "scheme": SCHEME}
    return _verify_leaf(root, key, hashlib.sha256(serialise(whole)).digest(), siblings)


def verify_absence(*, root: bytes, key: bytes, siblings: Sequence[bytes], other: tuple[bytes, bytes] | None) -> bool:
    """Whether the map with this root holds nothing under ``key``.

    ``other`` is None where the path ends empty, else the key and the record hash of the document at which it ends.
    """
    if other is None:
        return _siblings_in_form(siblings) and _combine(key, _EMPTY, siblings) == root
    other_key, record_hash = other
    if other_key == key or _bits(other_key, len(siblings)) != _bits(key, len(siblings)):
        return False
    return _verify_leaf(root, other_key, record_hash, siblings)


def _verify_leaf(root: bytes, key: bytes, record_hash: bytes, siblings: Sequence[bytes]) -> bool:
    leaf = _sha256(_MAP_LEAF, key, record_hash)
    return _siblings_in_form(siblings) and _combine(key, leaf, siblings) == root


def _siblings_in_form(siblings: Sequence[bytes]) -> bool:
    in_form = all(len(sibling) == _HASH_BYTES for sibling in siblings)
    return in_form and len(siblings) <= LIMITS.map_siblings and not (siblings and siblings[-1] == _EMPTY)


def _combine(key: bytes, start: bytes, siblings: Sequence[bytes]) -> bytes:
    bits = int.from_bytes(key, "big")
    running = start
    for depth in range(len(siblings) - 1, -1, -1):
        right = bits >> (_KEY_BITS - 1 - depth) & 1
        pair = (siblings[depth], running) if right else (running, siblings[depth])
        running = _sha256(_MAP_NODE, *pair)
    return running


def _bits(key: bytes, count: int) -> int:
    return int.from_bytes(key, "big") >> (_KEY_BITS - count) if count else 0


def _sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()
