"""A verdict, an explanation, for people. What comes from an artifact is escaped and shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from kansho_verify.checklist import Step
from kansho_verify.escape import shorten, shown
from kansho_verify.expectations import Profile
from kansho_verify.explanations import EXPLANATIONS
from kansho_verify.reasons import Code, Reason, Result
from kansho_verify.verdict import ClaimResult, Outcome, Verdict, steps_in_words

__all__ = ["explanation_lines", "verdict_lines"]

_CLAIMS_SHOWN, _REASONS_SHOWN, _HAZARDS_SHOWN = 50, 10, 20
_TEXT_CHARS, _NAME_CHARS, _PATH_CHARS, _DETAIL_CHARS = 240, 120, 160, 400
_IN_WORDS = {
    Outcome.ACCEPTED: "ACCEPTED: every required check passed",
    Outcome.REJECTED: "REJECTED: something in it is false, or not what was asked for",
    Outcome.STALE: "STALE: it was true once, but it is superseded, expired or deleted",
    Outcome.UNDECIDED: "UNDECIDED: something required could not be checked",
}


def verdict_lines(verdict: Verdict, name: str) -> Iterator[str]:
    """The verdict on the artifact of this name: in words, the steps that did not pass, claim by claim."""
    yield f"{shown(name, _PATH_CHARS)}: {_words(verdict)}"
    yield from _about(verdict)
    yield from _checks_lines(verdict)
    yield from _claims_lines(verdict)
    if verdict.hazards:
        yield from ("", "a display could be fooled by")
        for hazard in verdict.hazards[:_HAZARDS_SHOWN]:
            points = f" ({', '.join(hazard.code_points[:8])})" if hazard.code_points else ""
            yield f"  {hazard.path}: {hazard.kind} x{hazard.count}{points}"
        yield from _more(len(verdict.hazards) - _HAZARDS_SHOWN)
    yield from ("", "not checked")
    yield from (f"  {text}" for text in verdict.not_checked)


def explanation_lines(code: Code) -> Iterator[str]:
    """What a code means and what to do."""
    explanation = EXPLANATIONS[code]
    yield f"{code} ({explanation.result})"
    yield f"  {explanation.meaning}"
    yield f"  hint: {explanation.action}"


def _words(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.ACCEPTED and verdict.profile is Profile.PUBLIC:
        return "ACCEPTED: the wording is authentic; whether it is current was not checked"
    return _IN_WORDS[verdict.outcome]


def _about(verdict: Verdict) -> Iterator[str]:
    source = "given" if verdict.time_source == "given" else "by the clock"
    yield f"  profile {verdict.profile}, as of {_time(verdict.checked_at)} ({source})"
    yield f"  sha256 {verdict.artifact_sha256}, {verdict.artifact_size} bytes"
    if verdict.self_hash == "mismatch":
        yield "  its self-hash does not match: the copy may be broken (no check relies on it)"
    if verdict.issuer is not None and verdict.issued_at is not None:
        issued = _time(verdict.issued_at)
        yield f"  says it is from {shown(verdict.issuer)}, corpus {verdict.corpus}, issued {issued}"
    if verdict.bound_to_question:
        yield "  bound to a question"


def _checks_lines(verdict: Verdict) -> Iterator[str]:
    """One line when all that is required passed; else every step that has something to say, no sentence twice."""
    required = [check for check in verdict.checks if check.required]
    if all(check.result is Result.PASS for check in required):
        yield f"  {steps_in_words(check.step for check in required)}: passed{_without_live(verdict)}"
    said: set[str] = set()
    for check in verdict.checks:
        reasons = [reason for reason in check.reasons if reason.code is not Code.CHECK_NOT_REACHED]
        if not reasons:
            continue
        note = "" if check.required else " (not required)"
        yield f"  step {check.step}, {check.name.replace('_', ' ')}: {str(check.result).upper()}{note}"
        for reason in reasons[:_REASONS_SHOWN]:
            yield from _reason_lines(reason, said)
        yield from _more(check.total - len(check.reasons) + len(reasons) - _REASONS_SHOWN)


def _without_live(verdict: Verdict) -> str:
    """Why the live state was not demanded where the profile otherwise does."""
    if verdict.profile is not Profile.BOUNDARY or verdict.checks[Step.LIVE - 1].required:
        return ""
    why = "a request's own sources have none" if verdict.registry == "request" else "waived"
    return f"; step {int(Step.LIVE)}, live: {why}"


def _reason_lines(reason: Reason, said: set[str]) -> Iterator[str]:
    """``said`` are the sentences that stand above already; what is printed here is added."""
    explanation = EXPLANATIONS[reason.code]
    detail = shorten(reason.detail, _DETAIL_CHARS)
    yield f"    {reason.code}{': ' if detail else ''}{detail}"
    if reason.path not in ("", "$"):
        yield f"      at {shorten(reason.path, _PATH_CHARS)}"
    if reason.expected is not None or reason.found is not None:
        pairs = (("expected", reason.expected), ("found", reason.found))
        yield "      " + ", ".join(f"{name} {shorten(text, 96)}" for name, text in pairs if text is not None)
    if explanation.meaning not in said and _adds(explanation.meaning, detail):
        yield f"      why: {explanation.meaning}"
    hint = reason.hint or explanation.action
    if hint not in said:
        yield f"      hint: {hint}"
    said.update((explanation.meaning, hint))


def _adds(sentence: str, other: str) -> bool:
    """Whether a sentence says more than the other one: half of its longer words are not in it."""
    words, known = (set(re.findall("[a-z]{4,}", text.lower())) for text in (sentence, other))
    return len(words - known) * 2 >= len(words)


def _claims_lines(verdict: Verdict) -> Iterator[str]:
    if not verdict.claims:
        return
    yield from ("", "claims")
    for i, claim in enumerate(verdict.claims[:_CLAIMS_SHOWN]):
        yield from _claim_lines(i, claim)
    yield from _more(len(verdict.claims) - _CLAIMS_SHOWN)


def _claim_lines(i: int, claim: ClaimResult) -> Iterator[str]:
    yield f"  {i + 1:>2}  {claim.result}  {shown(claim.text, _TEXT_CHARS)}"
    for citation in claim.citations[:_REASONS_SHOWN]:
        place = f"{shown(citation.document, _NAME_CHARS)}:{citation.char_start}-{citation.char_end}"
        level = f"  {citation.evidence_level}" if citation.evidence_level else ""
        codes = ", ".join(dict.fromkeys(str(r.code) for r in citation.reasons if r.code is not Code.CHECK_NOT_REACHED))
        yield f"        {place}{level}{'  ' + codes if codes else ''}"
    yield from _more(len(claim.citations) - _REASONS_SHOWN)


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"        … and {count} more"


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
