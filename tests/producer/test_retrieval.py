"""The integer ranking `lexical-bm25-visible-v1` (docs/spec/retrieval.md)."""

from __future__ import annotations

import json
import time
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kansho_sign import retrieval
from kansho_sign.errors import StateError, UsageError
from kansho_sign.retrieval import (
    FLOOR_SHARE,
    FLOOR_UNSEEN,
    Index,
    RankedEntry,
    Ranking,
    build_index,
    fixed_log2,
    inverse_document_frequency,
    rank,
    rank_once,
)
from kansho_sign.tokens import is_bigram, stem_of, tokenise
from tests.vectors import retrieval_vectors

VECTORS: Final = json.loads(retrieval_vectors.PATH.read_bytes())
UNIT: Final = 65_536


def index_of(texts: dict[str, str]) -> Index:
    return build_index((entry_id, tokenise(text)) for entry_id, text in texts.items())


def replay(entries: dict[str, list[str]], question: str, top_k: int) -> tuple[list[RankedEntry], int, int]:
    """The spec's formulas with fractions, without an index."""
    count, total = len(entries), sum(map(len, entries.values()))
    terms = sorted(set(tokenise(question)))
    held = {term: sum(term in tokens for tokens in entries.values()) for term in terms}
    idf = {term: fixed_log2(2 * count + 3, 2 * held[term] + 1) for term in terms}

    def explained(term: str) -> bool:
        if held[term]:
            return False
        near = [other for other in terms if held[other]]
        if is_bigram(term):
            return any(is_bigram(other) and (other[1] == term[0] or other[0] == term[1]) for other in near)
        return stem_of(term) in near

    information = {term: 0 if explained(term) else idf[term] for term in terms}
    ranked, matched = [], 0
    for entry_id, tokens in entries.items():
        both = [term for term in terms if term in tokens]
        matched += bool(both)
        carried = sum(information[term] for term in both)
        share = Fraction(*FLOOR_SHARE) * sum(information.values())
        if not both or carried < share or carried < Fraction(*FLOOR_UNSEEN) * fixed_log2(2 * count + 3, 1):
            continue
        score = 0
        for term in both:
            frequency = tokens.count(term)
            norm = Fraction(9, 10) * (Fraction(3, 5) + Fraction(2, 5) * len(tokens) * count / total)
            score += int(idf[term] * frequency * Fraction(19, 10) / (frequency + norm))
        ranked.append(RankedEntry(entry_id, score, carried))
    ranked.sort(key=lambda one: (-one.score, one.entry_id))
    return ranked[:top_k], matched, len(ranked)


def check_against_replay(entries: dict[str, list[str]], question: str, top_k: int) -> Ranking:
    ranking = rank(build_index(entries.items()), question, top_k)
    expected, matched, eligible = replay(entries, question, top_k)
    assert list(ranking.entries) == expected
    assert (ranking.matched, ranking.eligible) == (matched, eligible)
    assert rank_once(entries.items(), question, top_k) == ranking
    return ranking


# --- the logarithm


@pytest.mark.parametrize("exponent", [0, 1, 2, 31, 63, 1000])
def test_log2_of_powers_of_two_is_exact(exponent: int) -> None:
    assert fixed_log2(2**exponent, 1) == exponent * UNIT
    assert fixed_log2(3 * 2**exponent, 3) == exponent * UNIT


@given(st.integers(1, 2**40), st.integers(0, 2**45))
@example(2**40, 0)
@example(1, 127)
@example(2**32 - 1, 1)
@example(1, 2**33 - 3)
def test_log2_is_the_exact_floor_or_one_less_at_a_multiple(denominator: int, more: int) -> None:
    numerator = denominator + more
    with localcontext(prec=80):
        exact = (Decimal(numerator) / Decimal(denominator)).ln() / Decimal(2).ln() * UNIT
        lowered = exact - Decimal(UNIT) * Decimal(2) ** -58
    result = fixed_log2(numerator, denominator)
    assert result <= exact + Decimal("1e-60")  # the logarithm of 128 comes out below 7 in 80 digits
    assert result + 1 > lowered


