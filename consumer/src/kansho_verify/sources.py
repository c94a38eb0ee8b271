"""What a source file is looked up by: its size and hash. Names only help messages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

__all__ = ["MappingSources", "Sources"]


class Sources(Protocol):
    """Where the consumer's own copies of sources come from. Implementations may read files; the core does not."""

    def find(self, raw_sha256: str, raw_size: int) -> bytes | None:
        """The bytes with this SHA-256 (hexadecimal) and size, or None. The core hashes them again."""

    def has_name(self, document: str) -> bool:
        """Whether something of this name is there, whatever its content; asked only to word a message."""


class MappingSources:
    """Sources held in memory, by name."""

    def __init__(self, named: Mapping[str, bytes]) -> None:
        self._names = frozenset(named)
        self._by_hash = {hashlib.sha256(raw).hexdigest(): raw for raw in named.values()}

    def find(self, raw_sha256: str, raw_size: int) -> bytes | None:
        """See :class:`Sources`."""
        raw = self._by_hash.get(raw_sha256)
        return raw if raw is not None and len(raw) == raw_size else None

    def has_name(self, document: str) -> bool:
        """See :class:`Sources`."""
        return document in self._names
