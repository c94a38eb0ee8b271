"""Ranking of the visible entries for a question, by `lexical-bm25-visible-v1` (docs/spec/retrieval.md).

The caller filters by tenant and access first and hands in what is left: every statistic is taken over these
entries alone, or a document that the reader may not see could reorder the answer. Integer arithmetic
throughout, so that an auditor replays the order in any language. Pure functions, no I/O.

Steps of `rank`, in order: terms of the question, their statistics, the information each carries, the entries
that match, the floor, the scores of the entries above it, the order, the first `top_k`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from kansho_sign.errors import StateError, UsageError
from kansho_sign.tokens import is_bigram, stem_of, tokenise

__all__ = [
    "FLOOR_SHARE",
    "FLOOR_UNSEEN",
    "RETRIEVAL",
    "Index",
    "RankedEntry",
    "Ranking",
    "TermInformation",
    "build_index",
    "fixed_log2",
    "inverse_document_frequency",
    "rank",
    "rank_once",
]

RETRIEVAL: Final = "lexical-bm25-visible-v1"
"""Name of this method in pipelines and audit sections."""

FLOOR_SHARE: Final[tuple[int, int]] = (1, 5)
"""Numerator and denominator of the share of the question's information that an entry must match."""
FLOOR_UNSEEN: Final[tuple[int, int]] = (2, 3)
"""Numerator and denominator of the part of one unseen term's information that an entry must match in any case."""

LOG2_FRACTION_BITS: Final = 16
"""Fractional bits of an idf: 65,536 is one bit of information."""
LOG2_MANTISSA_BITS: Final = 62
"""Fractional bits that the logarithm works with; its intermediate values stay below 2^126."""

# BM25 with k1 = 9/10 and b = 2/5, numerator and denominator multiplied by 50 L:
#   idf * tf (k1 + 1) / (tf + k1 (1 - b + b dl N / L)) = idf * 95 tf L / (50 tf L + 27 L + 18 dl N)
_NUMERATOR: Final = 95
_FREQUENCY: Final = 50
_CONSTANT: Final = 27
_LENGTH: Final = 18


@dataclass(frozen=True, slots=True)
class Index:
    """Statistics of the visible entries, made by `build_index`; the arrays are not to be written to."""

    entry_ids: tuple[str, ...]
    """In the order in which they came; a position below is a place in this tuple."""
    lengths: tuple[int, ...]
    """Tokens of each entry."""
    total_length: int
    """Tokens of all entries together."""
    postings: Mapping[str, tuple[array[int], array[int]]]
    """For each term the positions of the entries that hold it, and how often each does."""


@dataclass(frozen=True, slots=True)
class TermInformation:
    """One distinct term of the question."""

    term: str
    document_frequency: int
    """Visible entries that hold the term."""
    idf: int
    """In units of 2^-16 bit."""
    information: int
    """What the term counts for the floor: its idf, or 0 for an unseen term that overlaps a seen one."""


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry above the floor."""

    entry_id: str
    score: int
    """Sum of the scores of the question's terms, in units of 2^-16."""
    information: int
    """What the terms that the entry matches count together, in units of 2^-16 bit."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Result of `rank`; everything that an audit needs to say why an entry stands where it does."""

    entries: tuple[RankedEntry, ...]
    """The first `top_k` entries above the floor: highest score first, equal scores by entry id ascending."""
    matched: int
    """Visible entries that hold at least one term of the question."""
    eligible: int
    """Visible entries above the floor, those after the first `top_k` included."""
    terms: tuple[TermInformation, ...]
    """The question's distinct terms, ascending by code points."""
    information: int
    """What the question's terms count together, in units of 2^-16 bit."""
    unseen: int
    """What a term that no visible entry holds counts, in units of 2^-16 bit: the measure of the floor's second rule."""


def fixed_log2(numerator: int, denominator: int) -> int:
    """Return log2(numerator / denominator) in units of 2^-16, by repeated squaring with truncation.

    Promise: the exact floor or, for a quotient less than 2^-58 above a multiple of the unit, one less; never
    decreasing in the quotient; exact for powers of two.

    Args:
        numerator: at least `denominator`.
        denominator: at least 1.

    Raises:
        UsageError: `retrieval.statistics`, an argument is out of its range.

    Spec: docs/spec/retrieval.md, "Logarithm".
    """
    if denominator < 1 or numerator < denominator:
        raise UsageError("retrieval.statistics", f"the quotient {numerator}/{denominator} is not at least one")
    whole = numerator.bit_length() - denominator.bit_length()
    if numerator < denominator << whole:
        whole -= 1
    mantissa = (numerator << LOG2_MANTISSA_BITS) // (denominator << whole)
    result = whole
    for _ in range(LOG2_FRACTION_BITS):
        mantissa = mantissa * mantissa >> LOG2_MANTISSA_BITS
        bit = mantissa >> (LOG2_MANTISSA_BITS + 1)
        mantissa >>= bit
        result = 2 * result + bit
    return result


def inverse_document_frequency(entry_count: int, document_frequency: int) -> int:
    """Return the idf of a term in units of 2^-16: log2((2N + 3) / (2 df + 1)), at least 0.

    That is log2((N' + 1/2) / (df + 1/2)) with N' = N + 1, as if one more entry held no term: a term which all
    entries hold still tells something where they are few.

    Args:
        entry_count: N, visible entries, at least 0.
        document_frequency: df, visible entries that hold the term, 0 to N.

    Raises:
        UsageError: `retrieval.statistics`, an argument is out of its range.

    Spec: docs/spec/retrieval.md, "Information".
    """
    if not 0 <= document_frequency <= entry_count:
        raise UsageError("retrieval.statistics", f"{document_frequency} of {entry_count} entries hold a term")
    return fixed_log2(2 * entry_count + 3, 2 * document_frequency + 1)


