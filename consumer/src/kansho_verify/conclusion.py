"""From the state of a verification to the verdict: what was found, and what was not looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from kansho_verify._version import __version__
from kansho_verify.artifact import only_ordered
from kansho_verify.canonical_json import JsonObject
from kansho_verify.checklist import Checklist, Step
from kansho_verify.expectations import Expectations, Profile
from kansho_verify.hazards import Hazard, find_hazards
from kansho_verify.limits import LIMITS
from kansho_verify.profiles import is_expected_request, is_live_waived
from kansho_verify.reasons import Result
from kansho_verify.sources import Sources
from kansho_verify.statement import Statement
from kansho_verify.trust import TrustRoot
from kansho_verify.verdict import ClaimResult, GenerationName, Outcome, TrustRootName, Verdict, steps_in_words

__all__ = ["Given", "make_verdict"]


@dataclass(frozen=True, slots=True)
class Given:
    """Everything the caller gave beside the bundle; see :func:`kansho_verify.verify.verify`."""

    trust_root: bytes | None
    expected: Expectations
    profile: Profile
    generation: bytes | None
    live: bytes | None
    sources: Sources | None
    now: int
    time_source: str


def make_verdict(
    data: bytes,
    given: Given,
    checklist: Checklist,
    *,
    value: JsonObject | None,
    self_hash: str,
    trust_root: TrustRoot | None,
    generation: Statement | None,
    bound_to_question: bool,
) -> Verdict:
    """The verdict on ``data``; ``value`` is the bundle if it has the form of one, else None."""
    public = None if value is None else value["public"]["payload"]
    claims = () if public is None else checklist.claims(public["claims"])

    def said(member: str) -> str | None:
        return None if public is None else public[member]

    return Verdict(
        profile=given.profile,
        outcome=Outcome.of(checklist.result()),
        checked_at=given.now,
        time_source=given.time_source,
        artifact_sha256=hashlib.sha256(data).hexdigest(),
        artifact_size=len(data),
        self_hash=self_hash,
        issuer=said("issuer"),
        corpus=said("corpus"),
        issued_at=None if public is None else public["issued_at"],
        status=said("status"),
        registry=said("registry"),
        bound_to_question=bound_to_question,
        trust_root=None if trust_root is None else TrustRootName(trust_root.version, trust_root.sha256),
        generation=_generation(generation),
        checks=checklist.checks(),
        claims=claims,
        not_checked=tuple(_not_checked(given, checklist, public, is_bound=bound_to_question)),
        hazards=_hazards(claims),
        version=__version__,
    )


def _generation(statement: Statement | None) -> GenerationName | None:
    if statement is None:
        return None
    return GenerationName(statement.payload["generation"], statement.payload["sequence"], statement.sha256)


def _hazards(claims: tuple[ClaimResult, ...]) -> tuple[Hazard, ...]:
    verified = (
        find_hazards(claim.text, f"$.public.payload.claims[{i}].text")
        for i, claim in enumerate(claims)
        if claim.result is Result.PASS
    )
    return tuple(islice(chain.from_iterable(verified), LIMITS.hazards))


def _not_checked(given: Given, checklist: Checklist, public: JsonObject | None, *, is_bound: bool) -> Iterator[str]:
    if given.profile is Profile.PUBLIC:
        yield "document id, uri, version, role, entries and surroundings of a citation are the producer's word"
    else:
        yield "source uri and version of a citation are the producer's word"
    if public is not None and "annotations_unverified" in public:
        yield "the annotations are what a model wrote, no verified wording"
    if public is not None and only_ordered(public):
        yield "sources that the artifact orders and nothing cites: that they exist and that the request may see them"
    if not is_bound:
        yield "the answer is not bound to a question"
    yield from _not_known_now(given, public)
    if given.expected.trust_claimed_time:
        yield "times of issue, trusted as claimed"
    if given.profile is not Profile.AUDIT:
        yield "the audit pack: whether everything visible was ranked and selected rightly"
    missed = [int(step) for step in Step if checklist.required(step) and not checklist.reached(step)]
    if missed:
        yield f"{steps_in_words(missed)}: not reached, for an earlier step could not be passed"


def _not_known_now(given: Given, public: JsonObject | None) -> Iterator[str]:
    """What may have changed since the answer was made, and what nothing given tells of that."""
    registry = None if public is None else public["registry"]
    if given.profile is Profile.PUBLIC:
        if registry == "request":
            yield "the sources are a request's own: nothing was published, and whether that is expected was not asked"
        yield "whether the answer is current: generation, deletion and authorization"
        yield "the audit section: access, selection and request"
    elif is_expected_request(registry, given.expected):
        yield "whether a request's own sources still hold: nothing tells it"
        if given.live is None or is_live_waived(given.profile, given.expected):
            yield "authorization now: no live state was read"
    elif is_live_waived(given.profile, given.expected):
        yield "live state, waived: deletion, blocking and authorization now"
