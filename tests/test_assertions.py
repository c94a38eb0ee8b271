"""The suite's own footing: its assertions hold in the mode in which it runs.

Python drops ``assert`` under -O. pytest rewrites the asserts of test modules and conftest files into plain
code, so there they hold. These tests fail where that stops being true, and where a worker does not run in the
mode asked for.
"""

from __future__ import annotations

import os
import sys

import pytest


def test_an_assert_in_a_test_module_holds() -> None:
    with pytest.raises(AssertionError):
        assert not os.sep, "something false"


def test_the_process_runs_in_the_mode_asked_for() -> None:
    asked = int(os.environ.get("PYTHONOPTIMIZE") or 0)
    if sys.flags.optimize != asked:
        pytest.fail(f"PYTHONOPTIMIZE asks for {asked}, this process runs with {sys.flags.optimize}")
