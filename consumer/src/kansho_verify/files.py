"""Reading and writing files for the command line: bounded, regular files only, and whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from kansho_verify.limits import LIMITS

__all__ = ["DirectorySources", "FileError", "check_regular", "read_bounded", "write_whole"]

_FILE_MODE = 0o644
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class FileError(Exception):
    """A file that the caller named cannot be used; the message says which and why."""


def read_bounded(path: Path, limit_bytes: int) -> bytes:
    """The bytes of a regular file, at most ``limit_bytes + 1`` of them, so that a longer file is seen to be longer.

    Raises FileError for a file that is missing, unreadable, or no regular file (a FIFO or device would block).
    """
    check_regular(path)
    try:
        descriptor = os.open(path, _READ_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileError(f"{path} is not a regular file")
            return file.read(limit_bytes + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a usable path'}") from error


def check_regular(path: Path) -> None:
    """Refuse a path that is missing or names no regular file. Raises FileError."""
    try:
        is_regular = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a usable path'}") from error
    if not is_regular:
        raise FileError(f"{path} is not a regular file")


def write_whole(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file whole: a temporary file beside it, fsync, rename. Mode 0644.

    Raises FileError, and then leaves nothing behind; also when the file is there and ``overwrite`` is false.
    """
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:64]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_FILE_MODE)
        if overwrite:
            Path(temporary).replace(path)
        else:
            os.link(temporary, path)  # unlike a rename, it fails when the name is taken
            Path(temporary).unlink()
        temporary = None
        _sync_directory(path.parent)
    except FileExistsError as error:
        raise FileError(f"{path} is there already; --force overwrites it") from error
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {path}: {getattr(error, 'strerror', None) or 'not a usable path'}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()


def _sync_directory(path: Path) -> None:
    with suppress(OSError):  # not every system lets a directory be opened
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class DirectorySources:
    """The regular files below some folders, by size and hash; see :class:`kansho_verify.sources.Sources`.

    Links to regular files count, linked folders are not entered, anything else is passed over. A file is read only
    when its size is one that a citation names, and hashed once.
    """

    def __init__(self, *folders: Path) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise FileError(f"{folder} is not a folder")
        self._folders = folders
        self._by_size: dict[int, list[Path]] | None = None
        self._hashes: dict[Path, str | None] = {}

    def find(self, raw_sha256: str, raw_size: int) -> bytes | None:
        """See :class:`~kansho_verify.sources.Sources`."""
        if self._by_size is None:
            self._by_size = self._walk()
        for path in self._by_size.get(raw_size, ()):
            if path in self._hashes and self._hashes[path] != raw_sha256:
                continue
            try:
                raw = read_bounded(path, LIMITS.raw_source_bytes)
            except FileError:
                self._hashes[path] = None
                continue
            self._hashes[path] = hashlib.sha256(raw).hexdigest()
            if len(raw) == raw_size and self._hashes[path] == raw_sha256:
                return raw
        return None

    def has_name(self, document: str) -> bool:
        """See :class:`~kansho_verify.sources.Sources`."""
        parts = document.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in document:
            return False
        try:
            return any(folder.joinpath(*parts).is_file() for folder in self._folders)
        except (OSError, ValueError):
            return False

    def _walk(self) -> dict[int, list[Path]]:
        by_size: dict[int, list[Path]] = defaultdict(list)
        pending, count = list(self._folders), 0
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    children = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in children:
                count += 1
                if count > LIMITS.source_files:
                    raise FileError(f"the sources are more than {LIMITS.source_files} files and folders")
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    elif stat.S_ISREG((status := entry.stat()).st_mode) and status.st_size <= LIMITS.raw_source_bytes:
                        by_size[status.st_size].append(Path(entry.path))
        return by_size
