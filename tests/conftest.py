"""Fixtures and settings for the whole suite.

KANSHO_VECTORS names the folder of the conformance data (default: ``../shared/vectors`` by the repository).
Where it is absent, tests that need it are skipped and say so; with KANSHO_REQUIRE_VECTORS=1 they fail.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import VECTORS

# Deadlines measure the machine, not the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "dev")


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of the conformance data."""
    return _folder(VECTORS)


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder ``cases`` beside the conformance data: answers and excerpts to run the evidence rules on."""
    return _folder(VECTORS.parent / "cases")


def _folder(path: Path) -> Path:
    if path.is_dir():
        return path
    reason = f"no conformance data at {path}; set KANSHO_VECTORS to its folder 'vectors'"
    if os.environ.get("KANSHO_REQUIRE_VECTORS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
