"""From a model's first stage to the input of the stage that writes the entry (docs/spec/adapters/journal.md)."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from kansho_sign.adapters.journal.conversation import (
    TURNS,
    Arrangement,
    Conversation,
    JournalError,
    arrange,
    arranged_policy,
    policy,
    require_sources,
)
from kansho_sign.adapters.nodes import Node
from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.errors import InputError
from kansho_sign.evidence import (
    Boundary,
    Evidence,
    Masking,
    ProposedText,
    UntrustedAnswer,
    VerifiedArtifact,
    check,
    require,
)
from kansho_sign.limits import LIMITS
from kansho_sign.strict_json import parse
from kansho_sign.text import canonical_text

__all__ = ["EntryInput", "FirstStage", "Outcome", "entry_input", "read_first_stage", "verify_reconstruction"]

INVALID, BUDGET, IDENTITY = "reconstruction_invalid", "prompt_budget_exceeded", "identity_in_output"
PROPOSED_TEXTS = 16_384  # as kansho.answer.v1
ESCAPES = re.compile(r'(?:\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]))+')
ESCAPE_LEVELS = 8  # JSON in a string of JSON, and so on


@dataclass(frozen=True, slots=True)
class FirstStage:
    """What is read of a model's reconstruction, untrusted; ``order`` None where it proposes none."""

    answer: UntrustedAnswer = field(repr=False)
    order: tuple[str, ...] | None = field(repr=False)

    def answer_json(self) -> JsonObject:
        """Its evidence as ``kansho.answer.v1``, untrusted as before, for signing."""
        evidence = [{"source_id": one.source_id, "excerpt": one.excerpt} for one in self.answer.evidence]
        proposed = [{"source_id": one.source_id, "text": one.text} for one in self.answer.proposed_texts]
        return {"schema": "kansho.answer.v1", "evidence": evidence, "proposed_texts": proposed}


class Outcome(StrEnum):
    """Whether a model's evidence is in the artifact, or the sources alone."""

    VERIFIED_ARTIFACT = "verified_artifact"
    LOCAL_VERIFIED_ARTIFACT = "local_verified_artifact"


@dataclass(frozen=True, slots=True)
class EntryInput:
    """What the second stage may use: ``reconstruction``, the canonical JSON of ``artifact``, in plain wording.

    ``reason`` says why an artifact is local: ``reconstruction_invalid`` or ``identity_in_output``; ``diagnostics`` as
    in :class:`JournalError`, and ``order_kept`` where a proposed order was not confirmed.
    """

    outcome: Outcome
    reason: str | None
    diagnostics: JsonObject
    artifact: VerifiedArtifact = field(repr=False)
    trace_id: str
    reconstruction: str = field(repr=False)


def _invalid(reason: str, where: str, **more: object) -> JournalError:
    return JournalError(INVALID, f"no reconstruction: {reason}", where, "", {"reason": reason, "where": where, **more})


def read_first_stage(first_stage: bytes | str) -> FirstStage:
    """What a first stage says, of the members ``evidence``, ``proposed_texts`` and ``order`` alone.

    Raises InputError ``json.*``, ``limits.*``, ``adapter.shape``.
    """
    if not isinstance(first_stage, (bytes, str)):
        raise InputError("adapter.shape", "a first stage is text", "$")
    data = first_stage if isinstance(first_stage, bytes) else first_stage.encode("utf-8", "surrogatepass")
    root = Node(parse(data, LIMITS.answer_bytes))
    evidence = [
        Evidence(item.need("source_id").string(), item.need("excerpt").string())
        for item in _items(root.need("evidence"), LIMITS.evidence_items)
    ]
    proposed = [
        ProposedText(item.need("source_id").string(), item.need("text").string())
        for item in _items(root.get("proposed_texts"), PROPOSED_TEXTS)
    ]
    order = root.get("order")
    ids = None if order is None else tuple(item.string() for item in _items(order, TURNS))
    return FirstStage(UntrustedAnswer(tuple(evidence), proposed_texts=tuple(proposed)), ids)


def _items(array: Node | None, limit: int) -> list[Node]:
    items = [] if array is None else list(array.items())
    if array is not None and len(items) > limit:
        raise InputError("limits.items", f"more than {limit} items", array.path)
    return items


