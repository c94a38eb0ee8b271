"""How well `lexical-bm25-visible-v1` finds the right paragraph, and what its floor lets through.

Each of the 240 XQuAD paragraphs is one entry, each of the 1,190 questions is asked once, in four languages. Beside
them 240 one-word queries a language, each drawn at random from a paragraph, show what the floor does to searches.
Run from the top of the repository, with the producer installed::

    python -m benchmarks.retrieval_quality

KANSHO_VECTORS names the folder of the conformance data (default: ``../shared/vectors``).
"""

from __future__ import annotations

import gzip
import json
import math
import random
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

import unicodedata2

from kansho_sign import retrieval
from kansho_sign.retrieval import FLOOR_SHARE, FLOOR_UNSEEN, Index, RankedEntry, Ranking, build_index, rank
from kansho_sign.tokens import STEM_MARK, tokenise
from tests import VECTORS

LANGUAGES: Final = ("en", "zh", "hi", "de")
SHARES: Final = ((0, 1), (1, 10), (3, 20), (1, 5), (1, 4), (3, 10), (1, 3), (2, 5), (1, 2), (3, 5))
UNSEEN_PARTS: Final = ((1, 2), (3, 5), (2, 3), (3, 4), (1, 1))
BLOCKS: Final = (1, 2, 3, 5, 10, 20)
"""Sizes of small sets of visible entries; each divides 240."""
KEYWORD_SEED: Final = "one word of each paragraph"
FUNCTION_WORDS: Final = {
    "en": ("what is the", "who is", "where is it", "when did", "how many"),
    "zh": ("什么是", "谁是", "是什么", "什么时候"),
    "hi": ("क्या है", "कौन है", "यह क्या है", "कब", "कितने"),
    "de": ("was ist der", "was ist die", "was ist das", "wer ist", "wann hat", "wie ist der name"),
}


class Floor(NamedTuple):
    """The two rules of the floor, as the constants of the ranking spell them."""

    share: tuple[int, int]
    unseen: tuple[int, int]

    def passes(self, ranking: Ranking, entry: RankedEntry) -> bool:
        """Tell whether the entry would be eligible under this floor."""
        return (
            entry.information * self.share[1] >= ranking.information * self.share[0]
            and entry.information * self.unseen[1] >= ranking.unseen * self.unseen[0]
        )

    def first(self, ranking: Ranking) -> str | None:
        """Return the first entry of the ranking that this floor lets through."""
        return next((entry.entry_id for entry in ranking.entries if self.passes(ranking, entry)), None)


IN_FORCE: Final = Floor(FLOOR_SHARE, FLOOR_UNSEEN)
NO_FLOOR: Final = Floor((0, 1), (0, 1))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The paragraphs of one language, and what is asked about them."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    """Id and tokens of each paragraph."""
    index: Index
    """Of all of them."""
    questions: tuple[tuple[str, int], ...]
    """Each with the number of the paragraph that it is about."""
    keywords: tuple[str, ...]
    """For each paragraph one of its distinct words, or of its pairs of neighbouring characters in unspaced scripts."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Results of everything that is asked."""

    visible: list[Ranking]
    """Of each question, where every paragraph is visible."""
    hidden: list[Ranking]
    """Of each question, where its paragraph was never there, in no statistic either."""
    keywords: list[Ranking]
    """Of each keyword, where every paragraph is visible."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a floor does."""

    right: int
    """Questions whose paragraph is first, and above the floor."""
    unanswered: int
    """Questions that nothing is above the floor for, though the paragraph is visible."""
    answered_hidden: int
    """Questions that something is above the floor for, though the paragraph is hidden."""
    keywords: int
    """Keywords that something is above the floor for."""


def entry_id(number: int) -> str:
    return f"paragraph-{number:03}"


def load(vectors: Path, language: str) -> Corpus:
    with gzip.open(vectors / "xquad" / f"xquad.{language}.json.gz") as file:
        data = json.load(file)["data"]
    paragraphs = [paragraph for article in data for paragraph in article["paragraphs"]]
    texts = [unicodedata2.normalize("NFC", paragraph["context"]) for paragraph in paragraphs]
    entries = tuple((entry_id(number), tuple(tokenise(text))) for number, text in enumerate(texts))
    return Corpus(
        entries,
        build_index(entries),
        tuple(
            (unicodedata2.normalize("NFC", asked["question"]), number)
            for number, paragraph in enumerate(paragraphs)
            for asked in paragraph["qas"]
        ),
        _keywords(tokens for _, tokens in entries),
    )


