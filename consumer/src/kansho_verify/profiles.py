"""Which steps a profile demands (``docs/spec/verification.md``, Profiles)."""

from __future__ import annotations

from kansho_verify.checklist import Step
from kansho_verify.expectations import Expectations, Profile

__all__ = ["is_expected_request", "is_live_waived", "required_steps"]

_BOUNDARY = frozenset(step for step in Step if step is not Step.AUDIT)
_STEPS = {
    Profile.PUBLIC: frozenset(step for step in Step if step <= Step.BINDINGS or step is Step.SOURCES),
    Profile.BOUNDARY: _BOUNDARY,
    Profile.AUDIT: _BOUNDARY | {Step.AUDIT},
}


def required_steps(profile: Profile, expected: Expectations) -> frozenset[Step]:
    """The steps that must pass. A pinned generation is demanded in every profile."""
    steps = _STEPS[profile]
    if is_live_waived(profile, expected):
        steps -= {Step.LIVE}
    return steps | {Step.GENERATION} if expected.pins.of_generation else steps


def is_live_waived(profile: Profile, expected: Expectations) -> bool:
    """Whether the caller did without the live state; the profile ``audit`` does not allow it."""
    return expected.no_live and profile is not Profile.AUDIT


def is_expected_request(registry: str | None, expected: Expectations) -> bool:
    """Whether a bundle of this registry is of a request's own sources, and the caller expects that.

    Such sources have one statement and no live state of their own: neither is missing where it is not given
    (``docs/spec/verification.md``, Newest generation). ``registry`` is None where it could not be read.
    """
    return registry == "request" and expected.allow_request_registry
