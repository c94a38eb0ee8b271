"""What a source is looked up by: its size and hash. Names only help messages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

__all__ = ["MappingSources", "SeveralSources", "Sources"]


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


class SeveralSources:
    """Sources from several places, asked in this order; which place a source is in decides nothing."""

    def __init__(self, *parts: Sources) -> None:
        self._parts = parts

    def find(self, raw_sha256: str, raw_size: int) -> bytes | None:
        """See :class:`Sources`."""
        found = (part.find(raw_sha256, raw_size) for part in self._parts)
        return next((raw for raw in found if raw is not None), None)

    def has_name(self, document: str) -> bool:
        """See :class:`Sources`."""
        return any(part.has_name(document) for part in self._parts)