def test_log2_is_the_exact_floor_for_every_small_corpus() -> None:
    """By comparison of whole numbers: 2^r <= (a/b)^65536 < 2^(r + 1), from intervals that cannot be wrong."""
    with localcontext(prec=60):
        two = Decimal(2).ln()
        for count in [*range(25), 240, 999, 10**5]:
            for held in [*range(min(count, 25) + 1), count // 2, count]:
                exact = (Decimal(2 * count + 3) / Decimal(2 * held + 1)).ln() / two * UNIT
                assert abs(exact - exact.to_integral_value()) > Decimal("1e-20") or exact % UNIT < Decimal("1e-50")
                expected = int(exact + Decimal("1e-50"))
                assert inverse_document_frequency(count, held) == expected, (count, held)


@given(st.integers(1, 2**33), st.integers(1, 2**33), st.integers(1, 2**33))
def test_log2_never_decreases(a: int, b: int, c: int) -> None:
    low, middle, high = sorted((a, b, c))
    assert fixed_log2(middle, low) <= fixed_log2(high, low)
    assert fixed_log2(high, middle) <= fixed_log2(high, low)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 2), (1, 0), (0, 0), (-1, -2), (5, -1)])
def test_log2_refuses_what_has_no_place_here(numerator: int, denominator: int) -> None:
    with pytest.raises(UsageError) as caught:
        fixed_log2(numerator, denominator)
    assert caught.value.code == "retrieval.statistics"


@pytest.mark.parametrize(("count", "held"), [(0, 1), (3, 4), (3, -1), (-1, 0)])
def test_idf_refuses_impossible_statistics(count: int, held: int) -> None:
    with pytest.raises(UsageError) as caught:
        inverse_document_frequency(count, held)
    assert caught.value.code == "retrieval.statistics"


def test_huge_statistics_keep_the_stated_bounds() -> None:
    count, total = 2**31 - 3, 2**48 - 1
    idf = inverse_document_frequency(count, 0)
    assert idf < 2**21
    assert idf * 95 * total * total < 2**127
    assert 50 * total * total + 27 * total + 18 * total * count < 2**127
    assert inverse_document_frequency(count, count) == 0
    assert inverse_document_frequency(2**400 - 2, 0) == 401 * UNIT - 1


# --- vectors and the worked example


def test_vector_file_rebuilds_to_the_same_bytes() -> None:
    assert retrieval_vectors.dumps(retrieval_vectors.build()) == retrieval_vectors.PATH.read_bytes()


@pytest.mark.parametrize("vector", VECTORS["rankings"], ids=lambda vector: vector["name"])
def test_vectors(vector: dict[str, Any]) -> None:
    entries = {one["entry"]: tokenise(one["text"]) for one in vector["entries"]}
    ranking = check_against_replay(entries, vector["question"], vector["top_k"])
    assert [
        {"entry": one.entry_id, "information": one.information, "score": one.score} for one in ranking.entries
    ] == vector["order"]
    assert ranking.information == vector["information"]
    assert ranking.unseen == vector["unseen"]


def test_worked_example_of_the_spec() -> None:
    index = index_of(dict(retrieval_vectors.REFUNDS))
    ranking = rank(index, "Within how many days is a refund accepted?", 10)
    assert index.lengths == (13, 10, 10)
    assert [(term.term, term.document_frequency, term.information) for term in ranking.terms] == [
        ("a", 0, 207_744),
        ("accep*", 1, 103_872),
        ("accepted", 1, 103_872),
        ("days", 2, 55_574),
        ("how", 0, 207_744),
        ("is", 1, 103_872),
        ("many", 0, 207_744),
        ("refun*", 1, 103_872),
        ("refund", 0, 0),
        ("withi*", 2, 55_574),
        ("within", 2, 55_574),
    ]
    assert (ranking.information, ranking.unseen) == (1_205_442, 207_744)
    assert ranking.entries == (RankedEntry("idx_a", 462_405, 478_338),)
    assert (ranking.matched, ranking.eligible) == (3, 1)


