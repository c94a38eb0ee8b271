"""Entry tree (RFC 9162) and document map (docs/spec/document-map.md)."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.identity import SCHEME

__all__ = [
    "Absence",
    "DocumentMap",
    "EntryTree",
    "document_key",
    "document_record",
    "entry_is_included",
    "map_root_of_member",
]

EMPTY = bytes(32)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def document_key(map_salt: bytes, tenant: str, document: str) -> str:
    """HMAC-SHA-256 under the corpus's map salt (32 bytes), 64 hexadecimal digits."""
    message = dumps({"kind": "document", "scheme": SCHEME, "tenant": tenant, "document": document})
    return hmac.new(map_salt, message, hashlib.sha256).hexdigest()


def document_record(
    *,
    document_key: str,
    canonical_revision: str,
    parse_revision: str,
    event_sequence: int,
    entry_count: int,
    entry_root: str,
) -> JsonObject:
    """The record whose hash is a leaf of the map."""
    return {
        "kind": "document_record",
        "scheme": SCHEME,
        "document_key": document_key,
        "canonical_revision": canonical_revision,
        "parse_revision": parse_revision,
        "event_sequence": event_sequence,
        "entry_count": entry_count,
        "entry_root": entry_root,
    }


class EntryTree:
    """The Merkle tree of RFC 9162, section 2.1.1, over leaf bytes in order; proofs cost log(n) after one build."""

    __slots__ = ("_levels",)

    def __init__(self, leaves: Sequence[bytes]) -> None:
        level = [_sha256(b"\x00" + leaf) for leaf in leaves]
        # An odd last node moves up unchanged: the same tree as the recursive definition's.
        self._levels = [level]
        while len(level) > 1:
            pairs = [_sha256(b"\x01" + level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
            level = pairs + level[len(level) & ~1 :]
            self._levels.append(level)

    @property
    def root(self) -> str:
        """64 hexadecimal digits; of no leaves the SHA-256 of nothing."""
        top = self._levels[-1]
        return (top[0] if top else _sha256(b"")).hex()

    def proof(self, index: int) -> list[str]:
        """Inclusion proof (section 2.1.3.1) of the leaf at ``index``, from the leaf upwards."""
        if not 0 <= index < len(self._levels[0]):
            raise IndexError(index)
        path: list[str] = []
        for level in self._levels[:-1]:
            sibling = index ^ 1
            if sibling < len(level):
                path.append(level[sibling].hex())
            index //= 2
        return path


def _bit(key: bytes, depth: int) -> int:
    return key[depth >> 3] >> (7 - (depth & 7)) & 1


@dataclass(frozen=True, slots=True)
class Absence:
    """Siblings from the root downwards, and the document at which the path ends, if any: (key, record hash)."""

    siblings: list[str]
    other: tuple[str, str] | None


class DocumentMap:
    """The binary trie of a generation's document records: root, membership and absence proofs."""

    __slots__ = ("_cache", "_hashes", "_keys")

    def __init__(self, record_hashes: Mapping[str, str]) -> None:
        """``record_hashes``: SHA-256 of each document record by document key, both in hex."""
        self._hashes = {bytes.fromhex(key): bytes.fromhex(value) for key, value in record_hashes.items()}
        self._keys = sorted(self._hashes)
        self._cache: dict[tuple[int, int], bytes] = {}

    def _split(self, low: int, high: int, depth: int) -> int:
        """First position in [low, high) whose key has bit ``depth`` set; keys there share the bits above."""
        while low < high:
            middle = (low + high) // 2
            if _bit(self._keys[middle], depth):
                high = middle
            else:
                low = middle + 1
        return low

    def _leaf(self, key: bytes) -> bytes:
        return _sha256(b"\x02" + key + self._hashes[key])

    def _hash(self, low: int, high: int, depth: int) -> bytes:
        if low == high:
            return EMPTY
        if high - low == 1:
            return self._leaf(self._keys[low])
        found = self._cache.get((low, depth))
        if found is None:
            middle = self._split(low, high, depth)
            found = _sha256(b"\x03" + self._hash(low, middle, depth + 1) + self._hash(middle, high, depth + 1))
            # A subtree is named by where it begins and how deep it stands.
            self._cache[low, depth] = found
        return found

    @property
    def root(self) -> str:
        """64 hexadecimal digits."""
        return self._hash(0, len(self._keys), 0).hex()

    def _walk(self, key: bytes) -> tuple[list[str], int, int]:
        siblings: list[str] = []
        low, high, depth = 0, len(self._keys), 0
        while high - low > 1:
            middle = self._split(low, high, depth)
            if _bit(key, depth):
                siblings.append(self._hash(low, middle, depth + 1).hex())
                low = middle
            else:
                siblings.append(self._hash(middle, high, depth + 1).hex())
                high = middle
            depth += 1
        return siblings, low, high

    def membership(self, key: str) -> list[str]:
        """Sibling hashes from the root downwards. Raises KeyError when no such document is in the map."""
        wanted = bytes.fromhex(key)
        if wanted not in self._hashes:
            raise KeyError(key)
        return self._walk(wanted)[0]

    def absence(self, key: str) -> Absence:
        """Proof that no document has this key. Raises KeyError when one has."""
        wanted = bytes.fromhex(key)
        if wanted in self._hashes:
            raise KeyError(key)
        siblings, low, high = self._walk(wanted)
        if low == high:
            return Absence(siblings, None)
        other = self._keys[low]
        return Absence(siblings, (other.hex(), self._hashes[other].hex()))


def map_root_of_member(key: str, record_sha256: str, siblings: Sequence[str]) -> str:
    """The root that a membership proof leads to, in hex."""
    position = bytes.fromhex(key)
    node = _sha256(b"\x02" + position + bytes.fromhex(record_sha256))
    for depth in range(len(siblings) - 1, -1, -1):
        sibling = bytes.fromhex(siblings[depth])
        node = _sha256(b"\x03" + (sibling + node if _bit(position, depth) else node + sibling))
    return node.hex()


def entry_is_included(leaf: bytes, index: int, size: int, proof: Sequence[str], root: str) -> bool:
    """RFC 9162, section 2.1.3.2: whether ``leaf`` stands at ``index`` of the tree with this size and root."""
    if not 0 <= index < size:
        return False
    node, fn, sn = _sha256(b"\x00" + leaf), index, size - 1
    for sibling in map(bytes.fromhex, proof):
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            node = _sha256(b"\x01" + sibling + node)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = _sha256(b"\x01" + node + sibling)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and node.hex() == root
