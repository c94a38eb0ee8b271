"""Untrusted evidence against a registry of local sources (docs/spec/evidence.md).

Canonical content comes from the registry alone. Nothing here tolerates a difference: an excerpt stands in a source
code point by code point, or it does not stand there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kansho_sign.characters import only_invisible
from kansho_sign.errors import InputError
from kansho_sign.evidence.answers import Evidence, ProposedText, UntrustedAnswer
from kansho_sign.evidence.diagnosis import Diagnosis
from kansho_sign.evidence.masking import Masking
from kansho_sign.evidence.matching import Finding, Span
from kansho_sign.evidence.policy import Policy
from kansho_sign.evidence.searching import Seeker, Work, locate_many
from kansho_sign.evidence.sources import Registry
from kansho_sign.limits import LIMITS
from kansho_sign.text import canonical_text, sha256_text

__all__ = ["Decision", "decide"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one item of an answer: a span, or a finding; a proposed text that agrees has neither.

    ``excerpt`` is the canonical form of what was checked, unmasked; None where what came has no such form.
    ``diagnosis`` says why a near miss missed: it never accepts anything.
    """

    path: str
    source_id: str
    excerpt: str | None = field(repr=False)  # unmasked: it must not come into a log
    excerpt_sha256: str
    finding: Finding | None
    span: Span | None
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of evidence before it is looked for; ``excerpt`` None has no canonical form."""

    source_id: str
    received: str
    excerpt: str | None


def _canonical(text: str) -> str | None:
    try:
        return canonical_text(text)
    except InputError:
        return None


class _Rules:
    def __init__(self, registry: Registry, policy: Policy, masking: Masking | None) -> None:
        self.registry, self.policy, self.masking = registry, policy, masking
        self.allowed = frozenset(policy.allowed_roles)
        self._looked: dict[str, Finding | None] = {}
        self._unmasked_left = LIMITS.answer_bytes

    def canonical(self, received: str) -> str | None:
        """What an excerpt says, in canonical form and unmasked; None where it says nothing that can stand anywhere."""
        text = _canonical(received)
        if self.masking is None or text is None:
            return text
        unmasked = self.masking.unmask(text, self._unmasked_left)
        if unmasked is None:
            return None
        self._unmasked_left -= len(unmasked)
        # Only what came may lose a byte order mark: the mark put before takes the place of one that was quoted.
        return _canonical("\ufeff" + unmasked)

    def first_look(self, source_id: str) -> Finding | None:
        """What can be said of an item by the source that it names."""
        if source_id not in self._looked:
            source = self.registry.get(source_id)
            if source is None:
                self._looked[source_id] = Finding.UNKNOWN_SOURCE
            else:
                self._looked[source_id] = None if source.role in self.allowed else Finding.ROLE_NOT_ALLOWED
        return self._looked[source_id]


def _cited(items: Iterable[_Item], rules: _Rules, work: Work) -> dict[tuple[str, str], Span | Finding]:
    """Where each excerpt stands in the source that it names, source by source."""
    by_source: dict[str, dict[str, None]] = {}
    for item in items:
        if item.excerpt:
            by_source.setdefault(item.source_id, {})[item.excerpt] = None
    made: dict[tuple[str, str], Span | Finding] = {}
    for source_id, excerpts in by_source.items():
        text = rules.registry[source_id].text
        for excerpt, outcome in locate_many(source_id, text, excerpts, rules.policy.excerpt_boundary, work).items():
            made[source_id, excerpt] = outcome
    return made


def _elsewhere(missing: set[str], rules: _Rules, work: Work) -> Mapping[str, Finding]:
    """For excerpts that do not stand where they should: whether they stand in other sources, allowed or not."""
    made: dict[str, Finding] = {}
    if not missing:
        return made
    seeker = Seeker(missing)
    sought = set(missing)
    for source_id in rules.registry:
        if not sought:
            break
        source = rules.registry[source_id]
        is_allowed = source.role in rules.allowed
        for excerpt in seeker.standing(source.text, sought, work):
            made[excerpt] = Finding.WRONG_SOURCE if is_allowed else Finding.ROLE_NOT_ALLOWED
            if is_allowed:
                sought.discard(excerpt)
    return made


def _outcomes(items: list[_Item], rules: _Rules) -> Iterator[Span | Finding]:
    """One for each item, the first that applies in the order of the page's table."""
    firsts = [rules.first_look(item.source_id) for item in items]
    sound = [item for item, first in zip(items, firsts, strict=True) if first is None and not _is_empty(item)]
    work = Work()
    cited = _cited(sound, rules, work)
    missing = {excerpt for (_, excerpt), outcome in cited.items() if outcome is Finding.UNVERIFIED_EXCERPT}
    elsewhere = _elsewhere(missing, rules, work)
    for item, first in zip(items, firsts, strict=True):
        if first is not None:
            yield first
        elif _is_empty(item):
            yield Finding.EMPTY_EXCERPT
        elif item.excerpt is None:
            yield Finding.UNVERIFIED_EXCERPT
        else:
            outcome = cited[item.source_id, item.excerpt]
            yield elsewhere.get(item.excerpt, outcome) if outcome is Finding.UNVERIFIED_EXCERPT else outcome


def _is_empty(item: _Item) -> bool:
    return only_invisible(item.received) or (item.excerpt is not None and only_invisible(item.excerpt))


def _item(evidence: Evidence, rules: _Rules) -> _Item:
    return _Item(evidence.source_id, evidence.excerpt, rules.canonical(evidence.excerpt))


def _proposal(position: int, proposed: ProposedText, rules: _Rules) -> Decision:
    text = rules.canonical(proposed.text)
    finding = rules.first_look(proposed.source_id)
    if finding is None and text != rules.registry[proposed.source_id].text:
        finding = Finding.CANONICAL_OVERWRITE
    digest = sha256_text(proposed.text if text is None else text)
    return Decision(f"proposed_texts[{position}].text", proposed.source_id, text, digest, finding, None)


def decide(
    answer: UntrustedAnswer, registry: Registry, policy: Policy, masking: Masking | None = None
) -> list[Decision]:
    """One decision for each item of evidence, then one for each proposed text, in the answer's order.

    Without diagnoses. Raises InputError ``limits.work``, and ``limits.bytes`` where unmasking makes too much text.
    """
    rules = _Rules(registry, policy, masking)
    items = [_item(evidence, rules) for evidence in answer.evidence]
    decisions = []
    for position, (item, outcome) in enumerate(zip(items, _outcomes(items, rules), strict=True)):
        finding = outcome if isinstance(outcome, Finding) else None
        span = outcome if isinstance(outcome, Span) else None
        digest = sha256_text(item.received if item.excerpt is None else item.excerpt)
        path = f"evidence[{position}].excerpt"
        decisions.append(Decision(path, item.source_id, item.excerpt, digest, finding, span))
    decisions += [_proposal(position, one, rules) for position, one in enumerate(answer.proposed_texts)]
    return decisions
