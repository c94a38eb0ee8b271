"""From files and events to accepted documents (docs/spec/lifecycle.md, Source events)."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kansho_sign.derivation import SourceRevision, derive
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.output import open_regular
from kansho_sign.pipeline.publish import Progress, export, renew_live
from kansho_sign.sources.events import Effect, Outcome, SourceEvent, apply, check_facts, parse_event
from kansho_sign.sources.files import FoundFile, deletion_of, event_of_file, find_files, origin_of
from kansho_sign.sources.names import check_document_id, fold
from kansho_sign.store import Connection
from kansho_sign.workspace import Workspace

__all__ = ["Ingested", "Random", "Summary", "Wanted", "ingest"]

Random = Callable[[int], str]
"""``n`` random bytes in hex."""
TAKES_AWAY = (Effect.DELETED, Effect.ACCESS_CHANGED)
EVENT_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Ingested:
    """One document and what happened to it."""

    document: str
    effect: Effect


@dataclass(slots=True)
class Summary:
    """What an ingest did.

    ``passed_over``: no parser reads them. ``gone``: known, but no longer in their folder. ``moved``: replaced by a file
    of another folder than before.
    """

    accepted: list[Ingested] = field(default_factory=list)
    refused: list[InputError] = field(default_factory=list)
    passed_over: list[Path] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)


def _check_content(workspace: Workspace, event: SourceEvent) -> None:
    """Everything that a publication will derive and sign must be in order now: a bad source is refused at the door."""
    check_facts(event)
    if event.raw is None:
        return
    outcome = apply(None, event, "0" * 32)
    if outcome.row is not None and isinstance(outcome.row.revision, SourceRevision):
        derive(workspace.configuration.corpus, outcome.row.revision, event.raw)


def _accept(workspace: Workspace, c: Connection, event: SourceEvent, random: Random) -> Outcome:
    """Applies one event in the caller's transaction. Raises InputError; then nothing of the event is stored."""
    store = workspace.store
    fingerprint = event.fingerprint()
    bound = store.event_fingerprint(c, event.event_id)
    if bound is not None:
        if bound != fingerprint:
            raise InputError("event.id_rebound", "this event id is bound to another event", event.event_id)
        return Outcome(Effect.REPEATED, None)
    folded = fold(event.document)
    other = store.folded_name(c, event.tenant, folded)
    if other not in (None, event.document):
        why = f"differs only by case or normalisation from the known document {other!a}"
        raise InputError("name.conflict", why, event.document, "rename one of them")
    outcome = apply(store.document(c, event.tenant, event.document), event, random(16))
    store.bind_event(c, event.event_id, fingerprint)
    if outcome.row is not None:
        if event.raw is not None and outcome.row.revision is not None:
            store.put_blob(c, outcome.row.revision.raw_sha256, event.raw)
        store.put_document(c, outcome.row, folded)
    return outcome


def _lines(path: Path, summary: Summary) -> Iterator[tuple[str, bytes]]:
    """The lines of a file of events with their places; a file may be larger than memory, a line may not."""
    limit = LIMITS.event_line_bytes
    with open_regular(path) as handle:
        for number in itertools.count(1):
            line = handle.readline(limit + 1)
            if not line:
                return
            where = f"{path}:{number}"
            if len(line) > limit:
                summary.refused.append(InputError("limits.bytes", f"the line is longer than {limit} bytes", where))
                while line and not line.endswith(b"\n"):
                    line = handle.readline(limit)
                continue
            if line.strip():
                yield where, line.rstrip(b"\r\n")


def _read_events(path: Path, summary: Summary) -> Iterator[tuple[str, SourceEvent]]:
    try:
        for where, line in _lines(path, summary):
            try:
                yield where, parse_event(line)
            except InputError as error:
                summary.refused.append(error.at(where))
    except InputError as error:
        summary.refused.append(error)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller says of plain files; events say it of themselves."""

    tenant: str
    groups: tuple[str, ...]
    role: str
    prefix: str = ""
    base_uri: str = ""
    remove_missing: bool = False


class _Run:
    """One ingest in one transaction."""

    def __init__(self, workspace: Workspace, c: Connection, wanted: Wanted, random: Random) -> None:
        self.workspace, self.c, self.wanted, self.random = workspace, c, wanted, random
        self.summary = Summary()
        self.taken_away = False

    def accept(self, where: str, event: SourceEvent) -> None:
        try:
            _check_content(self.workspace, event)
            outcome = _accept(self.workspace, self.c, event, self.random)
        except InputError as error:
            self.summary.refused.append(error.at(where))
            return
        self.taken_away |= outcome.effect in TAKES_AWAY
        self.summary.accepted.append(Ingested(event.document, outcome.effect))

    def file(self, file: FoundFile) -> None:
        wanted = self.wanted
        try:
            # Before the store is asked: a name may hold what no database takes.
            check_document_id(file.document)
            current = self.workspace.store.document(self.c, wanted.tenant, file.document)
            event = event_of_file(
                file,
                current,
                tenant=wanted.tenant,
                groups=wanted.groups,
                role=wanted.role,
                base_uri=wanted.base_uri,
            )
        except InputError as error:
            path = str(file.path)
            self.summary.refused.append(error if error.where.startswith(path) else error.at(path))
            return
        if event is not None:
            self.accept(str(file.path), event)
        else:
            self.summary.accepted.append(Ingested(file.document, Effect.UNCHANGED))
        if current is None or current.deleted or current.origin in (None, file.origin):
            return
        if event is not None:
            self.summary.moved.append(file.document)
        else:
            self.workspace.store.put_document(self.c, replace(current, origin=file.origin), fold(file.document))

    def events(self, path: Path) -> None:
        for where, event in _read_events(path, self.summary):
            self.accept(where, event)

    def missing(self, folders: Sequence[Path], present: set[str]) -> None:
        origins = {origin_of(folder, self.wanted.prefix) for folder in folders}
        for row in self.workspace.store.documents(self.c):
            known_here = row.tenant == self.wanted.tenant and row.origin in origins and not row.deleted
            if known_here and row.document not in present:
                if self.wanted.remove_missing:
                    self.accept(row.document, deletion_of(row))
                else:
                    self.summary.gone.append(row.document)


def ingest(
    workspace: Workspace,
    paths: Sequence[Path],
    wanted: Wanted,
    *,
    now: int,
    random: Random,
    progress: Progress = lambda _total, _name: None,
) -> Summary:
    """Takes in files, folders and ``.jsonl`` files of events.

    All that is accepted is stored in one transaction, with a new live state in it when something published is taken
    away. A bad input is listed in ``refused`` with its place, nothing of it is stored, and the others are. A folder
    that could not be read to its end has no missing documents.
    """
    event_files = [path for path in paths if path.suffix.lower() == EVENT_SUFFIX]
    found = find_files([path for path in paths if path not in event_files], wanted.prefix)
    with workspace.store.write() as c:
        run = _Run(workspace, c, wanted, random)
        run.summary.refused += found.refused
        run.summary.passed_over += found.passed_over
        total = len(found.files) + len(event_files)
        for file in found.files:
            progress(total, file.path.name)
            run.file(file)
        for path in event_files:
            progress(total, path.name)
            run.events(path)
        run.missing(found.folders, found.documents)
        if run.taken_away:
            renew_live(workspace, c, now)
    # Also when nothing was taken away: a command that was killed may have left its live state to be written.
    export(workspace)
    return run.summary
