"""Step 8: the embedded generation statement, and whether it is the newest (``docs/spec/verification.md``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kansho_verify import identity
from kansho_verify.canonical_json import JsonObject
from kansho_verify.expectations import Expectations, Pins
from kansho_verify.reasons import Code, Reason
from kansho_verify.statement import Statement

__all__ = ["check_generation", "check_given", "check_pins", "current_unknown"]

_PATH = "$.audit.generation.payload"


@dataclass(frozen=True, slots=True)
class _Known:
    """The newest generation that something other than the bundle names."""

    sequence: int
    sha256: str


def check_generation(
    embedded: Statement, *, expected: Expectations, given: Statement | None, live: Statement | None, now: int
) -> Iterator[Reason]:
    """The statement by itself, its registry, its expiry, and whether it is the newest known.

    ``given`` and ``live`` are verified statements of the same issuer and corpus, or None.
    """
    payload = embedded.payload
    yield from _check_identity(payload)
    if payload["expires_at"] < now:
        detail = "the generation has expired"
        yield Reason(Code.GENERATION_EXPIRED, f"{_PATH}.expires_at", detail, hint="ask for a new answer")
    if payload["registry"] == "request":
        if not expected.allow_request_registry:
            detail = "the sources are a request's own and were never published"
            hint = "--allow-request-registry accepts such a registry"
            yield Reason(Code.GENERATION_REQUEST_REGISTRY, f"{_PATH}.registry", detail, hint=hint)
        return
    yield from _check_newest(embedded, given, live)


def check_given(given: Statement, embedded: JsonObject) -> Iterator[Reason]:
    """Whether a given statement is of the same issuer, corpus and registry, and is what it says it is."""
    for member in ("issuer", "corpus", "registry"):
        if given.payload[member] != embedded[member]:
            detail = f"the given generation statement has another {member}"
            yield Reason(Code.GENERATION_GIVEN_MISMATCH, "", detail, hint="--generation names the wrong file")
    for reason in _check_identity(given.payload):
        yield Reason(reason.code, "", f"the given generation statement: {reason.detail}")


def check_pins(payload: JsonObject, sha256: str, pins: Pins) -> Iterator[Reason]:
    """The pins that speak of the generation; ``sha256`` is the statement hash."""
    held = (
        (Code.PIN_GENERATION_MISMATCH, pins.generation, sha256, "generation statement"),
        (Code.PIN_PIPELINE_MISMATCH, pins.pipeline, payload["pipeline_fingerprint"], "pipeline"),
        (Code.PIN_AUTHORIZATION_MISMATCH, pins.authorization, payload["authorization_revision"], "authorization"),
    )
    for code, pin, found, name in held:
        if pin is not None and pin != found:
            yield Reason(code, _PATH, f"the {name} is not the pinned one")


def current_unknown() -> Reason:
    """The reason for a caller who gave nothing that names the newest generation."""
    hint = "--published DIR, or --generation FILE, or --live FILE"
    return Reason(Code.GENERATION_CURRENT_UNKNOWN, "", "nothing given names the newest generation", hint=hint)


def _check_identity(payload: JsonObject) -> Iterator[Reason]:
    if payload["pipeline_fingerprint"] != identity.pipeline_fingerprint(payload["pipeline"]):
        detail = "the fingerprint is not the one of the pipeline"
        yield Reason(Code.GENERATION_FINGERPRINT_MISMATCH, f"{_PATH}.pipeline_fingerprint", detail)
    if payload["generation"] != identity.generation_id(payload):
        detail = "the id is not the one of the generation's parts"
        yield Reason(Code.GENERATION_ID_MISMATCH, f"{_PATH}.generation", detail)
    first, alone = payload["sequence"] == 1, payload["previous_sha256"] is None
    if first != alone or (payload["registry"] == "request" and not first):
        detail = "the first statement, and only it, has no predecessor; a request's registry has one statement"
        yield Reason(Code.GENERATION_CHAIN_INVALID, f"{_PATH}.previous_sha256", detail)


def _check_newest(embedded: Statement, given: Statement | None, live: Statement | None) -> Iterator[Reason]:
    known = None
    if live is not None:
        named = live.payload["generation"]
        known = _Known(named["sequence"], named["statement_sha256"])
    if given is not None:
        offered = _Known(given.payload["sequence"], given.sha256)
        if known is None:
            known = offered
        elif offered.sequence > known.sequence:
            detail = "the given generation statement is newer than the live state"
            yield Reason(Code.LIVE_OLDER_THAN_GENERATION, "", detail, hint="get the newest live state")
            return
        elif _forked(offered, known):
            yield Reason(Code.GENERATION_FORK, "", "the live state and the given statement contradict each other")
            return
    if known is None:
        yield current_unknown()
        return
    mine = _Known(embedded.payload["sequence"], embedded.sha256)
    if _forked(mine, known):
        detail = "two generation statements share one sequence: keep both as evidence"
        yield Reason(Code.GENERATION_FORK, f"{_PATH}.sequence", detail, known.sha256, mine.sha256)
    elif mine.sequence < known.sequence:
        detail = f"generation {mine.sequence} was superseded; the newest is {known.sequence}"
        yield Reason(Code.GENERATION_SUPERSEDED, f"{_PATH}.sequence", detail, hint="ask for a new answer")
    elif mine.sequence > known.sequence:
        detail = f"generation {mine.sequence} is newer than the newest known, {known.sequence}"
        hint = "get the newest generation statement and live state"
        yield Reason(Code.GENERATION_NEWER_THAN_KNOWN, f"{_PATH}.sequence", detail, hint=hint)


def _forked(one: _Known, other: _Known) -> bool:
    """Same sequence and other hash, or same hash and other sequence: the two cannot both be true."""
    return (one.sequence == other.sequence) != (one.sha256 == other.sha256)
