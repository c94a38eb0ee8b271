"""Classes of characters that several rules share (docs/spec/evidence.md)."""

import re

import unicodedata2 as ucd

__all__ = ["cuts_character", "is_digit", "is_letter_or_digit", "only_invisible"]

# Default-ignorable code points that no category tells apart, and the blank Braille pattern.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def is_digit(character: str) -> bool:
    """General category Nd; false for the empty string, which stands for the edge of a text."""
    return character != "" and ucd.category(character) == "Nd"


def is_letter_or_digit(character: str) -> bool:
    """General categories L and N; false for the empty string."""
    return character != "" and ucd.category(character)[0] in "LN"


def cuts_character(before: str, after: str) -> bool:
    """Whether a cut between two code points splits what people see as one character.

    Either may be the empty string, at an edge of the text.
    """
    if not before or not after:
        return False
    return (
        before == "\u200d"
        or after in "\u200c\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0100" <= after <= "\U000e01ef"
        or ucd.category(after)[0] == "M"
    )


def only_invisible(text: str) -> bool:
    """Whether a text holds nothing but white space and invisible characters (also when it is empty)."""
    return all(ucd.category(c)[0] in "ZC" or INVISIBLE.fullmatch(c) for c in set(text))
