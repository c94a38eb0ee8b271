"""What the caller asked for and demands: the other half of every comparison with the request of a bundle."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Expectations", "Pins", "Profile"]


class Profile(StrEnum):
    """Which checks must pass (``docs/spec/verification.md``, Profiles). Chosen by the caller, never inferred."""

    PUBLIC = "public"
    BOUNDARY = "boundary"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Pins:
    """Values from out of band that must be met, each None where nothing is pinned.

    ``bundle`` is the SHA-256 of the bytes given, ``generation`` the statement hash of the embedded generation,
    ``pipeline`` its pipeline fingerprint (all hexadecimal), ``authorization`` its authorization revision.
    """

    bundle: str | None = None
    generation: str | None = None
    pipeline: str | None = None
    authorization: str | None = None

    @property
    def of_generation(self) -> bool:
        """Whether anything is pinned that stands in the generation statement."""
        return any(pin is not None for pin in (self.generation, self.pipeline, self.authorization))


@dataclass(frozen=True, slots=True)
class Expectations:
    """The request as the caller made it (``docs/spec/verification.md``, Request), and what the caller waives.

    ``question`` None is "not given"; the empty string expects a bundle that was made without a question.
    ``challenge`` is 64 hex digits or None. ``max_age`` is in seconds, None for any age.
    """

    question: str | None = None
    any_question: bool = False
    audience: str | None = None
    challenge: str | None = None
    tenant: str = "default"
    subject: str | None = None
    groups: tuple[str, ...] = ("public",)
    allow_request_registry: bool = False
    no_live: bool = False
    max_age: int | None = None
    trust_claimed_time: bool = False
    pins: Pins = field(default_factory=Pins)
