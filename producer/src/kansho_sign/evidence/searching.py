"""Many excerpts in one pass over a text (docs/spec/evidence.md, Many excerpts).

The first code points of every excerpt, its seed, go into one Aho-Corasick automaton; where a seed stands, the whole
excerpt is compared. An excerpt whose seed stands so often that this would cost more than looking for it alone is
looked for alone. So the cost is that of reading the texts and the excerpts, whatever they hold; work is counted, and
what would take more than the limit is refused.
"""

from collections.abc import Collection, Iterator, Mapping

from ahocorasick_rs import AhoCorasick

from kansho_sign.errors import InputError
from kansho_sign.evidence.matching import Finding, Span, Tally, locate, occurrences
from kansho_sign.evidence.policy import Boundary
from kansho_sign.limits import LIMITS

__all__ = ["Seeker", "Work", "locate_many"]

SEED = 32  # code points: seeds nest at most so deep, so a place has at most so many of them
FEW = 48  # up to so many excerpts, one search for each reads the text faster than the automaton does
SLICE = 65_536  # code points searched at once: it bounds the list of seeds found
ALONE = 8  # how many times the length of the text comparing an excerpt may cost before it is looked for alone
COMPARED = 64  # code points that are compared in the time of one step


class Work:
    """What was spent on searching, in code points read."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, amount: int) -> None:
        """Raises InputError ``limits.work`` when the sum exceeds the limit."""
        self.spent += amount
        if self.spent > LIMITS.occurrence_work_code_points:
            why = "looking for so much evidence in such long sources takes too much work"
            raise InputError("limits.work", why, "$.evidence", "attest it in several answers")


class Seeker:
    """Looks for excerpts, canonical and not empty, in one text after another; made once."""

    def __init__(self, excerpts: Collection[str]) -> None:
        self._buckets: dict[str, list[str]] = {}
        for excerpt in excerpts:
            self._buckets.setdefault(excerpt[:SEED], []).append(excerpt)
        self._seeds = list(self._buckets)
        self._automaton = AhoCorasick(self._seeds, store_patterns=False)

    def _seen(self, text: str, work: Work) -> Iterator[tuple[int, str]]:
        """Where which seed stands; the places of one seed ascend."""
        work.spend(len(text))
        for begin in range(0, len(text), SLICE):
            piece = text[begin : begin + SLICE + SEED - 1]
            for number, start, _ in self._automaton.find_matches_as_indexes(piece, overlapping=True):
                if start < SLICE:  # what begins later is found in the next slice
                    yield begin + start, self._seeds[number]

    def standing(self, text: str, sought: set[str], work: Work) -> set[str]:
        """Which of ``sought``, a part of what this was made for, stand in ``text``."""
        if len(sought) <= FEW:
            work.spend(len(text) * len(sought))
            return {excerpt for excerpt in sought if excerpt in text}
        found: set[str] = set()
        alone: set[str] = set()
        spent: dict[str, int] = {}
        for place, seed in self._seen(text, work):
            for excerpt in self._buckets[seed]:
                if excerpt in found or excerpt in alone or excerpt not in sought:
                    continue
                if text.startswith(excerpt, place):
                    found.add(excerpt)
                elif _too_dear(spent, excerpt, text):
                    alone.add(excerpt)
        for excerpt in alone:
            work.spend(len(text))
            if excerpt in text:
                found.add(excerpt)
        return found

    def tallies(self, text: str, boundary: Boundary, work: Work) -> Mapping[str, Tally]:
        """Every place of every excerpt in ``text``; an excerpt that stands nowhere may be absent."""
        made: dict[str, Tally] = {}
        alone: set[str] = set()
        spent: dict[str, int] = {}
        for place, seed in self._seen(text, work):
            for excerpt in self._buckets[seed]:
                if excerpt in alone:
                    continue
                if text.startswith(excerpt, place):
                    if excerpt not in made:
                        made[excerpt] = Tally(text, len(excerpt), boundary)
                    made[excerpt].add(place)
                if len(excerpt) > len(seed) and _too_dear(spent, excerpt, text):
                    alone.add(excerpt)
        for excerpt in alone:
            work.spend(len(text))
            made[excerpt] = Tally(text, len(excerpt), boundary)
            for place in occurrences(text, excerpt):
                made[excerpt].add(place)
        return made


def _too_dear(spent: dict[str, int], excerpt: str, text: str) -> bool:
    spent[excerpt] = spent.get(excerpt, 0) + 1 + len(excerpt) // COMPARED
    return spent[excerpt] * COMPARED > ALONE * len(text)


def locate_many(
    source_id: str, text: str, excerpts: Collection[str], boundary: Boundary, work: Work
) -> dict[str, Span | Finding]:
    """The place of each of these excerpts in the text of one source, or why there is none."""
    if len(excerpts) <= FEW:
        work.spend(len(text) * len(excerpts))
        return {excerpt: locate(source_id, text, excerpt, boundary) for excerpt in excerpts}
    tallies = Seeker(excerpts).tallies(text, boundary, work)
    return {
        excerpt: tallies[excerpt].outcome(source_id) if excerpt in tallies else Finding.UNVERIFIED_EXCERPT
        for excerpt in excerpts
    }
