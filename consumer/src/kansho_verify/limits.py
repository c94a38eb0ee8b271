"""The table of limits of ``docs/spec/limits.md``: every bound that this program enforces, with its unit."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that are enforced before memory is spent (``docs/spec/limits.md``).

    Sizes end in ``_bytes`` and count bytes; lengths of text end in ``_chars`` and count code points; the others
    count what their name says. Bounds of single members stand in the schemas.
    """

    bundle_bytes: int = 536_870_912
    trust_root_bytes: int = 1_048_576
    generation_bytes: int = 1_048_576
    live_bytes: int = 67_108_864
    registry_bytes: int = 536_870_912
    raw_source_bytes: int = 16_777_216
    envelope_bytes: int = 1_536
    nesting: int = 32
    items: int = 16_777_216
    envelope_nesting: int = 4
    non_starter_run_chars: int = 256
    work_chars: int = 2**36
    work_of_an_occurrence_chars: int = 1_024
    map_siblings: int = 256
    clock_skew_seconds: int = 300
    integer: int = 2**53 - 1
    integer_digits: int = 16
    reasons_of_a_check: int = 100
    reasons_of_a_citation: int = 16
    hazards: int = 65_536
    hazard_code_points: int = 64
    source_files: int = 1_000_000


LIMITS = Limits()
"""The limits of version 1."""
