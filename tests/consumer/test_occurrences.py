"""Counting occurrences: right, overlapping ones too, and linear."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify.occurrences import count_occurrences

LETTERS = st.text("ab", max_size=30)


@given(LETTERS, LETTERS, LETTERS, st.integers(1, 6), st.text("ab", min_size=1, max_size=12))
def test_equal_to_the_definition(before: str, period: str, after: str, times: int, part: str) -> None:
    source = before + period * times + after
    for wanted in (part, (period * times)[: 3 * len(part)] or part):
        expected = sum(source.startswith(wanted, i) for i in range(len(source)))
        assert count_occurrences(source, wanted) == expected


@pytest.mark.parametrize("scale", [70])
@given(st.data())
def test_equal_to_the_definition_for_long_parts(scale: int, data: st.DataObject) -> None:
    period = data.draw(st.text("ab", min_size=1, max_size=5))
    source = data.draw(LETTERS) + period * scale + data.draw(LETTERS) + period * scale
    start = data.draw(st.integers(0, len(source) - 1))
    part = source[start : start + data.draw(st.integers(60, 200))]
    assert count_occurrences(source, part) == sum(source.startswith(part, i) for i in range(len(source)))


@pytest.mark.parametrize(
    ("source", "part", "count"),
    [
        ("a" * 2**22, "a" * 2**21, 2**21 + 1),
        ("ab" * 2**21, "ab" * 2**16 + "a", 2**21 - 2**16),
        (("a" * 999 + "b") * 4_000, "a" * 500, 4_000 * 500),
    ],
)
def test_periodic_texts_take_linear_time(source: str, part: str, count: int) -> None:
    start = time.monotonic()
    assert count_occurrences(source, part) == count
    assert time.monotonic() - start < 5
