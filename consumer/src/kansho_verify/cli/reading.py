"""The files that options name, read: missing or unusable ones are wrong usage (FileError)."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from kansho_verify import MappingSources, Sources, VerifyError, read_registry
from kansho_verify.files import DirectorySources, FileError, read_bounded
from kansho_verify.limits import LIMITS
from kansho_verify.sources import SeveralSources

__all__ = ["read_optional", "read_published", "read_sources"]

_MUST = "sources are a folder, or a file that is a kansho.registry.v1 document"


def read_optional(path: Path | None, limit_bytes: int) -> bytes | None:
    """The bytes of a file, or None without a path. Raises FileError."""
    return None if path is None else read_bounded(path, limit_bytes)


def read_published(folder: Path, *, with_live: bool) -> tuple[bytes | None, bytes | None]:
    """The newest generation statement and the live state from a folder, each None where it is not there.

    Raises FileError, also for a folder with neither.
    """
    paths = (folder / "generation.json", folder / "live.json")
    if not any(path.exists() for path in paths):
        raise FileError(f"{folder} holds neither generation.json nor live.json")
    generation, live = (path if path.exists() else None for path in paths)
    state = read_optional(live, LIMITS.live_bytes) if with_live else None
    return read_optional(generation, LIMITS.generation_bytes), state


def read_sources(paths: Sequence[Path]) -> Sources | None:
    """The sources below folders and in registry files; None without paths. Folders are not entered yet.

    Raises FileError for what is neither.
    """
    if not paths:
        return None
    files = [path for path in paths if _is_file(path)]
    folders = [path for path in paths if path not in files]
    return SeveralSources(*(MappingSources(_read_registry(path)) for path in files), DirectorySources(*folders))


def _is_file(path: Path) -> bool:
    """Whether it is a regular file; False for a folder. Raises FileError for what is neither or cannot be looked at."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a usable path'}") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise FileError(f"{path}: {_MUST}; this is neither")
    return stat.S_ISREG(mode)


def _read_registry(path: Path) -> dict[str, bytes]:
    data = read_bounded(path, LIMITS.registry_bytes)
    try:
        return read_registry(data)
    except VerifyError as error:
        reason = error.reason
        place = f" at {reason.path}" if reason.path else ""
        raise FileError(f"{path}: {_MUST}; this file is none: {reason.code}, {reason.detail}{place}") from error