def test_ties_stand_by_entry_id() -> None:
    ranking = rank(index_of(dict(retrieval_vectors.TIES)), "alphabet betamax gammaray", 10)
    assert [one.entry_id for one in ranking.entries] == ["idx_a", "idx_10", "idx_9"]
    assert ranking.entries[1].score == ranking.entries[2].score


# --- the floor


def test_the_share_counts_equality_as_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "FLOOR_UNSEEN", (0, 1))
    index = index_of({f"idx_{number}": f"w{number}" for number in range(5)})
    assert rank(index, "w0 w1 w2 w3 w4", 9).eligible == 5
    assert rank(index, "w0 w1 w2 w3 w4 w5", 9).eligible == 0


def held_by(held: int, count: int, word: str) -> Ranking:
    """Ask for a word that the first `held` of `count` entries hold."""
    texts = {f"idx_{number}": word if number < held else f"w{number}" for number in range(count)}
    return rank(index_of(texts), word, 10)


@pytest.mark.parametrize("word", ["ceo", "漢字"])
@pytest.mark.parametrize(("held", "enough"), [(1, 12), (2, 62), (3, 171), (4, 363)])
def test_one_word_is_enough_where_few_hold_it(word: str, held: int, enough: int) -> None:
    """The cube of 2 df + 1 is to be at most 2N + 3, as near as logarithms rounded down tell."""
    assert held_by(held, enough - 1, word).eligible == 0
    assert held_by(held, enough, word).eligible == held


def test_the_part_of_an_unseen_term_is_compared_without_rounding() -> None:
    """27 and 125 are cubes: there both sides are equal, here the logarithms rounded down leave a third of a unit."""
    assert 3 * fixed_log2(27, 3) == 2 * fixed_log2(27, 1)
    assert 3 * fixed_log2(125, 5) == 2 * fixed_log2(125, 1) - 1
    assert held_by(2, 61, "ceo").eligible == 0


def test_who_is_the_ceo() -> None:
    texts = {f"idx_{number}": f"the w{number} is v{number}" for number in range(20)} | {"idx_ceo": "Ada is the CEO."}
    assert [one.entry_id for one in rank(index_of(texts), "Who is the CEO?", 10).entries] == ["idx_ceo"]


