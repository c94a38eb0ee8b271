"""The one time of day that a text confirms, if it confirms one (docs/spec/adapters/journal.md, Times of day).

Few forms, each of them whole. What looks like a time and is in none of them is a doubt, and one doubt is enough: the
text then confirms nothing. Which event a time belongs to is not understood here, nor which day.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import unicodedata2 as ucd

from kansho_sign.characters import is_digit

__all__ = ["TimeOfDay", "confirmed_time", "unconfirmed_pair"]

MINUTES_OF_AN_HOUR, HOURS_OF_A_HALF = 60, 12
HALF_A_DAY = HOURS_OF_A_HALF * MINUTES_OF_AN_HOUR
MINUTES_OF_A_DAY = 2 * HALF_A_DAY

MARKS = "*_\"'“”‘’«»‹›"  # noqa: RUF001 - quotation marks, which open in one language and close in another
OPENING = MARKS + "([{<„‚"  # noqa: RUF001 - likewise
CLOSING = MARKS + ")]}>.,;:!?…"
COLONS = frozenset(":\ufe13\ufe55\uff1a\u2236\ua789")

COLON_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(am|pm|a\.m|p\.m)?")
DOT_TIME = re.compile(r"([0-9]{1,2})\.([0-9]{2})")
DOT_TIME_INSIDE = re.compile(r"(?<![\w.,])(?:[01]?[0-9]|2[0-4])\.[0-5][0-9](?![.,]?\w)")
SHORT_NUMBER = re.compile(r"[0-9]{1,2}")
OTHER_HOUR = re.compile(
    r"^uhr$|[0-9]-?uhr|^o['’]clock$|[0-9](?:am|pm|a\.m|p\.m)$"  # noqa: RUF001 - both apostrophes are written
)
MORNING_HALF, EVENING_HALF = frozenset(("am", "a.m")), frozenset(("pm", "p.m"))
HALVES = MORNING_HALF | EVENING_HALF

GERMAN = ("eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf")
ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
FRACTIONS = frozenset(("halb", "viertel", "dreiviertel", "half", "quarter"))
NUMBERS = frozenset((*GERMAN, *ENGLISH)) | FRACTIONS
CONNECTORS = frozenset("-–—/&") | frozenset(  # noqa: RUF001 - hyphen, en dash, em dash
    ("bis", "und", "oder", "vor", "nach", "to", "till", "until", "and", "or", "before", "after", "past")
)
BEFORE_A_TIME = frozenset(("um", "gegen", "ab", "at"))

# Hours in which a time must lie to be one of that part of the day: from, before.
GERMAN_PARTS = {
    "vormittag": (5, 12),
    "nachmittag": (12, 18),
    "mittag": (11, 15),
    "früh": (0, 12),
    "morgen": (0, 12),
    "abend": (16, 24),
    "nacht": (0, 0),  # on either side of midnight: no clock says which day
}
ENGLISH_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "noon": (11, 15), "evening": (16, 24), "night": (0, 0)}
PARTS = GERMAN_PARTS | ENGLISH_PARTS
PART = re.compile("|".join(PARTS))  # the longer names first: one stands in another
ADVERBS = {f"{noun}s": window for noun, window in GERMAN_PARTS.items()} | {"früh": GERMAN_PARTS["früh"]}


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """Minutes after midnight, 0 to 1439.

    The two are the same, except where a number may be part of the time or of what follows (``7 Uhr 30 Liegestütze``):
    then the time is one of both.
    """

    earliest: int
    latest: int


ANY_TIME = TimeOfDay(0, MINUTES_OF_A_DAY)  # of a text that confirms none: neither before nor after another one


@dataclass(frozen=True, slots=True)
class _Time:
    """A time in one of the forms; ``settled`` where nothing else in the text can move it to the other half of a day."""

    readings: TimeOfDay
    settled: bool


class _Token:
    """What stands between white space, without the punctuation around it; ``word`` is its folded form."""

    def __init__(self, written: str) -> None:
        inner = written.lstrip(OPENING)
        self.opens = inner != written
        self.core = inner.rstrip(CLOSING)
        self.closes = self.core != inner

    @cached_property
    def word(self) -> str:
        return self.core.casefold()

    @cached_property
    def is_number(self) -> bool:
        return self.word in NUMBERS or is_digit(self.word[:1])


class _Line:
    """The tokens of a line; what stands beyond its ends is an empty token."""

    def __init__(self, text: str) -> None:
        self._tokens = [_Token(written) for written in text.split()]
        self._beyond = _Token("")

    def __len__(self) -> int:
        return len(self._tokens)

    def __getitem__(self, index: int) -> _Token:
        return self._tokens[index] if 0 <= index < len(self._tokens) else self._beyond

    def joined(self, index: int) -> bool:
        """Whether a token follows with nothing but white space between."""
        return index + 1 < len(self._tokens) and not self[index].closes and not self[index + 1].opens

    def next_word(self, index: int) -> str:
        """The word that follows with nothing but white space between; empty without one."""
        return self[index + 1].word if self.joined(index) else ""


def _minutes(hour: str, minute: str) -> int | None:
    if int(hour) * MINUTES_OF_AN_HOUR >= MINUTES_OF_A_DAY or int(minute) >= MINUTES_OF_AN_HOUR:
        return None
    return int(hour) * MINUTES_OF_AN_HOUR + int(minute)


def _on_a_full_clock(hour: str, *readings: int) -> _Time:
    """A time without a half of the day. Of 0, of 13 and more, and of ``07`` there is no other reading."""
    settled = hour.startswith("0") or int(hour) > HOURS_OF_A_HALF
    return _Time(TimeOfDay(min(readings), max(readings)), settled)


def _colon_time(line: _Line, index: int) -> tuple[_Time, int] | None:
    """``7:30``, ``07:30 Uhr``, ``7:30 pm``, ``7:30pm``, with the index after it."""
    found = COLON_TIME.fullmatch(line[index].word)
    plain = _minutes(found[1], found[2]) if found else None
    if found is None or plain is None:
        return None
    half, end = found[3], index + 1
    if half is None and line.next_word(index) == "uhr":
        return _on_a_full_clock(found[1], plain), end + 1
    if half is None and line.next_word(index) in HALVES:
        half, end = line[end].word, end + 1
    if half is None:
        return _on_a_full_clock(found[1], plain), end
    hour = int(found[1])
    is_twelve_hours = 1 <= hour <= HOURS_OF_A_HALF
    on_a_half = plain % HALF_A_DAY + (HALF_A_DAY if half in EVENING_HALF else 0)
    if found[3] is None and line[end - 1].core == "am" and line.joined(end - 1) and line[index - 1].word != "at":
        # In German the word "am" leads on to a place or a day, and the time is one without it.
        return _on_a_full_clock(found[1], plain, on_a_half if is_twelve_hours else plain), end - 1
    return (_Time(TimeOfDay(on_a_half, on_a_half), settled=True), end) if is_twelve_hours else None


def _hour_time(line: _Line, index: int) -> tuple[_Time, int] | None:
    """``7.30 Uhr``, ``7 Uhr``, ``7 Uhr 30``, with the index after it."""
    if line.next_word(index) != "uhr":
        return None
    dotted = DOT_TIME.fullmatch(line[index].word)
    if dotted:
        plain = _minutes(dotted[1], dotted[2])
        return None if plain is None else (_on_a_full_clock(dotted[1], plain), index + 2)
    hour = line[index].word
    full = _minutes(hour, "0") if SHORT_NUMBER.fullmatch(hour) else None
    if full is None:
        return None
    minute = line.next_word(index + 1)
    with_minutes = _minutes(hour, minute) if SHORT_NUMBER.fullmatch(minute) else None
    if with_minutes is None:
        return _on_a_full_clock(hour, full), index + 2
    counts_what_follows = line.joined(index + 2)
    return _on_a_full_clock(hour, with_minutes, full if counts_what_follows else with_minutes), index + 3


def _half_time(line: _Line, index: int) -> tuple[_Time, int] | None:
    """``halb acht`` with parts of the day beside it that leave one reading, with the index after it."""
    number = line.next_word(index)
    if line[index].word != "halb" or not (number in GERMAN or SHORT_NUMBER.fullmatch(number)):
        return None
    hour = GERMAN.index(number) + 1 if number in GERMAN else int(number)
    windows = _parts_beside(line, index, index + 2)
    if not windows or not 1 <= hour <= HOURS_OF_A_HALF:
        return None
    early = (hour - 1) * MINUTES_OF_AN_HOUR + MINUTES_OF_AN_HOUR // 2
    readings = [one for one in (early, early + HALF_A_DAY) if all(_lies_in(one, window) for window in windows)]
    return (_Time(TimeOfDay(readings[0], readings[0]), settled=True), index + 2) if len(readings) == 1 else None


def _time_at(line: _Line, index: int) -> tuple[_Time, int] | None:
    return _colon_time(line, index) or _hour_time(line, index) or _half_time(line, index)


def _lies_in(minutes: int, window: tuple[int, int]) -> bool:
    return window[0] * MINUTES_OF_AN_HOUR <= minutes < window[1] * MINUTES_OF_AN_HOUR


def _parts_beside(line: _Line, start: int, end: int) -> list[tuple[int, int]]:
    """The parts of the day directly before ``[start, end)`` ("um" may stand between) and directly after it."""
    found = []
    last = start - 1
    if line[last].word in BEFORE_A_TIME and line.joined(last):
        last -= 1
    if line.joined(last):
        is_noun = line.joined(last - 1) and line[last - 1].word == "am"
        found += _part(line[last].word, is_noun=is_noun)
    is_noun = line.next_word(end - 1) == "am" and line.joined(end)
    found += _part(line.next_word(end if is_noun else end - 1), is_noun=is_noun)
    return found


def _part(word: str, *, is_noun: bool) -> list[tuple[int, int]]:
    window = PARTS.get(word) if is_noun else ADVERBS.get(word)
    return [] if window is None else [window]


def _is_in_doubt(line: _Line, done: int, start: int, end: int, readings: TimeOfDay) -> bool:
    """Whether what stands beside a time makes it another one, or one of two; before ``done`` the line is understood."""
    before, after = line[start - 1].word, line[end].word
    if before in CONNECTORS and start - 2 >= done and line[start - 2].is_number:
        return True
    if after in CONNECTORS and line[end + 1].is_number and _time_at(line, end + 1) is None:
        return True
    return not all(
        _lies_in(one, window)
        for window in _parts_beside(line, start, end)
        for one in (readings.earliest, readings.latest)
    )


def _is_hint(line: _Line, index: int) -> bool:
    """Whether a token that begins no time in one of the forms may speak of one nevertheless."""
    word, following = line[index].word, line[index + 1]
    if any(character in COLONS for character in word) and any(ucd.category(one)[0] == "N" for one in word):
        return True
    if DOT_TIME_INSIDE.search(word) or OTHER_HOUR.search(word):
        return True
    if is_digit(word[-1:]) and following.word in HALVES:
        return True
    if word in FRACTIONS:
        return following.is_number or (following.word in CONNECTORS and line[index + 2].is_number)
    if word in BEFORE_A_TIME and (following.is_number or PART.search(following.word)):
        return _time_at(line, index + 1) is None
    return False


def _mentions(line: _Line) -> Iterator[_Time | None]:
    """Every time in one of the forms, and None for every doubt."""
    index = done = 0
    while index < len(line):
        found = _time_at(line, index)
        if found is not None:
            time, end = found
            yield None if _is_in_doubt(line, done, index, end, time.readings) else time
            index = done = end
        else:
            if _is_hint(line, index):
                yield None
            index += 1


def confirmed_time(text: str) -> TimeOfDay | None:
    """The one time of day that stands in a canonical text, once or more often; None without one, or with a doubt.

    Reads the text once; a second time, or a doubt, ends the reading.
    """
    found: TimeOfDay | None = None
    settled = False
    for written in text.splitlines():
        for time in _mentions(_Line(written)):
            if time is None or (found is not None and time.readings != found):
                return None
            found, settled = time.readings, settled or time.settled
    if found is None or settled:
        return found
    return found if _agrees(found, text) else None


def _agrees(found: TimeOfDay, text: str) -> bool:
    """Whether a time that may be meant on twelve hours lies in every part of the day that the text names anywhere."""
    parts = set(PART.findall(text.casefold()))
    return all(_lies_in(one, PARTS[part]) for part in parts for one in (found.earliest, found.latest))


def unconfirmed_pair(proposed: Sequence[int], times: Sequence[TimeOfDay | None]) -> tuple[int, int] | None:
    """Whether the numbers 0, 1 … in a proposed order change places only where their times ascend strictly.

    ``times`` has that of each number. Gives the first number that comes after a greater one without being later, behind
    the greatest such one; None where there is none.
    """
    ending_at = [-1] * (MINUTES_OF_A_DAY + 1)  # the greatest number so far, by its latest minute
    for number in proposed:
        time = times[number] or ANY_TIME
        before = max(ending_at[time.earliest :])
        if before > number:
            return before, number
        ending_at[time.latest] = max(ending_at[time.latest], number)
    return None
