"""Bundles made to cost much: every stage stays linear."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kansho_verify import Outcome
from kansho_verify.text import canonical_text
from tests.consumer.attacks import hooked
from tests.consumer.checking import check, refused
from tests.support.forge import Doc, Forge

SMALL, LARGE = 150, 600


def _bundle(count: int) -> Forge:
    lines = [f"Sentence number {i} of a long list." for i in range(count)]
    doc = Doc("list.txt", "\n\n".join(lines) + "\n", lines, media_type="text/plain")
    return Forge(docs=(doc,), excerpts=[("list.txt", line) for line in lines])


def _seconds(forge: Forge) -> float:
    start = time.perf_counter()
    assert check(forge).outcome is Outcome.ACCEPTED
    return time.perf_counter() - start


def test_claims_cost_what_they_cost() -> None:
    small, large = _bundle(SMALL), _bundle(LARGE)
    _seconds(small)
    base = min(_seconds(small) for _ in range(3))
    assert _seconds(large) < base * (LARGE / SMALL) * 4


def test_spans_over_everything_that_list_nothing() -> None:
    """Many citations that cross every entry and list none are refused without building the lists."""
    lines = [f"Line {i}." for i in range(400)]
    text = "\n\n".join(lines) + "\n"
    doc = Doc("list.txt", text, lines, media_type="text/plain")
    excerpts = [("list.txt", text[i:-2]) for i in range(1, 300)]
    forge = hooked({"docs": (doc,), "excerpts": excerpts}, citation=lambda citation: citation["entries"].clear())
    start = time.perf_counter()
    verdict = check(forge)
    assert time.perf_counter() - start < 5
    assert verdict.exit_code == 3
    assert all(len(one.reasons) <= 100 for one in verdict.checks)
    assert max(one.total for one in verdict.checks) >= 299


@pytest.mark.parametrize("char", ["\U000e0080", "\U0003ffff"])
def test_a_text_of_unassigned_code_points_is_refused_at_once(char: str) -> None:
    everything = "".join(map(chr, range(0x40000, 0xE0000))) + char
    start = time.perf_counter()
    refused(canonical_text, everything.encode(), unicode_version="18.0.0")
    assert time.perf_counter() - start < 10


@given(st.integers(1, 300))
@example(256)
@example(257)
def test_runs_of_marks_are_bounded(length: int) -> None:
    raw = ("e" + "\u0301" * length).encode()
    if length <= 256:
        assert canonical_text(raw, unicode_version="18.0.0")
    else:
        refused(canonical_text, raw, unicode_version="18.0.0")
