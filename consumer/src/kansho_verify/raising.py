"""The raising face of the library."""

from __future__ import annotations

from collections.abc import Mapping

from kansho_verify.expectations import Expectations, Profile
from kansho_verify.sources import Sources
from kansho_verify.verdict import Outcome, RejectedError, Verdict
from kansho_verify.verify import verify

__all__ = ["require"]


def require(
    data: bytes,
    *,
    trust_root: bytes | None,
    expected: Expectations,
    now: int,
    profile: Profile = Profile.BOUNDARY,
    generation: bytes | None = None,
    live: bytes | None = None,
    sources: Sources | Mapping[str, bytes] | None = None,
    time_source: str = "given",
) -> Verdict:
    """As :func:`~kansho_verify.verify.verify`, but raises for every outcome but ``accepted``.

    Raises :class:`~kansho_verify.verdict.RejectedError`, which carries the verdict.
    """
    verdict = verify(
        data,
        trust_root=trust_root,
        expected=expected,
        now=now,
        profile=profile,
        generation=generation,
        live=live,
        sources=sources,
        time_source=time_source,
    )
    if verdict.outcome is not Outcome.ACCEPTED:
        raise RejectedError(verdict)
    return verdict
