"""Which quotation marks belong together (docs/spec/adapters/quotes.md, Quotation marks)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import unicodedata2 as ucd

from kansho_sign.characters import is_letter_or_digit

__all__ = ["MARKS", "Lone", "Mark", "Pair", "pair_marks"]

# What opens a quotation, and what may close it.
PAIRS: Mapping[str, str] = {
    "“": "”",
    "„": "“”",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",  # noqa: RUF001 # quotation marks are what this is about, here and below
    "›": "‹",  # noqa: RUF001
    "‘": "’",  # noqa: RUF001
    "‚": "‘’",  # noqa: RUF001
    "「": "」",
    "『": "』",
    '"': '"',
}
MARKS = "".join(dict.fromkeys("".join((*PAIRS, *PAIRS.values()))))
# Marks that close wherever they can, even where white space stands before them.
CLOSING = frozenset("”»›」』")  # noqa: RUF001
STRAIGHT = '"'
SINGLE_LEFT, SINGLE_RIGHT = "‘", "’"  # noqa: RUF001


class Mark(NamedTuple):
    """A quotation mark as a reader sees it; ``[start, end)`` is how it is written."""

    start: int
    end: int
    sign: str


class Pair(NamedTuple):
    """A quotation with its marks at ``[start, end)``; its text is ``[inner_start, inner_end)``."""

    start: int
    inner_start: int
    inner_end: int
    end: int


class Lone(NamedTuple):
    """A mark that opens or closes nothing, outside all quotations."""

    mark: Mark
    opens: bool


@dataclass(slots=True)
class _Scope:
    """A stretch of text in which marks may belong together."""

    end: int
    opened: list[Mark] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def open(self, mark: Mark) -> None:
        self.opened.append(mark)
        self.counts[mark.sign] = self.counts.get(mark.sign, 0) + 1

    def can_close(self, sign: str) -> bool:
        return any(count and sign in PAIRS[opening] for opening, count in self.counts.items())

    def close(self, sign: str) -> tuple[Mark, list[Mark]]:
        """The nearest open mark that ``sign`` closes, and those after it, which nothing closes any more."""
        dropped: list[Mark] = []
        while True:
            mark = self.opened.pop()
            self.counts[mark.sign] -= 1
            if sign in PAIRS[mark.sign]:
                return mark, dropped
            dropped.append(mark)


def pair_marks(
    text: str, marks: Iterable[Mark], link_texts: Sequence[tuple[int, int]]
) -> tuple[list[Pair], list[Lone]]:
    """The outermost quotations in a text, and the marks outside them that have no partner, both in their order.

    ``link_texts`` are stretches, in their order and apart, whose marks belong together only among themselves.
    """
    pairing = _Pairing(text, link_texts)
    for mark in marks:
        pairing.take(mark)
    return pairing.result()


class _Pairing:
    __slots__ = ("_link_texts", "_lone", "_pairs", "_scopes", "_text")

    def __init__(self, text: str, link_texts: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._link_texts = list(reversed(link_texts))
        self._scopes = [_Scope(len(text))]
        self._pairs: list[Pair] = []
        self._lone: list[Lone] = []

    def take(self, mark: Mark) -> None:
        self._enter(mark.start)
        scope = self._scopes[-1]
        closes, opens = self._abilities(mark, scope)
        if closes:
            opening, dropped = scope.close(mark.sign)
            self._pairs.append(Pair(opening.start, opening.end, mark.start, mark.end))
            self._lone += [Lone(one, opens=True) for one in dropped]
        elif opens:
            scope.open(mark)
        elif mark.sign != SINGLE_RIGHT:
            self._lone.append(Lone(mark, opens=False))

    def result(self) -> tuple[list[Pair], list[Lone]]:
        self._enter(len(self._text))
        self._leave(self._scopes[0])
        outermost: list[Pair] = []
        for pair in sorted(self._pairs):
            if not outermost or pair.start >= outermost[-1].end:
                outermost.append(pair)
        return outermost, list(_outside(sorted(self._lone), outermost))

    def _enter(self, position: int) -> None:
        """Leaves the link text that ends before ``position``, and enters the one that it lies in."""
        if len(self._scopes) > 1 and self._scopes[-1].end <= position:
            self._leave(self._scopes.pop())
        while self._link_texts and self._link_texts[-1][0] <= position:
            _, end = self._link_texts.pop()
            if position < end:
                self._scopes.append(_Scope(end))

    def _leave(self, scope: _Scope) -> None:
        self._lone += [Lone(one, opens=True) for one in scope.opened]

    def _abilities(self, mark: Mark, scope: _Scope) -> tuple[bool, bool]:
        """Whether a mark closes, and if it does not, whether it opens."""
        sign = mark.sign
        before, after = self._text[mark.start - 1 : mark.start], self._text[mark.end : mark.end + 1]
        left, right = _flanks(before, after)
        can_close = scope.can_close(sign)
        if sign == SINGLE_RIGHT:
            # Only what was opened last: an apostrophe must not cut through other marks.
            nearest = can_close and sign in PAIRS[scope.opened[-1].sign]
            return nearest and not is_letter_or_digit(after), False
        if sign in CLOSING:
            return can_close, sign in PAIRS and left and not right
        if sign == STRAIGHT:
            one_sided = left != right
            return can_close and not (one_sided and left), not (one_sided and right)
        apostrophe = sign == SINGLE_LEFT and is_letter_or_digit(before)
        return can_close and right, not apostrophe


def _flanks(before: str, after: str) -> tuple[bool, bool]:
    """Whether a mark flanks what follows it, and what stands before it (CommonMark, Emphasis)."""
    space_before, space_after = not before or before.isspace(), not after or after.isspace()
    sign_before, sign_after = _is_sign(before), _is_sign(after)
    left = not space_after and (not sign_after or space_before or sign_before)
    right = not space_before and (not sign_before or space_after or sign_after)
    return left, right


def _is_sign(character: str) -> bool:
    return character != "" and ucd.category(character)[0] in "PS"


def _outside(lone: Iterable[Lone], pairs: Sequence[Pair]) -> Iterator[Lone]:
    """Those outside all pairs; a left single mark alone is taken for an apostrophe."""
    left = list(reversed(pairs))
    for one in lone:
        while left and left[-1].end <= one.mark.start:
            left.pop()
        if (not left or one.mark.start < left[-1].start) and one.mark.sign != SINGLE_LEFT:
            yield one
