"""How well `lexical-bm25-visible-v1` finds the right paragraph, and what its floor lets through.

Each of the 240 XQuAD paragraphs is one entry, each of the 1,190 questions is asked once, in four languages.
Run from the top of the repository, with the producer installed::

    python -m benchmarks.retrieval_quality

KANSHO_VECTORS names the folder of the conformance data (default: ``../shared/vectors``).
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final
from unittest.mock import patch

import unicodedata2

from kansho_sign import retrieval
from kansho_sign.retrieval import FLOOR_SHARE, Index, Ranking, build_index, rank
from kansho_sign.tokens import tokenise
from tests import VECTORS

LANGUAGES: Final = ("en", "zh", "hi", "de")
SHARES: Final = ((0, 1), (1, 10), (3, 20), (1, 5), (1, 4), (3, 10), (1, 3), (2, 5), (1, 2), (3, 5))
FUNCTION_WORDS: Final = {
    "en": ("what is the", "who is", "when did"),
    "zh": ("什么是", "谁是", "是什么", "什么时候"),
    "hi": ("क्या है", "कौन है", "यह क्या है", "कब"),
    "de": ("was ist der", "was ist das", "wer ist", "wann hat"),
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Paragraphs as entries, and the questions with the number of the paragraph that each is about."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    questions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Counts of questions at one share of the floor."""

    right: int
    """The right paragraph is first, and above the floor."""
    unanswered: int
    """Nothing is above the floor though the paragraph is visible."""
    answered_hidden: int
    """Something is above the floor though the paragraph is hidden."""


def entry_id(number: int) -> str:
    return f"paragraph-{number:03}"


def load(vectors: Path, language: str) -> Corpus:
    with gzip.open(vectors / "xquad" / f"xquad.{language}.json.gz") as file:
        data = json.load(file)["data"]
    paragraphs = [paragraph for article in data for paragraph in article["paragraphs"]]
    texts = [unicodedata2.normalize("NFC", paragraph["context"]) for paragraph in paragraphs]
    return Corpus(
        tuple((entry_id(number), tuple(tokenise(text))) for number, text in enumerate(texts)),
        tuple(
            (unicodedata2.normalize("NFC", asked["question"]), number)
            for number, paragraph in enumerate(paragraphs)
            for asked in paragraph["qas"]
        ),
    )


@contextmanager
def no_floor(*, unseen_terms: int) -> Iterator[None]:
    """Let `rank` return whatever matches at all, or as much as `unseen_terms` unseen terms."""
    with (
        patch.object(retrieval, "FLOOR_SHARE", (0, 1)),
        patch.object(retrieval, "FLOOR_UNSEEN_TERMS", unseen_terms),
    ):
        yield


def right_first(corpus: Corpus) -> int:
    """Count the questions whose paragraph is first by score alone, without any floor."""
    index = build_index(corpus.entries)
    with no_floor(unseen_terms=0):
        rankings = [(rank(index, question, 1), number) for question, number in corpus.questions]
    return sum(ranking.entries[:1] != () and ranking.entries[0].entry_id == entry_id(n) for ranking, n in rankings)


def right_first_float(corpus: Corpus, k1: float, b: float) -> int:
    """Count the same for plain BM25 in floating point, with the same tokens."""
    index = build_index(corpus.entries)
    count = len(index.entry_ids)
    norms = [k1 * (1 - b + b * length * count / index.total_length) for length in index.lengths]
    right = 0
    for question, number in corpus.questions:
        scores: dict[int, float] = {}
        for term in sorted(set(tokenise(question)) & index.postings.keys()):
            positions, frequencies = index.postings[term]
            idf = math.log1p((count - len(positions) + 0.5) / (len(positions) + 0.5))
            for position, frequency in zip(positions, frequencies, strict=True):
                gain = idf * frequency * (k1 + 1) / (frequency + norms[position])
                scores[position] = scores.get(position, 0) + gain
        right += bool(scores) and min(scores, key=lambda position: (-scores[position], position)) == number
    return right