def verify_reconstruction(
    first_stage: bytes | str,
    conversation: Conversation,
    *,
    masking: Masking | None = None,
    excerpt_boundary: Boundary = Boundary.SAFE,
) -> VerifiedArtifact:
    """Every selected turn of the user, whole, and the model's evidence, if all of it stands.

    Raises JournalError ``no_user_sources``, and ``reconstruction_invalid`` for everything else, with the reason.
    """
    return _verified(first_stage, conversation, masking, excerpt_boundary)[0]


def _verified(
    first_stage: bytes | str, conversation: Conversation, masking: Masking | None, boundary: Boundary
) -> tuple[VerifiedArtifact, Arrangement]:
    require_sources(conversation)
    try:
        stage = read_first_stage(first_stage)
        arranged = arrange(conversation, stage.order)
        wanted = arranged_policy(conversation, arranged.order, boundary)
        result = check(stage.answer, conversation.registry, wanted, masking=masking, diagnose=False)
    except InputError as error:
        raise _invalid(error.code, error.where) from None
    if result.artifact is None:
        findings = [{"code": str(one.finding), "path": f"$.{one.path}"} for one in result.findings]
        raise _invalid(findings[0]["code"], findings[0]["path"], findings=findings)
    return result.artifact, arranged


def entry_input(
    ask: Callable[[bool], bytes | str],
    conversation: Conversation,
    *,
    trace_id: str,
    limit: int,
    measure: Callable[[str], int],
    masking: Masking | None = None,
    excerpt_boundary: Boundary = Boundary.SAFE,
) -> EntryInput:
    """The input of the stage that writes the entry: the verified artifact, or the user's turns alone.

    ``ask`` calls the model; it is given whether this is the retry, which there is once, where the first answer shows
    an identity. ``measure`` says how much of the ``limit`` a text takes. What the two raise is not caught. Raises
    JournalError ``no_user_sources``, before anything is asked, and ``prompt_budget_exceeded``.
    """
    require_sources(conversation)
    answer = ask(False)  # noqa: FBT003 - the caller's function, called by position
    shown = _shown(answer, masking)
    if shown is not None:
        answer = ask(True)  # noqa: FBT003 - likewise
        shown = _shown(answer, masking)
    if shown is None:
        artifact, reason, diagnostics = _decided(answer, conversation, masking, excerpt_boundary)
    else:
        artifact, reason, diagnostics = _local(conversation), IDENTITY, {"reason": shown}
    reconstruction = dumps(artifact.to_json()).decode("utf-8")
    measured = measure(reconstruction)
    if measured > limit:
        counted: JsonObject = {"reason": BUDGET, "limit": limit, "measured": measured}
        raise JournalError(BUDGET, f"{measured} of at most {limit}", "", "nothing was shortened", counted)
    outcome = Outcome.VERIFIED_ARTIFACT if reason is None else Outcome.LOCAL_VERIFIED_ARTIFACT
    return EntryInput(outcome, reason, diagnostics, artifact, trace_id, reconstruction)


def _decided(
    answer: bytes | str, conversation: Conversation, masking: Masking | None, boundary: Boundary
) -> tuple[VerifiedArtifact, str | None, JsonObject]:
    """An artifact, why it is a local one, and the diagnostics."""
    try:
        artifact, arranged = _verified(answer, conversation, masking, boundary)
    except JournalError as error:
        return _local(conversation), error.code, error.diagnostics
    kept = arranged.deciding
    return artifact, None, {} if kept is None else {"order_kept": list(kept)}


def _local(conversation: Conversation) -> VerifiedArtifact:
    """The user's turns in the order of encounter, nothing else."""
    return require(UntrustedAnswer(()), conversation.registry, policy(conversation))


def _shown(answer: bytes | str, masking: Masking | None) -> str | None:
    """Why an answer is not taken over: that an identity stands in it, as it came or behind the escapes of JSON, or
    what keeps it from being compared. None where nothing shows.
    """
    if masking is None or not isinstance(answer, (bytes, str)):
        return None
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    for _ in range(ESCAPE_LEVELS):
        try:
            if masking.shown_in(canonical_text(text)):
                return IDENTITY
        except InputError as error:
            return error.code
        unescaped = ESCAPES.sub(lambda found: str(json.loads(f'"{found.group()}"')), text)
        if unescaped == text:
            return None
        text = unescaped
    return "limits.depth"
