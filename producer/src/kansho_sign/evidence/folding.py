"""Folds: for each kind of difference what a text is without it.

A fold explains and never accepts: nothing that stands in a bundle was folded (docs/spec/diagnosis.md, Kinds).
"""

import re
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Final

import unicodedata2 as ucd

from kansho_sign.evidence.markup import Edit, Worded, edited
from kansho_sign.evidence.shapes import (
    COMPATIBLE,
    DASHED,
    QUOTED,
    SHAPE,
    STICKING,
    VISIBLE,
    WESTERN,
    is_word,
    replaced,
)

__all__ = ["GRAVITY", "MILD_FIRST", "Difference", "fold"]


class Difference(StrEnum):
    """What sets an excerpt and the closest place of its source apart, from mild to grave."""

    TYPOGRAPHIC_QUOTES = "typographic_quotes"
    DASH = "dash"
    WHITESPACE = "whitespace"
    INVISIBLE_CHARACTERS = "invisible_characters"
    COMPATIBILITY_FORM = "compatibility_form"
    LINE_BREAK_HYPHEN = "line_break_hyphen"
    HTML_ENTITY = "html_entity"
    MARKUP = "markup"
    CASE = "case"
    PUNCTUATION = "punctuation"
    NUMBER_FORM = "number_form"
    WORDING = "wording"


GRAVITY: Final = {difference: number for number, difference in enumerate(Difference)}
"""The higher, the graver."""

GROUP: Final = 3
"""Digits of a group; after the first two groups may also have :data:`SHORT_GROUP`, save the last (10,00,000)."""
SHORT_GROUP: Final = 2

HYPHENATED: Final = re.compile("[-\u2010\u00ad]\\s+")
STICKERS: Final = re.compile(r"\^+")
DOUBLED_DASH: Final = re.compile(r"(?<=w)-{2,3}(?=w)|(?<=[ g])-{2,3}(?=[ g])")
SINGLE_QUOTE: Final = re.compile(r"(?<![wu0])'|(?<=[wu])'(?![wu])")
DIGITS: Final = frozenset("0123456789")
NUMBER: Final = re.compile(r"0+(?:[.'g]0+)*")
DROPPED_SPACE: Final = re.compile(r"[^w0] | (?![w0])|^ ")
MARKS: Final = re.compile(r"""[-.p!()"']""")
# A number in brackets may be negative.
BRACKETED: Final = re.compile(r"\([-s]?0[0.'-]*\)")
# What stands alone goes with one of its spaces; a dash between numbers is a sign or a range.
ALONE: Final = re.compile(r"(?:[.p]+|-+(?![ g]0))[ g]")


def _line_breaks(text: str) -> str:
    return edited(text, list(_broken(text)))


def _broken(text: str) -> Iterator[Edit]:
    """Hyphens with white space after them, between letters."""
    for match in HYPHENATED.finditer(text):
        kinds = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
        if kinds.translate(SHAPE) in ("ww", "uu"):
            yield Edit(match.start(), match.end())


def _compatible(text: str) -> str:
    if "^" not in {STICKING[ord(c)] for c in set(text)}:
        return replaced(text, COMPATIBLE)
    kinds = text.translate(STICKING)
    kept = [
        Edit(match.start(), match.end(), text[match.start() : match.end()])
        for match in STICKERS.finditer(kinds)
        if "0" in kinds[max(0, match.start() - 1) : match.start()] + kinds[match.end() : match.end() + 1]
    ]
    pieces: list[str] = []
    place = 0
    for edit in kept:
        pieces += replaced(text[place : edit.start], COMPATIBLE), edit.replacement
        place = edit.end
    return "".join(pieces) + replaced(text[place:], COMPATIBLE)


def _visible(text: str) -> str:
    return replaced(text, VISIBLE)


def _case(text: str) -> str:
    return text.lower().replace("\u03c2", "\u03c3").replace("i\u0307", "i")  # final sigma; i of a Turkish capital


def _dashes(text: str) -> str:
    text = replaced(text, DASHED)
    return edited(text, _edits(DOUBLED_DASH, text, "-")) if "--" in text else text


def _quotes(text: str) -> str:
    """Single ones become double, unless they are apostrophes in a word or, as feet and minutes do, follow a digit."""
    text = replaced(text, QUOTED)
    return edited(text, _edits(SINGLE_QUOTE, text, '"')) if "'" in text else text


def _edits(pattern: re.Pattern[str], text: str, replacement: str) -> list[Edit]:
    shape = text.translate(SHAPE)
    return [Edit(match.start(), match.end(), replacement) for match in pattern.finditer(shape)]


def _numbers(text: str) -> str:
    text = replaced(text, WESTERN)
    if DIGITS.isdisjoint(text):
        return text
    shape = text.translate(SHAPE)
    edits = [
        Edit(match.start(), match.end(), _number(text[match.start() : match.end()]))
        for match in NUMBER.finditer(shape)
        if match.end() - match.start() > shape.count("0", match.start(), match.end())
    ]
    return edited(text, edits)