def build_index(entries: Iterable[tuple[str, Sequence[str]]]) -> Index:
    """Return the statistics of `entries`, which may come in any order and are looked at once.

    Args:
        entries: the id and the tokens (`tokenise` of the retrieval text) of every entry that the reader may
            see, and of no other.

    Raises:
        StateError: `retrieval.entry_twice`, an entry id stands twice.

    Spec: docs/spec/retrieval.md, "Statistics".
    """
    return _index(entries, None)


def rank(index: Index, question: str, top_k: int) -> Ranking:
    """Return the entries that answer `question`, best first.

    Promise: a function of the set of indexed entries, the question and `top_k` alone. A question without
    terms, an index without entries and a question that nothing matches well enough give no entries.

    Args:
        index: statistics of all visible entries.
        question: text in NFC.
        top_k: the most entries to return, at least 1.

    Raises:
        UsageError: `retrieval.top_k`, it is below 1.

    Spec: docs/spec/retrieval.md, "Floor" and "Score and order".
    """
    if top_k < 1:
        raise UsageError("retrieval.top_k", f"top_k is {top_k}, and must be at least 1")
    count = len(index.entry_ids)
    terms = _terms(index, question)
    total = sum(term.information for term in terms)
    matched: dict[int, int] = {}
    for term in terms:
        for position in index.postings[term.term][0] if term.document_frequency else ():
            matched[position] = matched.get(position, 0) + term.information
    unseen = inverse_document_frequency(count, 0)
    eligible = {
        position: information
        for position, information in matched.items()
        if _reaches(information, FLOOR_SHARE, total) and _reaches(information, FLOOR_UNSEEN, unseen)
    }
    scores = dict.fromkeys(eligible, 0)
    for term in terms if eligible else ():
        if not term.document_frequency:
            continue
        for position, frequency in zip(*index.postings[term.term], strict=True):
            if position in scores:
                scores[position] += _score(index, term.idf, frequency, index.lengths[position])
    first = nsmallest(top_k, scores, key=lambda position: (-scores[position], index.entry_ids[position]))
    return Ranking(
        entries=tuple(
            RankedEntry(index.entry_ids[position], scores[position], eligible[position]) for position in first
        ),
        matched=len(matched),
        eligible=len(eligible),
        terms=terms,
        information=total,
        unseen=unseen,
    )


def rank_once(entries: Iterable[tuple[str, Sequence[str]]], question: str, top_k: int) -> Ranking:
    """Return `rank(build_index(entries), question, top_k)`, keeping only what the question needs.

    Raises:
        StateError, UsageError: as `build_index` and `rank`.
    """
    return rank(_index(entries, frozenset(tokenise(question))), question, top_k)


def _index(entries: Iterable[tuple[str, Sequence[str]]], wanted: Container[str] | None) -> Index:
    lengths: dict[str, int] = {}
    postings: dict[str, tuple[array[int], array[int]]] = {}
    for position, (entry_id, tokens) in enumerate(entries):
        if entry_id in lengths:
            raise StateError("retrieval.entry_twice", f"the entry id {entry_id!a} stands twice")
        lengths[entry_id] = len(tokens)
        kept = tokens if wanted is None else [token for token in tokens if token in wanted]
        for term, frequency in Counter(kept).items():
            held = postings.get(term)
            if held is None:
                held = postings[term] = (array("Q"), array("Q"))
            held[0].append(position)
            held[1].append(frequency)
    return Index(tuple(lengths), tuple(lengths.values()), sum(lengths.values()), postings)


def _terms(index: Index, question: str) -> tuple[TermInformation, ...]:
    """Return the distinct terms of the question with their statistics, ascending."""
    frequencies = {
        term: len(index.postings[term][0]) if term in index.postings else 0 for term in sorted(set(tokenise(question)))
    }
    explained = _explained(frequencies)
    terms = []
    for term, frequency in frequencies.items():
        idf = inverse_document_frequency(len(index.entry_ids), frequency)
        terms.append(TermInformation(term, frequency, idf, 0 if term in explained else idf))
    return tuple(terms)


def _explained(frequencies: Mapping[str, int]) -> set[str]:
    """Return the unseen terms that overlap a seen one, and so say nothing new about what is unknown.

    A bigram across the seam of two words, and another form of a word whose stem is known, would otherwise
    count as unknown words do. A word of two unspaced characters that nobody holds has bigrams on either side
    of it which are unseen too, and so still counts.
    """
    seen: Sequence[str] = [term for term, frequency in frequencies.items() if frequency]
    starts = {term[0] for term in seen if is_bigram(term)}
    ends = {term[1] for term in seen if is_bigram(term)}
    explained = set()
    for term, frequency in frequencies.items():
        if frequency:
            continue
        stem = stem_of(term)
        known_stem = stem is not None and frequencies[stem] > 0
        if known_stem or (is_bigram(term) and (term[0] in ends or term[1] in starts)):
            explained.add(term)
    return explained


def _reaches(information: int, part: tuple[int, int], whole: int) -> bool:
    """Tell whether `information` is at least this part of `whole`, compared exactly."""
    numerator, denominator = part
    return information * denominator >= whole * numerator


def _score(index: Index, idf: int, frequency: int, length: int) -> int:
    """Return what one term adds to the score of one entry; division rounds down."""
    total = index.total_length
    weighted = _FREQUENCY * frequency * total + _CONSTANT * total + _LENGTH * length * len(index.entry_ids)
    return idf * _NUMERATOR * frequency * total // weighted
