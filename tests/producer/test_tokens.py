"""Tokens and the tables that they are made by (docs/spec/retrieval.md)."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any, Final

import pytest
import unicodedata2
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.tokens import STEM_LENGTH, is_bigram, stem_of, tokenise
from tests import ROOT
from tests.vectors import retrieval_vectors

TABLE: Final = ROOT / "schemas" / "tables" / "lexical-v1.json"
VECTORS: Final = json.loads(retrieval_vectors.PATH.read_bytes())["tokens"]

EXPECTED: Final = {
    "words, digits, stems": "refunds refun* are accepted accep* within withi* 30 days of the purchase purch*",
    "an apostrophe separates": "the customer custo* s don t",
    "a number code point forbids the stem": "invoice invoi* 20240001 ab12345 abcdef2",
    "compatibility forms": "abc finance finan* 5 viii m2 kg",
    "raised symbols and spacing accents separate": "kansho kansh* don t",
    "zero width space separates": "ab cd",
    "Chinese bigrams": "退款 款期 期限",
    "script classes part a run": "abc 漢字 def123",
    "Japanese, half-width kana": "テス スト トで です テス スト 人々",
    "Hangul is spaced": "한국어 문서관리시스 문서관리시*",
}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = ROOT / "producer" / "tools" / "make_lexical_tables.py"
    spec = importlib.util.spec_from_file_location("make_lexical_tables", path)
    if spec is None or spec.loader is None:
        pytest.fail("the table generator cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def members(ranges: list[list[int]]) -> set[int]:
    return {code_point for first, last in ranges for code_point in range(first, last + 1)}


@cache
def table() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(TABLE.read_bytes())
    return value


@cache
def sets() -> tuple[set[int], set[int], set[int], set[int]]:
    ignored, word, unspaced, number = (members(table()[n]) for n in ("ignored", "word", "unspaced", "number"))
    return ignored, word, unspaced, number


def naive(text: str) -> list[str]:
    """The spec's steps, one code point at a time."""
    folding = dict(table()["folding"])
    ignored, word, unspaced, number = sets()
    points = [
        one
        for code_point in map(ord, text)
        if code_point not in ignored
        for one in folding.get(code_point, [code_point])
    ]
    runs: list[tuple[bool, str]] = []
    joins = False
    for one in points:
        if one not in word:
            joins = False
            continue
        kind = one in unspaced
        if joins and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1] + chr(one))
        else:
            runs.append((kind, chr(one)))
        joins = True
    tokens = []
    for kind, run in runs:
        if kind and len(run) > 1:
            tokens += [run[place : place + 2] for place in range(len(run) - 1)]
            continue
        tokens.append(run)
        if not kind and len(run) > STEM_LENGTH and not any(ord(character) in number for character in run):
            tokens.append(run[:STEM_LENGTH] + "*")
    return tokens


def test_tables_rebuild_to_the_same_bytes(generator: ModuleType) -> None:
    assert generator.build() == TABLE.read_bytes()


def test_tables_need_no_newer_interpreter(generator: ModuleType) -> None:
    """Every capital of Unicode 18.0 with a small partner by name folds to it, on every interpreter."""
    for code_point in range(sys.maxunicode + 1):
        character = chr(code_point)
        if unicodedata2.category(character) not in ("Lu", "Lt"):
            continue
        name = unicodedata2.name(character)
        if "CAPITAL" in name and generator.fold(character) == character:
            with pytest.raises(KeyError):
                unicodedata2.lookup(name.replace("CAPITAL", "SMALL"))


def test_tables_are_consistent() -> None:
    ignored, word, unspaced, number = sets()
    assert unspaced < word
    assert number < word
    assert not word & ignored
    folding = dict(table()["folding"])
    assert list(folding) == sorted(folding)
    assert not folding.keys() & ignored
    for folded in folding.values():
        assert not folding.keys() & set(folded)
        assert not ignored & set(folded)
        assert word & set(folded)
    for name in ("ignored", "number", "unspaced", "word"):
        flat = [bound for one in table()[name] for bound in one]
        assert flat == sorted(flat)
        assert all(after[0] > before[1] + 1 for before, after in pairwise(table()[name]))


def test_every_code_point_as_the_tables_say() -> None:
    every = [chr(code_point) for code_point in range(sys.maxunicode + 1) if not 0xD800 <= code_point < 0xE000]
    for separator in (" ", "a", "漢"):
        text = separator.join(every)
        assert tokenise(text) == naive(text)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vectors(vector: dict[str, Any]) -> None:
    assert unicodedata2.normalize("NFC", vector["text"]) == vector["text"]
    assert tokenise(vector["text"]) == vector["tokens"] == naive(vector["text"])
    if vector["name"] in EXPECTED:
        assert vector["tokens"] == EXPECTED[vector["name"]].split()


def test_expected_names_are_vectors() -> None:
    assert {vector["name"] for vector in VECTORS} >= EXPECTED.keys()


def test_hindi_is_not_split_at_vowel_signs() -> None:
    assert tokenise("प्रिंसिपल की हिन्दी") == ["प्रिंसिपल", "प्रिं*", "की", "हिन्दी", "हिन्द*"]


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d", "\u00ad", "\ufeff", "\u2060", "\ufe0f", "\U000e0100"])
def test_invisible_code_points_do_not_part_a_word(joiner: str) -> None:
    assert tokenise(f"می{joiner}خواهم") == tokenise("میخواهم")


def test_a_word_alone_is_found_in_its_full_width_form() -> None:
    assert tokenise("ＫＡＮＳＨＯ") == tokenise("kansho") == ["kansho", "kansh*"]


@pytest.mark.parametrize(
    ("token", "stem"),
    [("", None), ("house", None), ("houses", "house*"), ("house*", None), ("houses9", None), ("漢字", None)],
)
def test_stem(token: str, stem: str | None) -> None:
    assert stem_of(token) == stem


@pytest.mark.parametrize(
    ("token", "expected"), [("漢字", True), ("漢", False), ("is", False), ("", False), ("ดี", True), ("한국", False)]
)
def test_bigram(token: str, expected: bool) -> None:
    assert is_bigram(token) is expected


INTERESTING = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("aB1 ß漢字テหั한ि\u200c\u200b\u00ad\u0301"))
)


@given(INTERESTING)
def test_tokens_are_those_of_the_naive_reading(text: str) -> None:
    text = unicodedata2.normalize("NFC", text)
    assert tokenise(text) == naive(text)


@given(INTERESTING, INTERESTING)
def test_a_space_parts_texts(left: str, right: str) -> None:
    assert tokenise(f"{left} {right}") == tokenise(left) + tokenise(right)


@given(INTERESTING)
def test_tokens_are_words(text: str) -> None:
    word = sets()[1]
    for token in tokenise(text):
        assert token.removesuffix("*")
        assert set(map(ord, token.removesuffix("*"))) <= word


@pytest.mark.parametrize("piece", ["a", "漢", "\u0301", "\u200d", " ", "a漢", "\U00020000", "\ufdfa"])
def test_time_is_linear(piece: str) -> None:
    started = time.perf_counter()
    tokenise(piece * 300_000)
    assert time.perf_counter() - started < 20, "far beyond linear time"
