"""The verdict: a frozen result, its JSON document (``schemas/check.v1.schema.json``) and its exit code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kansho_verify.canonical_json import JsonObject
from kansho_verify.escape import shorten
from kansho_verify.expectations import Profile
from kansho_verify.hazards import Hazard
from kansho_verify.reasons import Code, Reason, Result, VerifyError

__all__ = [
    "EXIT_ORDER",
    "Check",
    "CitationResult",
    "ClaimResult",
    "GenerationName",
    "Outcome",
    "RejectedError",
    "TrustRootName",
    "Verdict",
    "first_exit_code",
    "steps_in_words",
    "to_document",
    "worst",
]

EXIT_ORDER = (70, 3, 5, 4, 0)
"""Of several bundles the exit code is the first of these that occurs."""

_SEVERITY = (Result.FAIL, Result.STALE, Result.UNDECIDED, Result.PASS, Result.NOT_REQUIRED)
_PATH_CHARS, _DETAIL_CHARS, _QUOTED_CHARS, _HINT_CHARS = 512, 1024, 256, 512


class Outcome(StrEnum):
    """The result of a whole check, with the exit code that it has."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    STALE = "stale"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """0, 3, 5 or 4 (``docs/spec/verification.md``, Verdict)."""
        return {"accepted": 0, "rejected": 3, "stale": 5, "undecided": 4}[self]

    @classmethod
    def of(cls, result: Result) -> Outcome:
        """The outcome when ``result`` is the worst of the required checks."""
        return {Result.FAIL: cls.REJECTED, Result.STALE: cls.STALE, Result.UNDECIDED: cls.UNDECIDED}.get(
            result, cls.ACCEPTED
        )


@dataclass(frozen=True, slots=True)
class Check:
    """One numbered step. ``reasons`` are at most 100; ``total`` says how many there were."""

    step: int
    name: str
    required: bool
    result: Result
    reasons: tuple[Reason, ...]
    total: int


@dataclass(frozen=True, slots=True)
class CitationResult:
    """One citation: where it points, what it came to, and the evidence level that was derived, if any."""

    document: str
    source_uri: str
    source_version: str
    char_start: int
    char_end: int
    result: Result
    evidence_level: str | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """One claim: its text, which is verified wording only when ``result`` is pass, and its citations."""

    claim: str
    text: str
    result: Result
    citations: tuple[CitationResult, ...]


@dataclass(frozen=True, slots=True)
class TrustRootName:
    """Which trust root decided."""

    version: int
    sha256: str


@dataclass(frozen=True, slots=True)
class GenerationName:
    """Which generation the bundle was made in: id, sequence, statement hash."""

    generation: str
    sequence: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that was decided about one bundle, and what was not checked."""

    profile: Profile
    outcome: Outcome
    checked_at: int
    time_source: str
    artifact_sha256: str
    artifact_size: int
    self_hash: str
    issuer: str | None
    corpus: str | None
    issued_at: int | None
    status: str | None
    registry: str | None
    bound_to_question: bool
    trust_root: TrustRootName | None
    generation: GenerationName | None
    checks: tuple[Check, ...]
    claims: tuple[ClaimResult, ...]
    not_checked: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    version: str

    @property
    def exit_code(self) -> int:
        """0 accepted, 3 rejected, 5 stale, 4 undecided."""
        return self.outcome.exit_code

    @property
    def codes(self) -> frozenset[Code]:
        """Every reason code that occurs in the checks."""
        return frozenset(reason.code for check in self.checks for reason in check.reasons)


class RejectedError(VerifyError):
    """Raised by the raising wrapper for every outcome but accepted; ``reason`` is the first of the gravest."""

    def __init__(self, verdict: Verdict) -> None:
        gravest = worst([check.result for check in verdict.checks if check.required])
        decisive = (check for check in verdict.checks if check.required and check.result is gravest)
        super().__init__(next(reason for check in decisive for reason in check.reasons))
        self.verdict = verdict


def worst(results: list[Result] | tuple[Result, ...]) -> Result:
    """The worst result, in the order fail, stale, undecided, pass; without any, pass."""
    return next((result for result in _SEVERITY if result in results), Result.PASS)


def first_exit_code(codes: list[int]) -> int:
    """The exit code of several checks: the first of 70, 3, 5, 4, 0 that occurs."""
    return next((code for code in EXIT_ORDER if code in codes), 0)


def steps_in_words(steps: Iterable[int]) -> str:
    """Step numbers, at least one and ascending, as in ``steps 1 to 7 and 10``."""
    runs: list[list[int]] = []
    for step in steps:
        if runs and runs[-1][-1] == step - 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return f"step{'s' if len(runs) > 1 or len(runs[0]) > 1 else ''} {listed}"


def to_document(verdict: Verdict) -> JsonObject:
    """The verdict document, valid under ``schemas/check.v1.schema.json``."""
    return {
        "schema": "kansho.check.v1",
        "verifier": {"name": "kansho-verify", "version": verdict.version},
        "profile": str(verdict.profile),
        "result": str(verdict.outcome),
        "exit_code": verdict.exit_code,
        "checked_at": verdict.checked_at,
        "time_source": verdict.time_source,
        "artifact": {
            "sha256": verdict.artifact_sha256,
            "size": verdict.artifact_size,
            "self_hash": verdict.self_hash,
        },
        "issuer": verdict.issuer,
        "corpus": verdict.corpus,
        "issued_at": verdict.issued_at,
        "status": verdict.status,
        "registry": verdict.registry,
        "bound_to_question": verdict.bound_to_question,
        "trust_root": None
        if verdict.trust_root is None
        else {"version": verdict.trust_root.version, "sha256": verdict.trust_root.sha256},
        "generation": None
        if verdict.generation is None
        else {
            "generation": verdict.generation.generation,
            "sequence": verdict.generation.sequence,
            "sha256": verdict.generation.sha256,
        },
        "checks": [_check(check) for check in verdict.checks],
        "claims": [_claim(claim) for claim in verdict.claims],
        "not_checked": list(verdict.not_checked),
        "display_hazards": [
            {"path": h.path, "kind": h.kind, "code_points": list(h.code_points), "count": h.count}
            for h in verdict.hazards
        ],
    }


def _check(check: Check) -> JsonObject:
    return {
        "step": check.step,
        "id": check.name,
        "required": check.required,
        "result": str(check.result),
        "reasons": [_reason(reason) for reason in check.reasons],
    }


def _claim(claim: ClaimResult) -> JsonObject:
    return {
        "claim": claim.claim,
        "text": claim.text,
        "result": str(claim.result),
        "citations": [
            {
                "document": citation.document,
                "source_uri": citation.source_uri,
                "source_version": citation.source_version,
                "char_start": citation.char_start,
                "char_end": citation.char_end,
                "result": str(citation.result),
                "evidence_level": citation.evidence_level,
                "reasons": [_reason(reason) for reason in citation.reasons],
            }
            for citation in claim.citations
        ],
    }


def _reason(reason: Reason) -> JsonObject:
    document: JsonObject = {
        "code": str(reason.code),
        "path": shorten(reason.path, _PATH_CHARS),
        "detail": shorten(reason.detail, _DETAIL_CHARS),
    }
    optional = (
        ("expected", reason.expected, _QUOTED_CHARS),
        ("found", reason.found, _QUOTED_CHARS),
        ("hint", reason.hint, _HINT_CHARS),
    )
    return document | {name: shorten(text, limit) for name, text, limit in optional if text is not None}
