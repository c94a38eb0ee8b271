"""Evidence checked under a policy: every finding, or an artifact (docs/spec/evidence.md)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kansho_sign.errors import InputError
from kansho_sign.evidence.answers import Annotation, UntrustedAnswer
from kansho_sign.evidence.artifact import ArtifactSource, CheckedEvidence, VerifiedArtifact
from kansho_sign.evidence.decisions import Decision, decide
from kansho_sign.evidence.diagnosis import Diagnoser
from kansho_sign.evidence.masking import Masking
from kansho_sign.evidence.matching import Finding, Span
from kansho_sign.evidence.policy import Coverage, Policy
from kansho_sign.evidence.sources import Registry
from kansho_sign.limits import LIMITS

__all__ = ["EvidenceRejectedError", "Result", "check", "require"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an answer.

    ``artifact`` is None where there are findings, or where the policy asks for none. ``undiagnosed`` counts the near
    misses that were not looked at, for there were so many.
    """

    decisions: tuple[Decision, ...]
    artifact: VerifiedArtifact | None
    undiagnosed: int = 0

    @property
    def findings(self) -> tuple[Decision, ...]:
        """The refused items, in the answer's order; empty when everything stands."""
        return tuple(decision for decision in self.decisions if decision.finding is not None)


@dataclass(slots=True)
class EvidenceRejectedError(InputError):
    """Evidence does not stand (``evidence.rejected``); ``findings`` has every refused item."""

    findings: tuple[Decision, ...] = ()

    def at(self, where: str) -> "EvidenceRejectedError":
        """As for every error; the findings stay."""
        joined = f"{where}: {self.where}" if self.where else where
        return EvidenceRejectedError(self.code, self.why, joined, self.hint, self.findings)


def check(
    answer: UntrustedAnswer,
    registry: Registry,
    policy: Policy,
    *,
    masking: Masking | None = None,
    diagnose: bool = True,
) -> Result:
    """Checks an answer over the sources of ``registry``, which are those that the subject may see and no others.

    One bad item fails the whole; every finding is in the result. An answer without evidence has no finding, and an
    artifact of it says nothing of the answer. Raises InputError for a policy that cannot be carried out (``policy.*``),
    a masking map that does not fit the sources (``masking.placeholder_in_source``), and for too much work
    (``limits.work``).
    """
    policy.check_selection(registry)
    if masking is not None:
        masking.check_sources(registry.values())
    decisions = decide(answer, registry, policy, masking)
    if any(decision.finding for decision in decisions):
        if not diagnose:
            return Result(tuple(decisions), None)
        diagnosed, left = _diagnosed(decisions, registry)
        return Result(diagnosed, None, left)
    artifact = _artifact(answer.annotations, decisions, registry, policy) if policy.coverage else None
    return Result(tuple(decisions), artifact)


def require(
    answer: UntrustedAnswer, registry: Registry, policy: Policy, *, masking: Masking | None = None
) -> VerifiedArtifact:
    """The artifact, or EvidenceRejectedError. Raises as :func:`check`, and ``policy.no_coverage``."""
    if policy.coverage is None:
        raise InputError("policy.no_coverage", "the policy asks for no artifact", "$.coverage", "name a coverage")
    result = check(answer, registry, policy, masking=masking)
    if result.artifact is None:
        why = f"{len(result.findings)} of {len(result.decisions)} items do not stand"
        raise EvidenceRejectedError("evidence.rejected", why, findings=result.findings)
    return result.artifact


def _diagnosed(decisions: Sequence[Decision], registry: Registry) -> tuple[tuple[Decision, ...], int]:
    """Near misses explained, source by source so that each is prepared once, up to the limit of work."""
    missed: dict[str, list[int]] = {}
    for position, decision in enumerate(decisions):
        if decision.finding is Finding.UNVERIFIED_EXCERPT and decision.excerpt is not None:
            missed.setdefault(decision.source_id, []).append(position)
    made, spent, left = list(decisions), 0, 0
    for source_id, positions in missed.items():
        text = registry[source_id].text
        diagnoser = Diagnoser(text)
        for position in positions:
            excerpt = made[position].excerpt or ""
            spent += len(text) + len(excerpt)
            if spent > LIMITS.diagnosis_work_code_points:
                left += 1
            else:
                made[position] = replace(made[position], diagnosis=diagnoser.diagnose(excerpt))
    return tuple(made), left


def _artifact(
    annotations: Iterable[Annotation], decisions: Sequence[Decision], registry: Registry, policy: Policy
) -> VerifiedArtifact | None:
    """Selected sources whole, and all that was checked: one for each place, in the order of the answer."""
    if policy.coverage is None:
        return None
    order = policy.selected_ids or ()
    numbers: dict[Span, int] = {}
    evidence: list[CheckedEvidence] = []
    of_item: list[int] = []
    for decision in decisions:
        span = decision.span
        if span is None:
            continue
        if span not in numbers:
            numbers[span] = len(evidence)
            text = decision.excerpt or ""
            evidence.append(CheckedEvidence(span.source_id, span.start, span.end, text, span.occurrences))
        of_item.append(numbers[span])
    whole = order if policy.coverage is Coverage.ALL_SELECTED_SOURCES else ()
    sources = [registry[source_id] for source_id in whole]
    unverified = None
    if policy.include_unverified_annotations:
        unverified = tuple(
            Annotation(one.text, tuple(dict.fromkeys(of_item[number] for number in one.evidence)))
            for one in annotations
        )
    return VerifiedArtifact(
        policy.coverage,
        order,
        order if policy.source_order is None else policy.source_order,
        tuple(ArtifactSource(source.source_id, source.role, source.text) for source in sources),
        tuple(evidence),
        unverified,
    )
