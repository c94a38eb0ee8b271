"""Tables of characters for near misses: what a code point is, and what it is compared as (docs/spec/diagnosis.md).

A table answers for one code point at a time and remembers it, so that ``str.translate`` applies it to a whole text.
Tables that give one character for one keep every place where it is.
"""

from collections.abc import Callable
from typing import Final

import unicodedata2 as ucd

from kansho_sign.characters import only_invisible

__all__ = [
    "COMPATIBLE",
    "DASHED",
    "LEVEL",
    "QUOTED",
    "SHAPE",
    "SKELETON",
    "STICKING",
    "VISIBLE",
    "WESTERN",
    "Table",
    "is_word",
    "replaced",
]

# Property Quotation_Mark, with the primes, the Hebrew signs and the letters and accents that are typed for them.
DOUBLE: Final = frozenset(
    '"\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u2e42\u05f4\u300c\u300d\u300e\u300f'
    "\u301d\u301e\u301f\ufe41\ufe42\ufe43\ufe44"
)
SINGLE: Final = frozenset("'\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u2035\u02bc\u02b9\u02bb\u00b4\u05f3")
DASH: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u058a\u05be\u1400\u1806\u2e17\u2e3a\u2e3b\u2e40")
WAVE: Final = "\u301c"
NUMBER_MARKS: Final = frozenset(".,\u066b\u066c")
GROUPING_SPACES: Final = frozenset("\u00a0\u202f")
# Punctuation by category that says how much, which, or what is done: leaving it out changes what a sentence says.
VALUED: Final = frozenset("#%&*/@\\§¶†‡•‣‰‱‴⁗⁂※\u204e⁑٪؉؊")
# Cf, and yet seen: they stand before the digits that they belong to.
SEEN_FORMAT: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Blocks of scripts that set no space between words.
UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x312F),  # radicals, Kana, Bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width Kana
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)


class Table(dict[int, str | None]):
    """What each code point becomes, made at its first use: at most 0x110000 of them."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], str | None]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, code_point: int) -> str | None:
        made = self._make(chr(code_point))
        self[code_point] = made
        return made


def _invisible(c: str) -> bool:
    return not c.isspace() and c not in SEEN_FORMAT and only_invisible(c)


def _unspaced(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in UNSPACED)


def _shape(c: str) -> str:
    if c.isspace():
        return "g" if c in GROUPING_SPACES else " "
    if _invisible(c):
        return "i"
    for members, kind in ((NUMBER_MARKS, "."), (DASH, "-"), (DOUBLE, '"'), (SINGLE, "'")):
        if c in members:
            return kind
    category = ucd.category(c)
    if category == "Nd":
        return "0"
    if category[0] in "LNM":
        return "u" if _unspaced(c) else "w"
    if c in "!(" or category == "Ps":
        return "!" if c == "!" else "("
    if category == "Pe":
        return ")"
    return "p" if category[0] == "P" and category not in ("Pd", "Pc") and c not in VALUED else "s"


def _compatible(c: str) -> str:
    if c.isspace() or _invisible(c) or c in DASH or c in DOUBLE or c in SINGLE:
        return c
    folded: str = ucd.normalize("NFKC", c).replace("\u2044", "/")
    return c if folded[0] == " " else folded  # an accent that stands alone


def _sticking(c: str) -> str:
    if ucd.category(c) == "Nd":
        return "0"
    folded = _compatible(c)
    if folded == c:
        return "."
    raised = ucd.decomposition(c).startswith(("<super>", "<sub>")) and not folded.isalpha()
    return "^" if raised or folded[0].isdecimal() or folded[-1].isdecimal() else "."


def _western(c: str) -> str:
    return str(ucd.decimal(c)) if ucd.category(c) == "Nd" else c


def _quoted(c: str) -> str:
    return '"' if c in DOUBLE else "'" if c in SINGLE else c


def _dashed(c: str) -> str:
    return "-" if c in DASH else "~" if c == WAVE else c


def _skeleton(c: str) -> str | None:
    if _invisible(c) or c in DOUBLE or c in SINGLE:
        return None
    parts = ucd.normalize("NFKD", c)
    kept = "LN" if parts[0] == " " else "LNM"  # an accent that stands alone is a mark of its own
    folded = ucd.normalize("NFKD", parts.upper().casefold()).replace("i\u0307", "i")
    letters = (one for one in folded if ucd.category(one)[0] in kept and one not in SINGLE)
    return "".join(map(_western, letters)) or None


def _level(c: str) -> str:
    if c.isspace():
        return " "
    folded = _compatible(_dashed(_quoted(_western(c))))
    lowered = folded.lower()
    return lowered if len(lowered) == 1 else c


SHAPE: Final = Table(_shape)
"""A letter for each code point: ``w`` letter, mark or other number, ``u`` the same in a script without spaces, ``0``
decimal digit, ``.`` mark in numbers, ``-`` dash, ``"`` and ``'`` quotation marks, ``(`` and ``)`` brackets, ``!``,
``p`` other punctuation, ``g`` a space that groups digits, the space other white space, ``i`` invisible, ``s`` the rest:
symbols, and punctuation that counts."""
SKELETON: Final = Table(_skeleton)
"""Letters, marks and numbers alone, without case and compatibility forms, decimal digits in ASCII."""
LEVEL: Final = Table(_level)
"""One for one: without case, compatibility forms, kinds of white space, dash and quotation mark."""
COMPATIBLE: Final = Table(_compatible)
"""NFKC, save of white space, invisible characters, dashes and quotation marks, which are differences of their own."""
STICKING: Final = Table(_sticking)
"""``^`` what would join a digit beside it when its form is changed, ``0`` decimal digit, ``.`` the rest."""
VISIBLE: Final = Table(lambda c: None if _invisible(c) else c)
"""Without invisible characters."""
QUOTED: Final = Table(_quoted)
"""Every double quotation mark one, every single one another; one for one."""
DASHED: Final = Table(_dashed)
"""Every dash one; one for one."""
WESTERN: Final = Table(_western)
"""Decimal digits in ASCII; one for one."""


FEW: Final = 16
"""Up to so many different characters are replaced one by one, which is faster than a table."""


def replaced(text: str, table: Table) -> str:
    """``text`` through a table that changes nothing that it made itself; faster than translate where little changes."""
    changes = [(c, made) for c in set(text) if (made := table[ord(c)]) != c]
    if len(changes) > FEW:
        return text.translate(table)
    for c, made in changes:
        text = text.replace(c, made or "")
    return text


def is_word(kind: str) -> bool:
    """Whether a letter of :data:`SHAPE` stands for a part of a word or a number; false for the empty string."""
    return kind != "" and kind in "wu0"