def floor_errors(corpus: Corpus) -> Errors:
    """Return the errors of the floor as it is."""
    return _errors(corpus, _visible(corpus, 1), _hidden(corpus, 1), FLOOR_SHARE)


def curve(corpus: Corpus) -> dict[tuple[int, int], Errors]:
    """Return the errors at each share; the least of one unseen term always holds."""
    with no_floor(unseen_terms=retrieval.FLOOR_UNSEEN_TERMS):
        visible, hidden = _visible(corpus, len(corpus.entries)), _hidden(corpus, len(corpus.entries))
    return {share: _errors(corpus, visible, hidden, share) for share in SHARES}


def _visible(corpus: Corpus, top_k: int) -> list[Ranking]:
    index = build_index(corpus.entries)
    return [rank(index, question, top_k) for question, _ in corpus.questions]


def _hidden(corpus: Corpus, top_k: int) -> list[Ranking]:
    """Ask each question where its paragraph was never there, in no statistic either."""
    rankings = []
    for number, asked in groupby(corpus.questions, key=itemgetter(1)):
        index = build_index(corpus.entries[:number] + corpus.entries[number + 1 :])
        rankings += [rank(index, question, top_k) for question, _ in asked]
    return rankings


def _errors(corpus: Corpus, visible: list[Ranking], hidden: list[Ranking], share: tuple[int, int]) -> Errors:
    firsts = [_first(ranking, share) for ranking in visible]
    wanted = [entry_id(number) for _, number in corpus.questions]
    return Errors(
        right=sum(first == right for first, right in zip(firsts, wanted, strict=True)),
        unanswered=firsts.count(None),
        answered_hidden=sum(_first(ranking, share) is not None for ranking in hidden),
    )


def _first(ranking: Ranking, share: tuple[int, int]) -> str | None:
    """Return the first entry that matches the share of the question's information."""
    wanted = ranking.information * share[0]
    return next((one.entry_id for one in ranking.entries if one.information * share[1] >= wanted), None)


def _function_words(index: Index, language: str) -> str:
    cells = []
    for question in FUNCTION_WORDS[language]:
        ranking = rank(index, question, 1)
        frequencies = ", ".join(f"{term.term} {term.document_frequency}" for term in ranking.terms)
        cells.append(f"{question!r} -> {'answered' if ranking.entries else 'nothing'} ({frequencies})")
    return "; ".join(cells)


def main() -> None:
    corpora = {language: load(VECTORS, language) for language in LANGUAGES}
    print("Right paragraph first, by score alone")
    print("| language | integer | float, k1 0.9, b 0.4 | float, k1 1.2, b 0.75 | questions |")
    print("|---|---|---|---|---|")
    for language, corpus in corpora.items():
        asked = len(corpus.questions)
        counts = (
            right_first(corpus),
            right_first_float(corpus, 0.9, 0.4),
            right_first_float(corpus, 1.2, 0.75),
        )
        print(f"| {language} | " + " | ".join(f"{n} ({n / asked:.1%})" for n in counts) + f" | {asked} |")
    print("\nThe floor: right first and answered / unanswered though visible / answered though hidden")
    print("| share | " + " | ".join(LANGUAGES) + " |")
    print("|---" * (1 + len(LANGUAGES)) + "|")
    curves = {language: curve(corpus) for language, corpus in corpora.items()}
    for share in SHARES:
        mark = " *" if share == FLOOR_SHARE else ""
        found = [curves[language][share] for language in LANGUAGES]
        cells = [f"{one.right} / {one.unanswered} / {one.answered_hidden}" for one in found]
        print(f"| {share[0]}/{share[1]}{mark} | " + " | ".join(cells) + " |")
    print("\nQuestions of function words alone (document frequency in 240 entries)")
    for language, corpus in corpora.items():
        print(f"{language}: {_function_words(build_index(corpus.entries), language)}")


if __name__ == "__main__":
    main()
