"""Plain files and folders as source events."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import unicodedata2 as ucd

from kansho_sign.canonical_json import sha256_hex
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded
from kansho_sign.sources.events import SourceEvent
from kansho_sign.sources.names import check_document_id, check_source_uri, uri_of_path
from kansho_sign.store import DocumentRow

__all__ = [
    "CONFIGURATION",
    "CONNECTOR",
    "WORKSPACE_NAMES",
    "Found",
    "FoundFile",
    "deletion_of",
    "event_of_file",
    "find_files",
    "media_type_of",
    "origin_of",
]

CONNECTOR = "files"
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
}


CONFIGURATION = "kansho.toml"
WORKSPACE_NAMES = frozenset(
    (
        CONFIGURATION,
        "policy.json",
        "trust-root.json",
        "keys",
        "store.sqlite3",
        "store.sqlite3-wal",
        "store.sqlite3-shm",
        "published",
        "audit",
    )
)
"""What ``init`` and the commands after it leave in a workspace."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was named or found; ``origin`` is the folder (or file) that the person named."""

    path: Path
    document: str
    origin: str


def media_type_of(path: Path) -> str | None:
    """By file name ending; None for an ending that no parser reads."""
    return MEDIA_TYPES.get(path.suffix.lower())


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError("input.unreadable", f"cannot be read ({error.strerror})", str(path))


def _listing(folder: Path, found: "Found") -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return iter(sorted(listing, key=lambda entry: entry.name))
    except OSError as error:
        found.refused.append(_unreadable(folder, error))
        found.unlisted.append(folder)
        return iter(())


def _walk(folder: Path, found: "Found") -> Iterator[Path]:
    # A workspace made inside the documents' own folder is none of them.
    own = WORKSPACE_NAMES if (folder / CONFIGURATION).is_file() else frozenset()
    # A stack of its own: folders may be nested deeper than Python calls.
    stack = [_listing(folder, found)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
        elif entry.name.startswith(".") or entry.name in own:
            continue
        elif entry.is_dir(follow_symlinks=False):
            stack.append(_listing(Path(entry.path), found))
        else:
            yield Path(entry.path)


def _link_fault(path: Path, inside: Path) -> str | None:
    """What is wrong with a symbolic link; None for a good one, and for what is no link."""
    try:
        if not path.is_symlink():
            return None
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        return "a symbolic link that leads nowhere"
    return None if real.is_relative_to(inside) else "a symbolic link that leads out of the folder"


def _document_id(path: Path, prefix: str) -> str:
    # File systems that decompose names (HFS+) and those that do not give the same id.
    name: str = ucd.normalize("NFC", prefix + path.as_posix())
    return name


def origin_of(named: Path, prefix: str) -> str:
    """Names a folder that was ingested, under a prefix: what the next ingest of it compares with."""
    return f"{named.resolve()}\n{prefix}"


@dataclass(slots=True)
class Found:
    """What lies under the named paths: files to read, every document id met, files that no parser reads, refusals.

    ``folders`` are the named folders that were read to the last one below; ``unlisted`` those that were not.
    """

    files: list[FoundFile]
    documents: set[str]
    passed_over: list[Path]
    refused: list[InputError]
    folders: list[Path]
    unlisted: list[Path]


def _named_files(named: Path, found: Found) -> Iterator[tuple[Path, Path]]:
    """(file, its path relative to what was named)."""
    try:
        is_folder = stat.S_ISDIR(named.stat().st_mode)
    except OSError as error:
        found.refused.append(_unreadable(named, error))
        return
    if not is_folder:
        yield named, Path(named.name)
        return
    inside, unlisted = named.resolve(), len(found.unlisted)
    for path in _walk(named, found):
        if media_type_of(path) is None:
            found.passed_over.append(path)
            continue
        why = _link_fault(path, inside)
        if why is None:
            yield path, path.relative_to(named)
        else:
            found.refused.append(InputError("ingest.symlink", why, str(path), "put a copy in its place"))
    if len(found.unlisted) == unlisted:
        found.folders.append(named)


def find_files(paths: Sequence[Path], prefix: str = "") -> Found:
    """The files under ``paths`` in a stable order; hidden ones in folders are not looked at.

    Two files that get one document id are both refused (``ingest.collision``): neither may silently win.
    """
    found = Found([], set(), [], [], [], [])
    by_document: dict[str, list[FoundFile]] = {}
    for named in paths:
        for path, relative in _named_files(named, found):
            file = FoundFile(path, _document_id(relative, prefix), origin_of(named, prefix))
            same = by_document.setdefault(file.document, [])
            if all(other.path.resolve() != path.resolve() for other in same):
                same.append(file)
    found.documents.update(by_document)
    for document, files in by_document.items():
        if len(files) == 1:
            found.files.append(files[0])
            continue
        for file in files:
            why = f"{len(files)} of the named files would be the document {document!a}"
            hint = "ingest them one after the other with different --prefix"
            found.refused.append(InputError("ingest.collision", why, str(file.path), hint))
    return found


def _event_id(kind: str, tenant: str, document: str, sequence: int, state: str) -> str:
    content = {"kind": kind, "tenant": tenant, "document": document, "sequence": sequence, "state": state}
    return f"files-{sha256_hex(content)}"


def event_of_file(
    file: FoundFile,
    current: DocumentRow | None,
    *,
    tenant: str,
    groups: tuple[str, ...],
    role: str,
    base_uri: str,
) -> SourceEvent | None:
    """The upsert for a file; None when the document is in this very state already.

    Raises InputError with the file's path for names, sizes and endings that are refused.
    """
    media_type = media_type_of(file.path)
    if media_type is None:
        known = ", ".join(sorted(MEDIA_TYPES))
        raise InputError("source.media_type", "no parser for this ending", str(file.path), f"known endings: {known}")
    uri = check_source_uri(uri_of_path(check_document_id(file.document), base_uri), public=False)
    raw = read_bounded(file.path, LIMITS.source_bytes)
    digest = hashlib.sha256(raw).hexdigest()
    known_state = current.revision if current and not current.deleted else None
    if known_state is not None:
        state = (
            known_state.raw_sha256,
            known_state.groups,
            known_state.role,
            known_state.media_type,
            known_state.source_uri,
        )
        if state == (digest, groups, role, media_type, uri):
            return None
    sequence = current.sequence + 1 if current else 1
    return SourceEvent(
        event_id=_event_id("upsert", tenant, file.document, sequence, digest),
        connector=CONNECTOR,
        tenant=tenant,
        document=file.document,
        sequence=sequence,
        source_uri=uri,
        source_version=str(sequence),
        role=role,
        media_type=media_type,
        groups=groups,
        raw=raw,
        origin=file.origin,
    )


def deletion_of(current: DocumentRow) -> SourceEvent:
    """The delete for a known document."""
    sequence = current.sequence + 1
    return SourceEvent(
        event_id=_event_id("delete", current.tenant, current.document, sequence, ""),
        connector=CONNECTOR,
        tenant=current.tenant,
        document=current.document,
        sequence=sequence,
    )
