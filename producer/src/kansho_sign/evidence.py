"""Untrusted evidence against a registry of local sources (docs/spec/evidence.md).

Canonical content comes from the registry alone. Nothing here tolerates a difference: an excerpt stands in a source
code point by code point, or it does not stand there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kansho_sign.canonical_json import JsonObject
from kansho_sign.characters import cuts_character, is_digit, is_letter_or_digit, only_invisible
from kansho_sign.errors import InputError
from kansho_sign.text import canonical_text, sha256_text

__all__ = ["Decision", "Finding", "Registry", "RegistrySource", "check_answer", "locate"]

MARKS = frozenset(".,'\u2019\u066b\u066c\u00a0\u202f")
SIGNS = frozenset("+-\u2212\u00b1")


class Finding(StrEnum):
    """Why a piece of evidence is refused."""

    UNKNOWN_SOURCE = "unknown_source"
    ROLE_NOT_ALLOWED = "role_not_allowed"
    EMPTY_EXCERPT = "empty_excerpt"
    WRONG_SOURCE = "wrong_source"
    UNVERIFIED_EXCERPT = "unverified_excerpt"
    EXCERPT_CUTS_NUMBER = "excerpt_cuts_number"
    EXCERPT_CUTS_CHARACTER = "excerpt_cuts_character"
    CANONICAL_OVERWRITE = "canonical_overwrite"


@dataclass(frozen=True, slots=True)
class RegistrySource:
    """A local source that the subject may see; ``text`` is its canonical text."""

    source_id: str
    role: str
    text: str


Registry = Mapping[str, RegistrySource]


@dataclass(frozen=True, slots=True)
class Span:
    """The place that evidence confirms: ``[start, end)`` in code points, and how often the text stands there."""

    source_id: str
    start: int
    end: int
    occurrences: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one item of an answer: a span, or a finding; a proposed text that agrees has neither."""

    path: str
    source_id: str
    excerpt_sha256: str
    finding: Finding | None
    span: Span | None


def occurrences(text: str, excerpt: str) -> Iterator[int]:
    """Every place where ``excerpt``, not empty, stands, overlapping ones too, ascending; in linear time."""
    size, period, previous = len(excerpt), 0, -1
    place = text.find(excerpt)
    while place >= 0:
        yield place
        # Two neighbours at most half an excerpt apart show the excerpt's smallest period. While the text goes on with
        # it, the next place is one period away; searching anew for each would read the same text again and again.
        if not period and previous >= 0 and 2 * (place - previous) <= size:
            period = place - previous
        previous = place
        end = place + size
        if period and text[end : end + period] == excerpt[size - period :]:
            place += period
        else:
            place = text.find(excerpt, place + 1)


def _at(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else ""


def _edge_cuts_number(text: str, edge: int) -> bool:
    before, after = _at(text, edge - 1), _at(text, edge)
    if is_digit(before) and is_digit(after):
        return True
    if is_digit(before) and after in MARKS and is_digit(_at(text, edge + 1)):
        return True
    return is_digit(after) and before in MARKS and is_digit(_at(text, edge - 2))


def _cuts_number(text: str, start: int, end: int) -> bool:
    if _edge_cuts_number(text, start) or _edge_cuts_number(text, end):
        return True
    signed = is_digit(_at(text, start)) and _at(text, start - 1) in SIGNS
    return signed and not is_letter_or_digit(_at(text, start - 2))


def _cut(text: str, start: int, end: int) -> Finding | None:
    if _cuts_number(text, start, end):
        return Finding.EXCERPT_CUTS_NUMBER
    for edge in (start, end):
        if cuts_character(_at(text, edge - 1), _at(text, edge)):
            return Finding.EXCERPT_CUTS_CHARACTER
    return None


def locate(source: RegistrySource, excerpt: str, boundary: str) -> Span | Finding:
    """The place of a canonical, non-empty excerpt in one source under ``safe`` or ``any``, or why there is none."""
    count, chosen, first_cut = 0, -1, None
    for place in occurrences(source.text, excerpt):
        count += 1
        if chosen >= 0:
            continue
        cut = _cut(source.text, place, place + len(excerpt)) if boundary == "safe" else None
        if cut is None:
            chosen = place
        elif first_cut is None:
            first_cut = cut
    if chosen >= 0:
        return Span(source.source_id, chosen, chosen + len(excerpt), count)
    return first_cut or Finding.UNVERIFIED_EXCERPT


@dataclass(frozen=True, slots=True)
class _Rules:
    registry: Registry
    allowed: frozenset[str]
    boundary: str


def _canonical(text: str) -> str | None:
    try:
        return canonical_text(text)
    except InputError:
        return None


def _decide(source_id: str, received: str, excerpt: str | None, rules: _Rules) -> Span | Finding:
    registry, allowed = rules.registry, rules.allowed
    source = registry.get(source_id)
    if source is None:
        return Finding.UNKNOWN_SOURCE
    if source.role not in allowed:
        return Finding.ROLE_NOT_ALLOWED
    if only_invisible(received) or excerpt == "":
        return Finding.EMPTY_EXCERPT
    if excerpt is None:
        return Finding.UNVERIFIED_EXCERPT
    found = locate(source, excerpt, rules.boundary)
    if found is not Finding.UNVERIFIED_EXCERPT:
        return found
    roles = {other.role for other in registry.values() if other is not source and excerpt in other.text}
    if roles & allowed:
        return Finding.WRONG_SOURCE
    return Finding.ROLE_NOT_ALLOWED if roles else Finding.UNVERIFIED_EXCERPT


def _evidence_decision(position: int, item: Mapping[str, str], rules: _Rules) -> Decision:
    source_id, received = item["source_id"], item["excerpt"]
    excerpt = _canonical(received)
    outcome = _decide(source_id, received, excerpt, rules)
    return Decision(
        f"evidence[{position}].excerpt",
        source_id,
        sha256_text(received if excerpt is None else excerpt),
        outcome if isinstance(outcome, Finding) else None,
        outcome if isinstance(outcome, Span) else None,
    )


def _proposal_decision(position: int, item: Mapping[str, str], rules: _Rules) -> Decision:
    source_id, received = item["source_id"], item["text"]
    proposed = _canonical(received)
    source = rules.registry.get(source_id)
    finding: Finding | None = None
    if source is None:
        finding = Finding.UNKNOWN_SOURCE
    elif source.role not in rules.allowed:
        finding = Finding.ROLE_NOT_ALLOWED
    elif proposed != source.text:
        finding = Finding.CANONICAL_OVERWRITE
    digest = sha256_text(received if proposed is None else proposed)
    return Decision(f"proposed_texts[{position}].text", source_id, digest, finding, None)


def check_answer(answer: JsonObject, policy: JsonObject, registry: Registry) -> list[Decision]:
    """One decision for each item of evidence, then one for each proposed text, in the answer's order.

    ``answer`` and ``policy`` are valid under their schemas; the registry holds what the subject may see and no more.
    """
    rules = _Rules(registry, frozenset(policy["allowed_roles"]), policy["excerpt_boundary"])
    evidence: Sequence[Mapping[str, str]] = answer["evidence"]
    proposals: Sequence[Mapping[str, str]] = answer.get("proposed_texts", [])
    return [
        *(_evidence_decision(i, item, rules) for i, item in enumerate(evidence)),
        *(_proposal_decision(i, item, rules) for i, item in enumerate(proposals)),
    ]
