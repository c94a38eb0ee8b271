"""The state of one verification: which steps were reached, and every reason under the step it belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import IntEnum

from kansho_verify.canonical_json import JsonObject
from kansho_verify.explanations import result_of
from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, Result, VerifyError
from kansho_verify.verdict import Check, CitationResult, ClaimResult, worst

__all__ = ["Checklist", "Step"]


class Step(IntEnum):
    """The steps of ``docs/spec/verification.md``, by number."""

    LIMITS = 1
    CANONICAL = 2
    SCHEMA = 3
    ENVELOPE = 4
    TRUST_ROOT = 5
    SIGNATURES = 6
    BINDINGS = 7
    GENERATION = 8
    DOCUMENTS = 9
    SOURCES = 10
    LIVE = 11
    AUDIT = 12


class Checklist:
    """Collects reasons. A step fails, goes stale or stays undecided by the worst of its reasons."""

    def __init__(self, required: Iterable[Step]) -> None:
        self._required = frozenset(required)
        self._reached: set[Step] = set()
        self._results: dict[Step, list[Result]] = defaultdict(list)
        self._reasons: dict[Step, list[Reason]] = defaultdict(list)
        self._totals: dict[Step, int] = defaultdict(int)
        self._of_citation: dict[tuple[int, int], list[Reason]] = defaultdict(list)
        self._citation_results: dict[tuple[int, int], list[Result]] = defaultdict(list)
        self._levels: dict[tuple[int, int], str | None] = {}
        self._open: list[Reason] = []

    def waive(self, step: Step) -> None:
        """Demand a step no longer."""
        self._required -= {step}

    @contextmanager
    def step(self, step: Step) -> Iterator[None]:
        """A step being run: a VerifyError raised inside becomes its reason."""
        self._reached.add(step)
        try:
            yield
        except VerifyError as error:
            self.add(step, error.reason)

    @contextmanager
    def early(self, step: Step) -> Iterator[None]:
        """A part of a step that runs before its time: the step counts as reached only if this part is refused."""
        try:
            yield
        except VerifyError as error:
            self._reached.add(step)
            self.add(step, error.reason)

    def add(self, step: Step, *reasons: Reason) -> None:
        """Put reasons under a step. Above the limit they are counted, no longer kept."""
        for reason in reasons:
            self._totals[step] += 1
            result = result_of(reason.code)
            if result not in self._results[step]:
                self._results[step].append(result)
            if len(self._reasons[step]) < LIMITS.reasons_of_a_check:
                self._reasons[step].append(reason)

    def add_to_citation(self, step: Step, claim: int, position: int, reason: Reason) -> None:
        """Put a reason, whose path starts at the citation, under the step and under the citation."""
        placed = reason.under(f"$.public.payload.claims[{claim}].citations[{position}]")
        self.add(step, placed)
        place = (claim, position)
        self._citation_results[place].append(result_of(reason.code))
        if len(self._of_citation[place]) < LIMITS.reasons_of_a_citation:
            self._of_citation[place].append(placed)

    def leave_open(self, reason: Reason) -> None:
        """Let no citation pass, for a reason that stands under a step already."""
        self._open.append(reason)

    def set_level(self, claim: int, position: int, evidence_level: str | None) -> None:
        """Note the evidence level that was derived for a citation."""
        self._levels[claim, position] = evidence_level

    def failed(self, step: Step) -> bool:
        """Whether the step found something false."""
        return Result.FAIL in self._results[step]

    def failed_anywhere(self) -> bool:
        """Whether any step found something false."""
        return any(self.failed(step) for step in Step)

    def required(self, step: Step) -> bool:
        """Whether the profile demands the step."""
        return step in self._required

    def reached(self, step: Step) -> bool:
        """Whether the step was run."""
        return step in self._reached

    def result(self) -> Result:
        """The worst result of the required steps."""
        return worst([check.result for check in self.checks() if check.required])

    def checks(self) -> tuple[Check, ...]:
        """Every step, in order."""
        return tuple(self._check(step) for step in Step)

    def claims(self, claims: Iterable[JsonObject]) -> tuple[ClaimResult, ...]:
        """Every claim of a public section, with what its citations came to."""
        steps = (Step.BINDINGS, Step.DOCUMENTS, Step.SOURCES, Step.LIVE)
        if any(step in self._required and step not in self._reached for step in steps) or self.failed(Step.BINDINGS):
            self.leave_open(Reason(Code.CHECK_NOT_REACHED, "", "an earlier step could not be passed"))
        return tuple(self._claim(i, claim) for i, claim in enumerate(claims))

    def _check(self, step: Step) -> Check:
        required = step in self._required
        reasons, results = list(self._reasons[step]), list(self._results[step])
        if required and step not in self._reached:
            detail = "not reached, for an earlier step could not be passed"
            reasons.insert(0, Reason(Code.CHECK_NOT_REACHED, "", detail))
            results.append(Result.UNDECIDED)
        hidden = self._totals[step] - len(self._reasons[step])
        if hidden > 0:
            reasons[-1] = replace(reasons[-1], detail=f"{reasons[-1].detail} (and {hidden} more reasons)")
        result = worst(results) if required or step in self._reached else Result.NOT_REQUIRED
        return Check(int(step), step.name.lower(), required, result, tuple(reasons), len(reasons) + hidden)

    def _claim(self, i: int, claim: JsonObject) -> ClaimResult:
        citations = tuple(self._citation((i, j), citation) for j, citation in enumerate(claim["citations"]))
        result = worst([citation.result for citation in citations])
        return ClaimResult(claim["claim"], claim["text"], result, citations)

    def _citation(self, place: tuple[int, int], citation: JsonObject) -> CitationResult:
        results = [*self._citation_results.get(place, ()), *(result_of(reason.code) for reason in self._open)]
        reasons = [*self._of_citation.get(place, ()), *self._open]
        return CitationResult(
            document=citation["document"],
            source_uri=citation["source_uri"],
            source_version=citation["source_version"],
            char_start=citation["char_start"],
            char_end=citation["char_end"],
            result=worst(results),
            evidence_level=self._levels.get(place),
            reasons=tuple(reasons),
        )
