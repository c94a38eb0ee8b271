"""Options and files that ``attest`` and ``repair`` share: an untrusted answer, and what it is checked against."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from kansho_sign.adapters.formats import EVIDENCE, FORMATS, read_evidence, read_format
from kansho_sign.adapters.reading import Reading, SourcesMap
from kansho_sign.canonical_json import JsonObject, loads
from kansho_sign.cli.options import PATH, stack
from kansho_sign.errors import InputError, UsageError
from kansho_sign.evidence import Masking, Policy
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded
from kansho_sign.pipeline.request_registry import RequestView
from kansho_sign.pipeline.requests import Asker
from kansho_sign.pipeline.view import View, open_view
from kansho_sign.workspace import Workspace, load_policy

__all__ = ["EvidenceInput", "evidence_options", "load_sources_map", "read_input"]

T = TypeVar("T")
ANSWER_HINT = 'one JSON object: {"schema": "kansho.answer.v1", "evidence": [{"source_id": "…", "excerpt": "…"}]}'


@dataclass(frozen=True, slots=True)
class EvidenceInput:
    """The values of :func:`evidence_options`."""

    answer_file: Path
    format_name: str
    sources_map: Path | None
    policy_file: Path | None
    registry_file: Path | None
    masking_file: Path | None

    def reading(self) -> Reading:
        """The answer. Raises UsageError ``attest.sources_map``, InputError for what is wrong in the files."""
        is_evidence = self.format_name == EVIDENCE
        if is_evidence == (self.sources_map is not None):
            why = "has source ids of its own" if is_evidence else "names documents in its provider's way"
            hint = "leave --sources-map out" if is_evidence else "--sources-map FILE says which source each one is"
            raise UsageError("attest.sources_map", f"the format {self.format_name} {why}", "--sources-map", hint)
        sources = load_sources_map(self.sources_map)
        data, place = read_input(self.answer_file)
        try:
            return read_evidence(data) if is_evidence else read_format(data, self.format_name, sources)
        except InputError as error:
            if error.code == "json.syntax" and is_evidence:
                raise InputError(error.code, error.why if data.strip() else "is empty", place, ANSWER_HINT) from None
            raise error.at(place) from None

    def policy(self, workspace: Workspace) -> Policy:
        """The policy of ``--policy``, else the workspace's."""
        path = self.policy_file or workspace.folder / "policy.json"
        return Policy.from_json(load_policy(path))

    def masking(self) -> Masking | None:
        """The map of ``--masking``."""
        return _load(self.masking_file, Masking.from_json) if self.masking_file else None

    @contextmanager
    def view(self, workspace: Workspace, asker: Asker) -> Iterator[View]:
        """The request's own sources where ``--registry`` names some, else what is published."""
        if self.registry_file:
            limit = LIMITS.registry_bytes
            yield _load(self.registry_file, lambda value: RequestView(workspace, value, asker), limit)
        else:
            with open_view(workspace, asker.tenant, asker.groups) as view:
                yield view


def evidence_options(function: Callable[..., int]) -> Callable[..., int]:
    """ANSWER, ``--format``, ``--sources-map``, ``--policy``, ``--registry``, ``--masking``.

    The function gets them as one ``given``.
    """

    @functools.wraps(function)
    def with_given(
        *arguments: Any,
        answer_file: Path,
        format_name: str,
        sources_map: Path | None,
        policy_file: Path | None,
        registry_file: Path | None,
        masking_file: Path | None,
        **others: Any,
    ) -> int:
        given = EvidenceInput(answer_file, format_name, sources_map, policy_file, registry_file, masking_file)
        return function(*arguments, given=given, **others)

    return stack(
        click.argument("answer_file", type=PATH, metavar="ANSWER"),
        click.option(
            "--format",
            "format_name",
            type=click.Choice([EVIDENCE, *FORMATS]),
            default=EVIDENCE,
            show_default=True,
            help="The shape of ANSWER.",
        ),
        click.option("--sources-map", type=PATH, help="Which source each document reference of a provider means."),
        click.option("--policy", "policy_file", type=PATH, help="Policy.  [default: the workspace's policy.json]"),
        click.option("--registry", "registry_file", type=PATH, help="The request's own sources, not the published."),
        click.option("--masking", "masking_file", type=PATH, help="What the placeholders in ANSWER stand for."),
    )(with_given)


def load_sources_map(path: Path | None) -> SourcesMap:
    """The map of ``--sources-map``; empty without one."""
    return _load(path, SourcesMap.from_json) if path else SourcesMap()


def read_input(path: Path) -> tuple[bytes, str]:
    """The bytes of a file, or of standard input for ``-``, and its name for messages."""
    if str(path) == "-":
        return sys.stdin.buffer.read(LIMITS.answer_bytes + 1), "standard input"
    return read_bounded(path, LIMITS.answer_bytes), str(path)


def _load(path: Path, make: Callable[[JsonObject], T], limit: int = LIMITS.answer_bytes) -> T:
    """A JSON file made into a record; errors name the file."""
    try:
        return make(loads(read_bounded(path, limit), limit, canonical=False))
    except InputError as error:
        raise error.at(str(path)) from None
