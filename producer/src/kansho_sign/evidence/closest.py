"""Parts of a long source in which an excerpt may nearly stand (docs/spec/diagnosis.md, Windows)."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Final

import unicodedata2 as ucd

from kansho_sign.evidence.placing import slack
from kansho_sign.evidence.reading import Reading
from kansho_sign.evidence.shapes import LEVEL, SHAPE, VISIBLE

__all__ = ["Closest"]

WHOLE: Final = 16_384
"""Code points of a source that is looked at whole."""
FOLDED: Final = 1_048_576
"""Code points of a source of which a folded copy is made where its own wording shows nothing."""
BLOCK: Final = 512
"""Code points that are folded at once, and so the least exact that a place in the folded copy can be."""
SEEDS: Final = ((16, 3), (8, 2), (5, 1))
UNSPACED_SEEDS: Final = ((8, 3), (4, 2), (3, 1))
"""Length and number of the pieces of an excerpt that are searched, in turn."""
CAPITAL_SEEDS: Final = 2
"""How many of the longest are searched again in capitals."""
HITS: Final = 64
"""Places of one seed that are looked at."""
WITNESSES: Final = 8
WITNESS, UNSPACED_WITNESS = 6, 3
"""Pieces of the excerpt, and their length, that are looked for where a seed stands."""
WINDOWS: Final = 4
"""Parts that are handed on."""
LEAST, ENOUGH = 0.25, 0.5
"""Share of the witnesses that a part needs, and that ends the search."""
WITNESS_CODE_POINTS: Final = 1_048_576
"""How much text is searched for witnesses, over all."""
LETTERS: Final = 3
"""Different characters without which a seed says nothing."""


class Closest:
    """Looks for the parts of one source; keeps a folded copy of a source of middling length."""

    __slots__ = ("_blocks", "_folded", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: str | None = None
        self._blocks: list[int] = []

    def windows(self, excerpt: Reading) -> list[tuple[int, int]]:
        """Start and end of at most :data:`WINDOWS` parts, the most promising first."""
        text = self._text
        if len(text) <= WHOLE:
            return [(0, len(text))]
        content = excerpt.content.translate(VISIBLE)
        level = content.translate(LEVEL)
        seeds = _seeds(content, level)
        size, reach = len(content), slack(len(content))
        found = [(start, start + size) for start in _Search(text, level).windows(seeds)]
        capitals = level.upper()
        if not found and capitals != level and len(capitals) == len(level):
            spoken = [[(offset, capitals[offset : offset + len(seed)]) for offset, seed in seeds[0][:CAPITAL_SEEDS]]]
            found = [(start, start + size) for start in _Search(text, capitals).windows(spoken)]
        if not found and len(text) <= FOLDED:
            starts = _Search(self._fold(), level).windows(seeds)
            found = [(self._unfolded(start), self._unfolded(start + size)) for start in starts]
            reach += BLOCK
        return [(max(0, start - reach), min(len(text), end + reach)) for start, end in found]

    def _fold(self) -> str:
        """The source in lower case and NFKC, without invisible characters and line breaks."""
        if self._folded is None:
            hidden = any(VISIBLE[ord(c)] is None for c in set(self._text))
            made, size = [], 0
            for start in range(0, len(self._text), BLOCK):
                self._blocks.append(size)
                block = ucd.normalize("NFKC", self._text[start : start + BLOCK]).lower()
                made.append(" ".join((block.translate(VISIBLE) if hidden else block).split()) + " ")
                size += len(made[-1])
            self._folded = "".join(made)
        return self._folded

    def _unfolded(self, start: int) -> int:
        """About where in the source a place of its folded copy is: inside a block, in proportion."""
        number = max(0, bisect_right(self._blocks, start) - 1)
        following = self._blocks[number + 1] if number + 1 < len(self._blocks) else len(self._folded or "")
        inside = (start - self._blocks[number]) / max(1, following - self._blocks[number])
        return number * BLOCK + int(inside * BLOCK)


class _Search:
    """One form of a source, and one excerpt in the same form."""

    def __init__(self, text: str, level: str) -> None:
        self._text, self._size, self._reach = text, len(level), slack(len(level))
        length = UNSPACED_WITNESS if _is_unspaced(level.translate(SHAPE)) else WITNESS
        starts = [number * max(0, len(level) - length) // (WITNESSES - 1) for number in range(WITNESSES)]
        self._witnesses = list(dict.fromkeys(level[start : start + length] for start in starts))
        self._left = WITNESS_CODE_POINTS

    def windows(self, seeds: list[list[tuple[int, str]]]) -> list[int]:
        """Where the best windows begin that seeds show: ``(offset in the excerpt, seed)``, a list for each length."""
        shares: dict[int, float] = {}
        seen: set[int] = set()
        for offset, seed in chain.from_iterable(seeds):
            for place in self._places(seed):
                start = place - offset
                about = start // (self._reach // 2)  # so near each other two windows are one
                if about not in seen:
                    seen.add(about)
                    if (share := self._share(start)) >= LEAST:
                        shares[start] = share
            if any(share >= ENOUGH for share in shares.values()):
                break
        return sorted(shares, key=lambda start: (-shares[start], start))[:WINDOWS]

    def _places(self, seed: str) -> Iterator[int]:
        place = self._text.find(seed)
        for _ in range(HITS):
            if place < 0:
                return
            yield place
            place = self._text.find(seed, place + 1)

    def _share(self, start: int) -> float:
        """Which share of the witnesses stands about where the excerpt would."""
        lo, hi = max(0, start - self._reach), start + self._size + self._reach
        if self._left <= 0:
            return 0.0
        self._left -= (hi - lo) * len(self._witnesses)
        return sum(self._text.find(one, lo, hi) >= 0 for one in self._witnesses) / len(self._witnesses)


def _is_unspaced(shape: str) -> bool:
    return 2 * shape.count("u") > len(shape)


def _seeds(content: str, level: str) -> list[list[tuple[int, str]]]:
    """Pieces of an excerpt spread over it, of small letters and single spaces where it can be, the longest first."""
    shape = level.translate(SHAPE)
    strict = "".join(kind if raw == same else "s" for kind, raw, same in zip(shape, content, level, strict=True))
    sizes = UNSPACED_SEEDS if _is_unspaced(shape) else SEEDS
    made = []
    for size, number in sizes:
        zone = max(len(level) // number, size)
        plain = re.compile(rf"[wu ]{{{size}}}")
        inner = re.compile(rf"(?<=[wu] )[wu ]{{{size}}}")  # begins no sentence, which has a capital in most sources
        chosen: dict[str, int] = {}
        for first in range(0, len(level) - size + 1, zone):
            last = first + zone
            match = plain.search(strict, first, last) or inner.search(shape, first, last)
            match = match or plain.search(shape, first, last)
            offset = match.start() if match else first
            seed = level[offset : offset + size]
            if len(set(seed)) >= LETTERS:
                chosen.setdefault(seed, offset)
        made.append([(offset, seed) for seed, offset in chosen.items()][:number])
    return made