def common_to(count: int, question: str) -> Ranking:
    """Ask for words that `count` entries hold and half as many others do not."""
    texts = {f"idx_{number}": f"{question} w{number} v{number}" for number in range(count)}
    texts |= {f"other_{number}": f"u{number}" for number in range(count // 2)}
    ranking = rank(index_of(texts), question, 10)
    assert ranking.matched == count
    return ranking


@pytest.mark.parametrize("question", ["who is", "when did", "什么是", "क्या है"])
@pytest.mark.parametrize("count", [1, 2, 4, 40, 400])
def test_two_common_words_answer_nothing(question: str, count: int) -> None:
    """Words that half of the entries hold or more, however many or few the entries are."""
    assert common_to(count, question).entries == ()


@pytest.mark.parametrize("question", ["what is the", "was ist der"])
@pytest.mark.parametrize("count", [4, 40, 400])
def test_three_common_words_answer_nothing(question: str, count: int) -> None:
    assert common_to(count, question).entries == ()


@pytest.mark.parametrize("count", [1, 2])
def test_three_common_words_are_enough_among_very_few_entries(count: int) -> None:
    """A limit that the spec states: so few do not tell which words are common."""
    assert common_to(count, "what is the").eligible == count


def test_unknown_words_raise_the_floor() -> None:
    index = index_of({f"idx_{number}": f"w{number} v{number}" for number in range(50)})
    assert rank(index, "w7 v7 " + " ".join(f"x{number}" for number in range(6)), 10).eligible == 1
    assert rank(index, "w7 v7 " + " ".join(f"x{number}" for number in range(7)), 10).eligible == 0


# --- invariances


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_is_at_least_one(top_k: int) -> None:
    with pytest.raises(UsageError) as caught:
        rank(index_of({}), "x", top_k)
    assert caught.value.code == "retrieval.top_k"


@pytest.mark.parametrize("function", [build_index, lambda entries: rank_once(entries, "x", 1)])
def test_an_entry_id_stands_once(function: Any) -> None:
    with pytest.raises(StateError) as caught:
        function([("idx_a", ["x"]), ("idx_b", []), ("idx_a", ["y"])])
    assert caught.value.code == "retrieval.entry_twice"


def test_nothing_gives_nothing() -> None:
    for texts in ({}, {"idx_a": ""}, {"idx_a": "...", "idx_b": "word"}):
        for question in ("", "  ", "?!", "\u200d", "unheard"):
            ranking = rank(index_of(texts), question, 5)
            assert (ranking.entries, ranking.matched, ranking.eligible) == ((), 0, 0)


WORDS: Final = ("alpha", "beta", "gamma", "alphabet", "alphabets", "a1", "12345678", "漢字", "漢", "字句漢字", "हिन्दी")
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
CORPUS = st.dictionaries(st.text("abc_", min_size=1, max_size=4), TEXT, max_size=9)


@given(CORPUS, TEXT, st.integers(1, 5))
def test_ranking_is_the_spec_and_ignores_the_order_of_entries(texts: dict[str, str], question: str, top_k: int) -> None:
    entries = {entry_id: tokenise(text) for entry_id, text in texts.items()}
    ranking = check_against_replay(entries, question, top_k)
    assert rank(build_index(reversed(entries.items())), question, top_k) == ranking
    assert rank(build_index(sorted(entries.items())), question, top_k) == ranking


@given(CORPUS, TEXT)
def test_top_k_is_a_prefix(texts: dict[str, str], question: str) -> None:
    index = index_of(texts)
    whole = rank(index, question, 100)
    assert len(whole.entries) == whole.eligible <= whole.matched
    for top_k in range(1, len(whole.entries) + 1):
        assert rank(index, question, top_k).entries == whole.entries[:top_k]


@given(CORPUS, TEXT)
def test_a_term_counts_once_in_a_question_and_in_any_order(texts: dict[str, str], question: str) -> None:
    index = index_of(texts)
    assert rank(index, f"{question} {question}", 9) == rank(index, question, 9)
    assert rank(index, " ".join(reversed(question.split())), 9) == rank(index, question, 9)


@given(CORPUS, st.text(st.characters(codec="utf-8")))
def test_hostile_questions_never_raise(texts: dict[str, str], question: str) -> None:
    rank(index_of(texts), question, 3)


@pytest.mark.parametrize(
    "question", ["a" * 100_000, "漢" * 100_000, "\u0301" * 100_000, " ".join(map(str, range(20_000)))]
)
def test_long_questions_take_no_long_time(question: str) -> None:
    index = index_of({"idx_a": question, "idx_b": "漢漢 a"})
    started = time.perf_counter()
    rank(index, question, 3)
    assert time.perf_counter() - started < 10


def test_scores_do_not_overflow_anything() -> None:
    entries = {"idx_a": ["x"] * 3_000_000, "idx_b": ["y"], "idx_c": ["z"]}
    ranking = check_against_replay({**entries, "idx_a": ["x"] * 300_000 + ["v"] * 300_000}, "x v y z", 9)
    assert all(0 < one.score < 4 * 2 * inverse_document_frequency(3, 0) for one in ranking.entries)