def _number(number: str) -> str:
    """Without marks between groups, and with a point before decimals; as it is where it is neither."""
    parts = re.split(r"[^0-9]", number)
    marks = [c for c in number if not "0" <= c <= "9"]
    if _grouped(parts, marks):
        return "".join(parts)
    decimal = marks[-1] in ".,\u066b"
    if decimal and (len(marks) == 1 or (marks[-1] not in marks[:-1] and _grouped(parts[:-1], marks[:-1]))):
        return "".join(parts[:-1]) + "." + parts[-1]
    return number


def _grouped(parts: list[str], marks: list[str]) -> bool:
    first, *middle, last = parts
    sizes = {len(part) for part in middle}
    return (
        len(set(marks)) == 1
        and marks[0] != "\u066b"
        and first[0] != "0"
        and len(first) <= GROUP
        and len(last) == GROUP
        and (sizes <= {GROUP} or (sizes == {SHORT_GROUP} and len(first) <= SHORT_GROUP))
    )


def _punctuation(text: str) -> str:
    return edited(text, list(_marks(text.translate(SHAPE))))


def _marks(shape: str) -> Iterator[Edit]:
    """Marks that shape a sentence and change no word, number or formula."""
    quotes = done = 0
    for match in MARKS.finditer(shape):
        start, mark = match.start(), match[0]
        if start < done:
            continue
        done = start + 1
        before, after = shape[start - 1 : start], shape[done : done + 1]
        if mark in "\"'":
            inner = is_word(before) and is_word(after)
            prime = before == "0" and quotes % 2 == 0
            quotes += not inner
            if not inner and not prime:
                yield Edit(start, done)
        elif before in (" ", "g") and mark in "-.p" and (alone := ALONE.match(shape, start)):
            done = alone.end()
            if mark != "-" or shape[start - 2 : start - 1] != "0":
                yield Edit(start, done)
        elif mark == "(" and (number := BRACKETED.match(shape, start)):
            done = number.end()
        elif _shapes_only(mark, before, after):
            yield Edit(start, done)


def _shapes_only(mark: str, before: str, after: str) -> bool:
    """Whether a mark between these two does nothing but shape a sentence."""
    if mark == "-" or (before in ("w", "0") and after in ("w", "0")):
        return False
    if mark == "!":
        return before != "0" and after not in ("w", "u", "0", "s")
    return mark != "." or after != "0"


def _white_space(text: str) -> str:
    """One space between words, none beside other marks, save where it tells a sign or a mark of a number apart."""
    text = " ".join(text.split())
    shape = text.translate(SHAPE)
    return edited(
        text,
        [Edit(end - 1, end) for end in map(re.Match.end, DROPPED_SPACE.finditer(shape)) if not _tells(shape, end - 1)],
    )


def _tells(shape: str, space: int) -> bool:
    before, after = shape[max(0, space - 3) : space], shape[space + 1 : space + 4]
    left, right = before[-1:], after[:1]
    if left in ("-", "s") and right == "0":
        return left == "-" and before[:-1].rstrip()[-1:] != "0"
    if left in (".", "p", "'") and right == "0":
        return not is_word(before[-2:-1]) or before[-2:-1] == "0"
    if left == "0" and right in (".", "p", "'"):
        return after[1:2] == "0"
    return is_word(left) and right == "-" and after[1:2] == "0"


_FOLDS: Final[dict[Difference, Callable[[str], str]]] = {
    Difference.LINE_BREAK_HYPHEN: _line_breaks,
    Difference.COMPATIBILITY_FORM: _compatible,
    Difference.INVISIBLE_CHARACTERS: _visible,
    Difference.NUMBER_FORM: _numbers,
    Difference.CASE: _case,
    Difference.DASH: _dashes,
    Difference.TYPOGRAPHIC_QUOTES: _quotes,
    Difference.PUNCTUATION: _punctuation,
    Difference.WHITESPACE: _white_space,
}
"""In the order in which they are applied, after entities and markup."""
MILD_FIRST: Final = tuple(kind for kind in Difference if kind is not Difference.WORDING)
"""Every kind of form."""


def fold(worded: Worded, kinds: Collection[Difference], *, capitals: bool = False) -> str:
    """A text without the differences of ``kinds``, in NFC.

    ``capitals`` says that one of two texts that are compared holds words in capitals, which have no sharp s.
    """
    entities, markup = Difference.HTML_ENTITY in kinds, Difference.MARKUP in kinds
    text = edited(worded.text, worded.edits(entities=entities, markup=markup))
    for kind, function in _FOLDS.items():
        if kind in kinds:
            if capitals and kind is Difference.CASE:
                text = text.upper()
            text = function(text)
    if text.isascii():
        return text
    normalised: str = ucd.normalize("NFC", text)
    return normalised
