"""The kinds of difference that set two texts apart (docs/spec/diagnosis.md, Kinds)."""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final

from rapidfuzz.distance import Levenshtein

from kansho_sign.evidence.folding import MILD_FIRST, Difference, fold
from kansho_sign.evidence.markup import Worded
from kansho_sign.evidence.shapes import SKELETON

__all__ = ["differences"]

COMPARED: Final = 2_048
"""Code points of an excerpt up to which form is told beside wording."""
# These two take away what the others need: the hyphen of a compound that breaks after it, the dash between clauses.
_TAKING: Final = (Difference.LINE_BREAK_HYPHEN, Difference.PUNCTUATION)
# What these uncover may be at work where it did nothing before.
_UNCOVERING: Final = frozenset(
    (Difference.HTML_ENTITY, Difference.MARKUP, Difference.COMPATIBILITY_FORM, Difference.INVISIBLE_CHARACTERS)
)
_HIDING: Final = (Difference.HTML_ENTITY, Difference.MARKUP)
"""Beside text they hold letters of their own."""


class _Pair:
    """Two texts, and whether folds make them one."""

    def __init__(self, excerpt: Worded, wording: Worded) -> None:
        self.sides = excerpt, wording
        self._capitals = any(len(word) > 1 and word.isupper() for side in self.sides for word in side.text.split())

    def alike(self) -> bool:
        """Whether the letters and numbers are the same, as they are where form alone differs."""
        left, right = (fold(side, _HIDING).translate(SKELETON) for side in self.sides)
        return left == right

    def folded(self, kinds: Collection[Difference]) -> tuple[str, str]:
        left, right = (fold(side, kinds, capitals=self._capitals) for side in self.sides)
        return left, right

    def same(self, kinds: Collection[Difference]) -> bool:
        left, right = self.folded(kinds)
        return left == right and (Difference.MARKUP not in kinds or self.carry_alike(kinds))

    def carry_alike(self, kinds: Collection[Difference]) -> bool:
        """Whether what markup carries, such as the target of a link, is left out at most and nowhere another."""
        decoded = Difference.HTML_ENTITY in kinds
        fewer, more = sorted((side.carried(entities=decoded) for side in self.sides), key=len)
        rest = iter(more)
        return all(one in rest for one in fewer)


def differences(excerpt: Worded, wording: Worded) -> tuple[Difference, ...]:
    """The kinds that set two different texts apart, the gravest first; at least one.

    The mildest kind that suffices alone (instead of punctuation the milder kinds that suffice together); else the
    kinds that are needed together, of the mildest that suffice; else ``wording``, and beside it, for short texts, the
    kinds without which the two would be further apart.
    """
    pair = _Pair(excerpt, wording)
    if pair.alike() and (kinds := _of_form(pair)):
        return kinds
    if max(len(excerpt.text), len(wording.text)) > COMPARED:
        return (Difference.WORDING,)
    return (Difference.WORDING, *_beside(pair))


def _of_form(pair: _Pair) -> tuple[Difference, ...]:
    """The kinds that make a pair one, the gravest first; none where no kinds do."""
    at_work: list[Difference] = []
    for kind in MILD_FIRST:
        folded = pair.folded((kind,))
        if folded[0] == folded[1] and pair.same((kind,)):
            # Punctuation takes quotation marks and dashes along: where these are all, they are what is named.
            milder = [one for one in at_work if one not in _TAKING]
            return _needed(pair, milder) if kind in _TAKING and pair.same(milder) else (kind,)
        if folded != (pair.sides[0].text, pair.sides[1].text):
            at_work.append(kind)
    for kinds in _together(at_work):
        if pair.same(kinds):
            return _needed(pair, kinds)
    return ()


def _together(at_work: Sequence[Difference]) -> Iterator[tuple[Difference, ...]]:
    """Kinds to try together, the mildest first."""
    for kinds in (at_work, MILD_FIRST) if not _UNCOVERING.isdisjoint(at_work) else (at_work,):
        taking = [kind for kind in _TAKING if kind in kinds]
        for taken in (taken for number in range(len(taking) + 1) for taken in combinations(taking, number)):
            yield tuple(kind for kind in kinds if kind not in _TAKING or kind in taken)


def _needed(pair: _Pair, kinds: Sequence[Difference]) -> tuple[Difference, ...]:
    """Those of ``kinds``, which suffice, without which they do not: the gravest are left out first."""
    for kind in reversed(kinds):
        without = [one for one in kinds if one is not kind]
        if pair.same(without):
            kinds = without
    return tuple(reversed(kinds))


def _beside(pair: _Pair) -> tuple[Difference, ...]:
    """The kinds of form without which the two, whose wording differs, would be further apart, the gravest first."""
    kinds = list(MILD_FIRST)
    if not pair.carry_alike(kinds):
        kinds.remove(Difference.MARKUP)
    least = Levenshtein.distance(*pair.folded(kinds))
    for kind in reversed(list(kinds)):
        without = [one for one in kinds if one is not kind]
        distance = Levenshtein.distance(*pair.folded(without))
        if distance <= least:
            kinds, least = without, distance
    return tuple(reversed(kinds))
