"""Markup, brackets and quotation marks that a place would leave open (docs/spec/diagnosis.md, Place)."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import unicodedata2 as ucd

from kansho_sign.evidence.markup import edited
from kansho_sign.evidence.reading import Reading
from kansho_sign.evidence.shapes import SHAPE, is_word

__all__ = ["EDGE", "balanced"]

EDGE: Final = 64
"""Code points beyond its words that a place may take in at either edge."""
ELEMENT: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
PAIRED: Final = re.compile(r"""["()]""")


@dataclass(frozen=True, slots=True)
class _Mark:
    """One half of a pair at ``[start, end)``; one that ``opens`` and ``closes`` does what is due."""

    start: int
    end: int
    name: str
    opens: bool
    closes: bool


def balanced(window: Reading, excerpt: Reading, place: tuple[int, int], bounds: tuple[int, int]) -> tuple[int, int]:
    """``place``, with the other halves of its pairs where they stand beside it, inside ``bounds``.

    A pair that the excerpt leaves open as well stays open.
    """
    start, end = _likewise(window, excerpt, place, bounds)
    unclosed, unopened = _halves(_marks(window, start, end))
    if not unclosed and not unopened:
        return start, end
    own_unclosed, own_unopened = map(set, _halves(_marks(excerpt, 0, len(excerpt.text))))
    due = [name for name in unclosed[-EDGE:] if name not in own_unclosed]
    for mark in _marks(window, end, bounds[1]):
        if not due or mark.name != due[-1] or not mark.closes:
            break
        due.pop()
        end = mark.end
    due = [name for name in unopened[:EDGE] if name not in own_unopened][::-1]
    for mark in reversed(list(_marks(window, bounds[0], start))):
        if not due or mark.name != due[-1] or not mark.opens:
            break
        due.pop()
        start = mark.start
    return start, end


def _likewise(window: Reading, excerpt: Reading, place: tuple[int, int], bounds: tuple[int, int]) -> tuple[int, int]:
    """``place``, with the markup beside it that the excerpt has at that edge as well."""
    start, end = place
    first, last = excerpt.place(*excerpt.words())
    before = zip(reversed(excerpt.edits(0, first)), reversed(window.edits(bounds[0], start)), strict=False)
    after = zip(excerpt.edits(last, excerpt.hi), window.edits(end, bounds[1]), strict=False)
    for own, theirs in before:
        if excerpt.text[own.start : own.end] != window.text[theirs.start : theirs.end]:
            break
        start = theirs.start
    for own, theirs in after:
        if excerpt.text[own.start : own.end] != window.text[theirs.start : theirs.end]:
            break
        end = theirs.end
    return start, end


def _halves(marks: Iterator[_Mark]) -> tuple[list[str], list[str]]:
    """Names of what is opened and not closed, and of what is closed and was not opened, in order."""
    unclosed: list[str] = []
    unopened: list[str] = []
    depth: Counter[str] = Counter()
    for mark in marks:
        if mark.closes and depth[mark.name]:
            name = ""
            while name != mark.name:
                name = unclosed.pop()
                depth[name] -= 1
        elif mark.opens:
            unclosed.append(mark.name)
            depth[mark.name] += 1
        else:
            unopened.append(mark.name)
    return unclosed, unopened


def _marks(reading: Reading, start: int, end: int) -> Iterator[_Mark]:
    """Halves of pairs in ``text[start:end]``, in order."""
    edits = reading.edits(start, end)
    text, part = reading.text, reading.text[start:end]
    found = [
        _Mark(edit.start, edit.end, _name(text[edit.start : edit.end]), opens=edit.half > 0, closes=edit.half < 0)
        for edit in edits
        if edit.half
    ]
    hidden = edited(part, [replace(edit.moved(-start), replacement="\x00" * (edit.end - edit.start)) for edit in edits])
    for match in PAIRED.finditer(hidden.translate(SHAPE)):
        place = start + match.start()
        if match[0] == '"':
            found.append(_quotation(text, place))
        else:
            found.append(_Mark(place, place + 1, "(", opens=match[0] == "(", closes=match[0] == ")"))
    yield from sorted(found, key=lambda mark: mark.start)


def _name(markup: str) -> str:
    """The same for both halves of a pair."""
    if element := ELEMENT.match(markup):
        return f"<{element[2].lower()}"
    return "[" if markup[0] in "[]!" else markup


def _quotation(text: str, place: int) -> _Mark:
    """A mark beside a word on one side opens or closes by that; else by its form, which tells nothing of ``"``."""
    before, here, after = text[max(0, place - 1) : place], text[place], text[place + 1 : place + 2]
    follows, leads = (is_word(c.translate(SHAPE)) for c in (before, after))
    opens, closes = (leads, follows) if leads != follows else (ucd.category(here) != kind for kind in ("Pf", "Pi"))
    return _Mark(place, place + 1, '"', opens=opens, closes=closes)
