"""Many excerpts at once: the same as each by itself, whatever the text, and never out of proportion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.errors import InputError
from kansho_sign.evidence import searching
from kansho_sign.evidence.matching import Finding, locate
from kansho_sign.evidence.policy import Boundary
from kansho_sign.evidence.searching import FEW, SEEDS, SLICE, Seeker, Work, locate_many
from kansho_sign.limits import LIMITS

PIECES = st.lists(st.sampled_from(["a", "b", "ab", "aaab", "a" * SEEDS[0], "1,0", "e", "漢", "🙂", "\n"]), max_size=60)
TEXTS = PIECES.map("".join)


@contextmanager
def always_many() -> Iterator[None]:
    """The automaton also for few excerpts, and slices so short that seeds lie across them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "FEW", 0)
        patch.setattr(searching, "SLICE", 7)
        yield


def slices_of(text: str, data: st.DataObject) -> set[str]:
    """Some parts of a text, and some that may not stand there."""
    spans = data.draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, 90)), max_size=12))
    parts = {text[start : start + size] for start, size in spans}
    return {part for part in parts | {part + "x" for part in parts} if part}


@given(TEXTS, TEXTS, st.data())
def test_places_are_those_of_one_by_one(text: str, other: str, data: st.DataObject) -> None:
    excerpts = slices_of(text, data) | slices_of(other, data)
    with always_many():
        for boundary in Boundary:
            found = locate_many("s", text, excerpts, boundary, Work())
            assert found == {excerpt: locate("s", text, excerpt, boundary) for excerpt in excerpts}


@given(TEXTS, TEXTS, st.data())
def test_what_stands_is_that_of_one_by_one(text: str, other: str, data: st.DataObject) -> None:
    excerpts = slices_of(text, data) | slices_of(other, data)
    sought = {excerpt for excerpt in excerpts if data.draw(st.booleans())}
    with always_many():
        assert Seeker(excerpts).standing(text, sought, Work()) == {one for one in sought if one in text}


def test_excerpts_longer_than_a_slice() -> None:
    text = "".join(chr(0x4E00 + number % 5_003) for number in range(3 * SLICE))
    excerpts = [text[start : start + SLICE + 11] for start in range(0, SLICE, SLICE // (FEW + 3))]
    assert len(excerpts) > FEW
    found = locate_many("s", text, excerpts, Boundary.SAFE, Work())
    assert found == {excerpt: locate("s", text, excerpt, Boundary.SAFE) for excerpt in excerpts}


@pytest.mark.parametrize("tail", ["", "b"])
def test_hostile_repetition_is_work_in_proportion(tail: str) -> None:
    """Every place of the text begins every excerpt; comparing each of them there would be a thousand times the work."""
    text = "a" * 40_000
    excerpts = ["a" * (10_000 + number) + tail for number in range(FEW + 12)]
    work = Work()
    found = locate_many("s", text, excerpts, Boundary.SAFE, work)
    missing = {excerpt for excerpt, outcome in found.items() if outcome is Finding.UNVERIFIED_EXCERPT}
    assert missing == (set(excerpts) if tail else set())
    assert Seeker(excerpts).standing(text, set(excerpts), work) == set(excerpts) - missing
    assert work.spent <= 3 * len(excerpts) * len(text)


def test_ten_thousand_excerpts_are_one_pass() -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    excerpts = [f"word{number} word{number + 1}" for number in range(10_000)] + [f"none{n}" for n in range(10_000)]
    work = Work()
    found = locate_many("s", text, excerpts, Boundary.SAFE, work)
    assert sum(outcome is Finding.UNVERIFIED_EXCERPT for outcome in found.values()) == 10_000
    assert work.spent <= len(SEEDS) * len(text)


def test_more_work_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "LIMITS", replace(LIMITS, occurrence_work_code_points=10))
    work = Work()
    locate_many("s", "a" * 10, {"a"}, Boundary.SAFE, work)
    with pytest.raises(InputError) as caught:
        locate_many("s", "b", {"a"}, Boundary.SAFE, work)
    assert caught.value.code == "limits.work"