def _keywords(paragraphs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Draw one distinct word of each; `random()` is all that Python promises to keep the same for a seed."""
    drawn = random.Random(KEYWORD_SEED)
    choices = (sorted({token for token in tokens if not token.endswith(STEM_MARK)}) for tokens in paragraphs)
    return tuple(words[int(drawn.random() * len(words))] for words in choices)


@contextmanager
def no_floor() -> Iterator[None]:
    """Let `rank` return whatever matches at all."""
    with (
        patch.object(retrieval, "FLOOR_SHARE", NO_FLOOR.share),
        patch.object(retrieval, "FLOOR_UNSEEN", NO_FLOOR.unseen),
    ):
        yield


def without(index: Index, number: int, question: str) -> Index:
    """Return the index of all entries but one, for this question alone: 240 whole ones take a minute to build."""
    postings = {}
    for term in index.postings.keys() & set(tokenise(question)):
        kept = [one for one in zip(*index.postings[term], strict=True) if one[0] != number]
        positions = array("Q", (position - (position > number) for position, _ in kept))
        postings[term] = (positions, array("Q", (frequency for _, frequency in kept)))
    return Index(
        index.entry_ids[:number] + index.entry_ids[number + 1 :],
        index.lengths[:number] + index.lengths[number + 1 :],
        index.total_length - index.lengths[number],
        postings,
    )


def ask_all(corpus: Corpus, top_k: int = 1) -> Rankings:
    """Ask everything, with the floor that is in force where this is called."""
    return Rankings(
        [rank(corpus.index, question, top_k) for question, _ in corpus.questions],
        [rank(without(corpus.index, number, question), question, top_k) for question, number in corpus.questions],
        [rank(corpus.index, keyword, top_k) for keyword in corpus.keywords],
    )


def ask_all_unlimited(corpus: Corpus) -> Rankings:
    """Ask everything without a floor and without an end, so that any floor can be laid on afterwards."""
    with no_floor():
        return ask_all(corpus, len(corpus.entries))


def counts(corpus: Corpus, rankings: Rankings, floor: Floor) -> Counts:
    """Return what `floor` makes of the rankings, which were made with this floor or a lower one."""
    firsts = [floor.first(ranking) for ranking in rankings.visible]
    wanted = [entry_id(number) for _, number in corpus.questions]
    return Counts(
        right=sum(first == right for first, right in zip(firsts, wanted, strict=True)),
        unanswered=firsts.count(None),
        answered_hidden=sum(floor.first(ranking) is not None for ranking in rankings.hidden),
        keywords=sum(floor.first(ranking) is not None for ranking in rankings.keywords),
    )


def right_first_float(corpus: Corpus, k1: float, b: float) -> int:
    """Count the questions whose paragraph plain BM25 in floating point has first, with the same tokens."""
    index = corpus.index
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


def unanswered_in_blocks(corpus: Corpus, size: int) -> int:
    """Count the questions left unanswered where a block of `size` paragraphs, the right one among them, is visible."""
    blocks = [build_index(corpus.entries[start : start + size]) for start in range(0, len(corpus.entries), size)]
    return sum(not rank(blocks[number // size], question, 1).entries for question, number in corpus.questions)


def _function_words(index: Index, language: str) -> str:
    cells = []
    for question in FUNCTION_WORDS[language]:
        ranking = rank(index, question, 1)
        frequencies = ", ".join(f"{term.term} {term.document_frequency}" for term in ranking.terms)
        cells.append(f"{question!r} -> {'answered' if ranking.entries else 'nothing'} ({frequencies})")
    return "; ".join(cells)


def _row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def _head(*cells: object) -> None:
    _row(*cells)
    print("|---" * len(cells) + "|")


def _part(part: tuple[int, int], in_force: tuple[int, int]) -> str:
    written = f"{part[0]}/{part[1]}" if part[1] > 1 else f"{part[0]}"
    return f"**{written}**" if part == in_force else written


def _print_floors(corpora: Mapping[str, Corpus], rankings: Mapping[str, Rankings]) -> None:
    def cells(floor: Floor, *, keywords: bool) -> list[str]:
        found = [counts(corpora[language], rankings[language], floor) for language in LANGUAGES]
        return [
            f"{one.right} / {one.unanswered} / {one.answered_hidden}" + (f" / {one.keywords}" if keywords else "")
            for one in found
        ]

    print("\nThe share: right first and answered / unanswered though visible / answered though hidden")
    _head("share", *LANGUAGES)
    for share in SHARES:
        _row(_part(share, FLOOR_SHARE), *cells(Floor(share, FLOOR_UNSEEN), keywords=False))
    with no_floor():
        common = [rank(corpora[one].index, question, 240) for one in LANGUAGES for question in FUNCTION_WORDS[one]]
    print("\nThe part of an unseen term: the same / keywords answered; questions of function words answered")
    _head("part", *LANGUAGES, f"of {len(common)}")
    for part in UNSEEN_PARTS:
        floor = Floor(FLOOR_SHARE, part)
        answered = sum(floor.first(ranking) is not None for ranking in common)
        _row(_part(part, FLOOR_UNSEEN), *cells(floor, keywords=True), answered)


def main() -> None:
    corpora = {language: load(VECTORS, language) for language in LANGUAGES}
    rankings = {language: ask_all_unlimited(corpus) for language, corpus in corpora.items()}
    print("Right paragraph first, by score alone")
    _head("language", "integer", "float, k1 0.9, b 0.4", "float, k1 1.2, b 0.75", "questions")
    for language, corpus in corpora.items():
        asked = len(corpus.questions)
        right = (
            counts(corpus, rankings[language], NO_FLOOR).right,
            right_first_float(corpus, 0.9, 0.4),
            right_first_float(corpus, 1.2, 0.75),
        )
        _row(language, *(f"{number} ({number / asked:.1%})" for number in right), asked)
    _print_floors(corpora, rankings)
    print("\nUnanswered where only a block of paragraphs is visible, the right one among them")
    _head("entries", *LANGUAGES)
    for size in BLOCKS:
        shares = [unanswered_in_blocks(corpus, size) / len(corpus.questions) for corpus in corpora.values()]
        _row(size, *(f"{share:.1%}" for share in shares))
    print("\nQuestions of function words alone (document frequency in 240 entries)")
    for language, corpus in corpora.items():
        print(f"{language}: {_function_words(corpus.index, language)}")


if __name__ == "__main__":
    main()
