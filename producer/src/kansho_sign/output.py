"""Files are written whole or not at all."""

import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

from kansho_sign.errors import FaultError, InputError, UsageError

__all__ = ["open_regular", "read_bounded", "write_new", "write_whole"]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_temporary(path: Path, data: bytes, mode: int) -> Path:
    # The target's name is not part of it: it may be as long as the file system allows.
    descriptor, name = tempfile.mkstemp(prefix=".kansho-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            os.fchmod(handle.fileno(), mode)
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
    except BaseException:
        temporary.unlink()
        raise
    return temporary


def _failed(path: Path, error: OSError) -> FaultError:
    return FaultError("output.failed", f"cannot be written ({error.strerror})", str(path), "the file is as it was")


def _refuse_special(path: Path) -> None:
    """A rename would put a file in the place of a device, or fail late on a folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise UsageError("output.not_a_file", "there is something that is no regular file", str(path), "choose a file")


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replaces ``path``: temporary file, fsync, rename, fsync of the folder.

    Raises FaultError ``output.failed``, UsageError ``output.not_a_file`` for a folder, a device and the like.
    """
    try:
        _refuse_special(path)
        temporary = _write_temporary(path, data, mode)
        try:
            temporary.replace(path)
        except BaseException:
            temporary.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise _failed(path, error) from None


def write_new(path: Path, data: bytes, mode: int = 0o644) -> None:
    """As ``write_whole``, but refuses with ``output.exists`` to replace anything, also when two writers race."""
    try:
        temporary = _write_temporary(path, data, mode)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            raise UsageError("output.exists", "exists already", str(path), "nothing was changed") from None
        finally:
            temporary.unlink()
        _sync_folder(path.parent)
    except OSError as error:
        raise _failed(path, error) from None


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file for reading. Raises InputError ``input.not_a_file``, ``input.unreadable``."""
    try:
        # Opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError("input.unreadable", f"cannot be read ({error.strerror})", str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError("input.not_a_file", "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_bounded(path: Path, limit: int) -> bytes:
    """A regular file's bytes. Raises as ``open_regular``, and ``limits.bytes``."""
    with open_regular(path) as handle:
        try:
            data = handle.read(limit + 1)
        except OSError as error:
            raise InputError("input.unreadable", f"cannot be read ({error.strerror})", str(path)) from None
    if len(data) > limit:
        raise InputError("limits.bytes", f"larger than {limit} bytes", str(path), "split it, or leave it out")
    return data
