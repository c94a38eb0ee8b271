"""Tokens of `lexical-bm25-visible-v1` (docs/spec/retrieval.md, "Tokens").

Text is folded code point by code point, then cut into runs of word code points. A run of a script that sets
its words apart by spaces is a word, and a long word has a stem beside it; a run of a script that does not
becomes its overlapping bigrams. All of it follows the shipped tables, never the interpreter's Unicode data.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from operator import itemgetter
from typing import Final

__all__ = ["BIGRAM_LENGTH", "STEM_LENGTH", "STEM_MARK", "TABLES_NAME", "is_bigram", "stem_of", "tokenise"]

TABLES_NAME: Final = "lexical-v1.json"
BIGRAM_LENGTH: Final = 2
"""Code points of a bigram."""
STEM_LENGTH: Final = 5
"""Code points of a word that its stem keeps."""
STEM_MARK: Final = "*"
"""What ends a stem. It is no word code point, so no word reads like a stem."""


class _Replacements(dict[int, str]):
    """Replacement of each code point: its folding, with every code point that is no word become a space.

    `str.translate` turns a missing key into an exception and back, which costs more than the rest of the
    tokeniser. What the table does not fold is therefore remembered at its first use: at most 0x110000 of it.
    """

    __slots__ = ("_word",)

    def __init__(self, word: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self._word = word

    def __missing__(self, code_point: int) -> str:
        place = bisect_right(self._word, code_point, key=itemgetter(0)) - 1
        replacement = chr(code_point) if place >= 0 and code_point <= self._word[place][1] else " "
        self[code_point] = replacement
        return replacement


@dataclass(frozen=True, slots=True)
class _Tables:
    replacements: _Replacements
    runs: re.Pattern[str]
    """A run of replaced text; group 1 is set for a run of an unspaced script alone."""
    unspaced: re.Pattern[str]
    first_unspaced: str
    """The lowest character of an unspaced script: most texts have none so high."""
    numbers: frozenset[str]


@cache
def _tables() -> _Tables:
    tables = json.loads((files("kansho_sign") / "schemas" / "tables" / TABLES_NAME).read_bytes())
    replacements = _Replacements(tables["word"])
    for first, last in tables["ignored"]:
        replacements.update(dict.fromkeys(range(first, last + 1), ""))
    words = _Replacements(tables["word"])
    replacements.update((source, "".join(words[one] for one in folded)) for source, folded in tables["folding"])
    unspaced = _character_set(tables["unspaced"])
    return _Tables(
        replacements=replacements,
        runs=re.compile(f"([{unspaced}]+)|[^{unspaced} ]+"),
        unspaced=re.compile(f"[{unspaced}]"),
        first_unspaced=chr(tables["unspaced"][0][0]),
        numbers=frozenset(chr(one) for first, last in tables["number"] for one in range(first, last + 1)),
    )


def _character_set(ranges: Sequence[Sequence[int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def tokenise(text: str) -> list[str]:
    """Return the tokens of `text` in the order of their places, repeats included, each stem after its word.

    Promise: the same tokens for the same text on every interpreter, in time linear in the length of the text.
    Never raises; text without a word code point has no tokens.

    Args:
        text: Unicode text in NFC, such as canonical text or a retrieval text. Text that is not in NFC is
            tokenised as it stands, and may then not meet its NFC form.

    Spec: docs/spec/retrieval.md, "Tokens".
    """
    tables = _tables()
    folded = text.translate(tables.replacements)
    tokens: list[str] = []
    if folded.isascii() or max(folded) < tables.first_unspaced:
        for word in folded.split():
            _append_word(word, tables.numbers, tokens)
        return tokens
    for match in tables.runs.finditer(folded):
        run = match[0]
        if match[1] is None:
            _append_word(run, tables.numbers, tokens)
        elif len(run) == 1:
            tokens.append(run)
        else:
            tokens.extend(map("".join, pairwise(run)))
    return tokens


def _append_word(word: str, numbers: frozenset[str], tokens: list[str]) -> None:
    tokens.append(word)
    if len(word) > STEM_LENGTH and numbers.isdisjoint(word):
        tokens.append(word[:STEM_LENGTH] + STEM_MARK)


def stem_of(token: str) -> str | None:
    """Return the stem that stands beside `token`, or None where it has none.

    A word of more than `STEM_LENGTH` code points has one, its first `STEM_LENGTH` and `STEM_MARK`, unless a
    number code point stands in it: numbers and part codes that begin alike are not alike.

    Args:
        token: a token as `tokenise` makes them.

    Spec: docs/spec/retrieval.md, "Tokens".
    """
    if len(token) <= STEM_LENGTH or token.endswith(STEM_MARK) or not _tables().numbers.isdisjoint(token):
        return None
    return token[:STEM_LENGTH] + STEM_MARK


def is_bigram(token: str) -> bool:
    """Tell whether `token` is a bigram of an unspaced run: two code points, the first of an unspaced script.

    Args:
        token: a token as `tokenise` makes them.

    Spec: docs/spec/retrieval.md, "Tokens".
    """
    return len(token) == BIGRAM_LENGTH and _tables().unspaced.match(token) is not None
