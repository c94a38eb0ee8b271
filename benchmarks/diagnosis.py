"""Time and memory of one diagnosis in a source of 10 MB, beside one search for a piece that the source has not.

The floor is one pass of ``str.find`` over the same source in the same run: no diagnosis can know less of its source.
"""

from __future__ import annotations

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kansho_sign.evidence.diagnosis import Diagnosis, diagnose

SIZE = 10_000_000
EXCERPT = 10_000
RUNS = 3
ABSENT = "zqxjzqxjzqxjzqxj"
"""Sixteen characters that no source here has."""
ALPHABETS = {"ascii": "eeetaoinshrdlucmfw", "other": "eeetaoin\u00e4\u00f6\u00fc\u0441\u0440\u043d\u0430"}


@dataclass(frozen=True, slots=True)
class Row:
    """Medians of one excerpt: seconds, multiple of the floor, and bytes of memory at the peak."""

    name: str
    said: str
    seconds: float
    floor: float
    memory: int


def prose(alphabet: str, size: int, seed: int) -> str:
    """Invented words in sentences and lines."""
    source = random.Random(seed)
    words = ["".join(source.choices(alphabet, k=source.randint(2, 9))) for _ in range(8_000)]
    made, length = [], 0
    while length < size:
        sentence = " ".join(source.choices(words, k=source.randint(5, 18))).capitalize()
        made.append(sentence + source.choice([". ", ", ", ".\n"]))
        length += len(made[-1])
    return "".join(made)[:size]


def excerpts(text: str) -> Iterator[tuple[str, str]]:
    """What a model may make of a passage, and what an attacker may."""
    start = text.index(" ", 7 * len(text) // 10) + 1
    true = text[start : start + EXCERPT]
    before, after = true[: EXCERPT // 2].rsplit(" ", 1)[0], true[EXCERPT // 2 :].split(" ", 1)[1]
    yield "one word dropped", f"{before} {after}"
    yield "quotes and dashes", true.replace(". ", "” — “")
    yield "all upper case", true.upper()
    yield "upper case, no commas", true.upper().replace(",", "")
    yield "not there at all", prose(ALPHABETS["ascii"], EXCERPT, 9)
    yield "a sentence, a letter changed", true[100:160].replace("e", "3", 1)


def hostile() -> Iterator[tuple[str, str, str]]:
    """Sources in which everything stands everywhere."""
    yield "one letter", "a" * SIZE, "aaaaaaabcaaaaaaa" * (EXCERPT // 16)
    yield "two letters", "ab" * (SIZE // 2), "abababcbababab" * (EXCERPT // 14)
    yield "one sentence", "the net fee is due to x. " * (SIZE // 25), "the net fee is due to y. " * (EXCERPT // 25)
    yield "white space", " \n" * (SIZE // 2), "ab c" * (EXCERPT // 4)


def timed(function: Callable[[], Any]) -> float:
    """The median in seconds."""
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(name: str, text: str, excerpt: str) -> Row:
    """One excerpt in one source; memory is measured apart, for that costs time."""
    if excerpt in text:
        raise RuntimeError(f"the benchmark's excerpt stands in its source: {name}")
    said: Diagnosis | None = diagnose(text, excerpt)
    floor = timed(lambda: text.find(ABSENT))
    seconds = timed(lambda: diagnose(text, excerpt))
    tracemalloc.start()
    diagnose(text, excerpt)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Row(name, "nothing is close" if said is None else ", ".join(said.differences), seconds, floor, memory)


def main() -> None:
    """Prints a line for each excerpt."""
    rows = []
    for kind, alphabet in ALPHABETS.items():
        text = prose(alphabet, SIZE, 1)
        rows += [measure(f"{kind}: {name}", text, excerpt) for name, excerpt in excerpts(text)]
    rows += [measure(f"hostile: {name}", text, excerpt) for name, text, excerpt in hostile()]
    print(f"diagnosis of one excerpt of {EXCERPT:,} code points in {SIZE:,} (x: multiple of one absent search)")
    for row in rows:
        times = f"{1e3 * row.seconds:8.1f} ms {row.seconds / row.floor:6.1f}x {row.memory / 1e6:6.1f} MB"
        print(f"{row.name:<38}{times}  {row.said}")


if __name__ == "__main__":
    main()
