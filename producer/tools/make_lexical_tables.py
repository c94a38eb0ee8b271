"""Make `schemas/tables/lexical-v1.json`, the folding and letter tables of `lexical-bm25-visible-v1`.

The file is normative, this script is not: an implementation reads the table and needs no Unicode library
(docs/spec/retrieval.md, "Tables"). The script says where the table came from, and a test rebuilds it and
compares the bytes. Run it without arguments from anywhere in the source tree::

    python producer/tools/make_lexical_tables.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import unicodedata2

UNICODE_VERSION: Final = "18.0.0"
TABLE_PATH: Final = Path(__file__).resolve().parents[2] / "schemas" / "tables" / "lexical-v1.json"

CODE_POINTS: Final = 0x110000
SURROGATES: Final = range(0xD800, 0xE000)

Range = tuple[int, int]

# Scripts whose words are not set apart by spaces: the ideographic ones, kana and Bopomofo, and those of line
# breaking class SA (South East Asian). Whole blocks; only their word code points enter the table. Hangul is
# written with spaces and stays out, its tone marks U+302E and U+302F with it.
UNSPACED_BLOCKS: Final[tuple[Range, ...]] = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x197F),  # Tai Le
    (0x1980, 0x19DF),  # New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x3000, 0x302D),  # CJK Symbols and Punctuation: iteration marks, ideographic zero, Suzhou numerals
    (0x3030, 0x303F),  # the same block after the Hangul tone marks
    (0x3040, 0x309F),  # Hiragana
    (0x30A0, 0x30FF),  # Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo Extended
    (0x31F0, 0x31FF),  # Katakana Phonetic Extensions
    (0x3400, 0x4DBF),  # CJK Unified Ideographs Extension A
    (0x4E00, 0x9FFF),  # CJK Unified Ideographs
    (0xA9E0, 0xA9FF),  # Myanmar Extended-B
    (0xAA60, 0xAA7F),  # Myanmar Extended-A
    (0xAA80, 0xAADF),  # Tai Viet
    (0xF900, 0xFAFF),  # CJK Compatibility Ideographs (twelve of them are unified ideographs)
    (0x11700, 0x1174F),  # Ahom
    (0x116D0, 0x116FF),  # Myanmar Extended-C
    (0x16FE0, 0x16FFF),  # Ideographic Symbols and Punctuation
    (0x17000, 0x18AFF),  # Tangut, Tangut Components
    (0x18B00, 0x18CFF),  # Khitan Small Script
    (0x18D00, 0x18DFF),  # Tangut Supplement, Tangut Components Supplement
    (0x1AFF0, 0x1B16F),  # Kana Extended-B, Kana Supplement, Kana Extended-A, Small Kana Extension
    (0x1B170, 0x1B2FF),  # Nushu
    (0x20000, 0x3FFFF),  # the ideographic planes
)

# Default_Ignorable_Code_Point, less U+200B ZERO WIDTH SPACE, which is there to separate words. Unassigned
# members stay out of the table.
DEFAULT_IGNORABLE: Final[tuple[Range, ...]] = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x200C, 0x200F),  # zero width non-joiner and joiner, direction marks
    (0x202A, 0x202E),  # direction embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, isolates, deprecated format characters
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # zero width no-break space
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags and supplementary variation selectors
)

# Case folding comes from `str.casefold`, whose Unicode version is the interpreter's (14.0 in Python 3.11) and
# not unicodedata2's. Foldings never change once they are assigned, so only capitals that came after 14.0 need
# to stand here, as (first, last, folding of first): every interpreter then makes the same table.
LATER_CAPITALS: Final[tuple[tuple[int, int, int], ...]] = (
    (0x1C89, 0x1C89, 0x1C8A),
    (0xA7CB, 0xA7CB, 0x0264),
    (0xA7CC, 0xA7CC, 0xA7CD),
    (0xA7CE, 0xA7CE, 0xA7CF),
    (0xA7D2, 0xA7D2, 0xA7D3),
    (0xA7D4, 0xA7D4, 0xA7D5),
    (0xA7DA, 0xA7DA, 0xA7DB),
    (0xA7DC, 0xA7DC, 0x019B),
    (0xA7DD, 0xA7DD, 0x0277),
    (0xA7E2, 0xA7E2, 0x027C),
    (0xAB6C, 0xAB6C, 0xAB4B),
    (0xAB6D, 0xAB6D, 0xAB4C),
    (0x10D50, 0x10D65, 0x10D70),
    (0x16EA0, 0x16EB8, 0x16EBB),
    (0x1DF40, 0x1DF40, 0x1DF41),
    (0x1DF48, 0x1DF48, 0x1DF49),
    (0x1DF4A, 0x1DF4A, 0x1DF4B),
    (0x1DF4D, 0x1DF4D, 0x1DF4E),
    (0x1DF51, 0x1DF51, 0x1DF52),
    (0x1DF68, 0x1DF68, 0x1DF69),
    (0x1DF6A, 0x1DF6A, 0x1DF6B),
    (0x1DF6C, 0x1DF6C, 0x1DF6D),
    (0x1DF6E, 0x1DF6E, 0x1DF6F),
    (0x1DF72, 0x1DF72, 0x1DF73),
    (0x1DF74, 0x1DF74, 0x1DF75),
    (0x1DF76, 0x1DF76, 0x1DF77),
    (0x1DF78, 0x1DF78, 0x1DF79),
    (0x1DF7A, 0x1DF7A, 0x1DF7B),
    (0x1DF7C, 0x1DF7C, 0x1DF7D),
    (0x1DF7E, 0x1DF7E, 0x1DF7F),
)

_LATER: Final = {
    first + step: chr(target + step) for first, last, target in LATER_CAPITALS for step in range(last - first + 1)
}


def case_fold(text: str) -> str:
    """Return the full case folding of `text` by Unicode 18.0, whatever the interpreter's own version is."""
    return "".join(_LATER.get(ord(character)) or character.casefold() for character in text)


def fold(text: str) -> str:
    """Return `text` under NFKC, full case folding and NFKC, repeated until nothing changes."""
    while True:
        folded = unicodedata2.normalize("NFKC", case_fold(unicodedata2.normalize("NFKC", text)))
        if folded == text:
            return text
        text = folded


def category(code_point: int) -> str:
    """Return the general category of `code_point`, such as `Lu`."""
    name: str = unicodedata2.category(chr(code_point))
    return name


def is_word(code_point: int) -> bool:
    """Tell whether the general category of `code_point` is a letter, a mark or a number."""
    return category(code_point)[0] in "LMN"


def ranges(members: Callable[[int], bool], among: Iterable[int] = range(CODE_POINTS)) -> list[list[int]]:
    """Return the ascending, disjoint, maximal [first, last] ranges of the code points that are members."""
    found: list[list[int]] = []
    for code_point in among:
        if not members(code_point):
            continue
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return found


def _within(code_point: int, blocks: tuple[Range, ...]) -> bool:
    return any(first <= code_point <= last for first, last in blocks)


def _folding(code_point: int) -> str | None:
    """Return what `code_point` becomes, or None where the table is silent.

    A symbol is folded where that makes words of it, such as U+338F SQUARE KG. Two kinds are not: U+2122 TRADE
    MARK SIGN (raised) must not lengthen the word before it, and U+00B4 ACUTE ACCENT (folding: space and a
    combining mark) must not leave a mark standing alone. A folding without any word code point is left out,
    because it separates words as the original does.
    """
    if code_point in SURROGATES:
        return None
    original = chr(code_point)
    folded = fold(original)
    if folded == original:
        return None
    if not is_word(code_point):
        raised = unicodedata2.decomposition(original).startswith("<super>")
        if raised or " " in folded or not any(is_word(ord(character)) for character in folded):
            return None
    return folded


def build() -> bytes:
    """Return the table file: canonical JSON, ASCII, without a line feed at the end.

    Raises:
        RuntimeError: unicodedata2 is of another Unicode version than the table says.
    """
    if unicodedata2.unidata_version != UNICODE_VERSION:
        raise RuntimeError(f"unicodedata2 has Unicode {unicodedata2.unidata_version}, not {UNICODE_VERSION}")

    def ignored(code_point: int) -> bool:
        return category(code_point) != "Cn" and _within(code_point, DEFAULT_IGNORABLE)

    def word(code_point: int) -> bool:
        return is_word(code_point) and not ignored(code_point)

    foldings: list[list[int | list[int]]] = []
    for code_point in range(CODE_POINTS):
        folded = None if ignored(code_point) else _folding(code_point)
        if folded is not None:
            foldings.append([code_point, [ord(character) for character in folded]])
    table = {
        "folding": foldings,
        "ignored": ranges(ignored),
        "kind": "lexical_tables",
        "method": "lexical-bm25-visible-v1",
        "number": ranges(lambda code_point: word(code_point) and category(code_point)[0] == "N"),
        "scheme": "kansho.v1",
        "unicode": UNICODE_VERSION,
        "unspaced": ranges(lambda code_point: word(code_point) and _within(code_point, UNSPACED_BLOCKS)),
        "word": ranges(word),
    }
    return json.dumps(table, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")


if __name__ == "__main__":
    TABLE_PATH.parent.mkdir(parents=True, exist_ok=True)
    TABLE_PATH.write_bytes(build())
