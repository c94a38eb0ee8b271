"""Many excerpts in one pass over a text (docs/spec/evidence.md, Many excerpts).

The first code points of every excerpt, its seed, go into an Aho-Corasick automaton; where a seed stands, the whole
excerpt is compared. An excerpt whose seed stands so often that this would cost more than looking for it alone is
looked for alone. So the cost is that of reading the texts and the excerpts, whatever they hold; work is counted, and
what would take more than the limit is refused.
"""

from collections.abc import Collection, Container, Iterator, Mapping

from ahocorasick_rs import AhoCorasick

from kansho_sign.errors import InputError
from kansho_sign.evidence.matching import Finding, Span, Tally, locate, occurrences
from kansho_sign.evidence.policy import Boundary
from kansho_sign.limits import LIMITS

__all__ = ["Seeker", "Work", "locate_many"]

# Lengths of seeds in code points, an automaton each: the longest that an excerpt has. Seeds of one length do not stand
# in one another, so that an automaton finds at most one at a place, and is built in linear time.
SEEDS = (32, 16, 8, 4, 2, 1)
FEW = 48  # up to so many excerpts, one search for each reads the text faster than the automaton does
SLICE = 65_536  # code points searched at once: it bounds the list of seeds found
ALONE = 8  # how many times the length of the text comparing an excerpt may cost before it is looked for alone
COMPARED = 64  # code points that are compared in the time that the rest of a step takes


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
        self._groups: dict[str, dict[int, set[str]]] = {}  # by seed and length
        for excerpt in excerpts:
            length = next(size for size in SEEDS if size <= len(excerpt))
            self._groups.setdefault(excerpt[:length], {}).setdefault(len(excerpt), set()).add(excerpt)
        seeds = {size: [seed for seed in self._groups if len(seed) == size] for size in SEEDS}
        self._automata = [
            (AhoCorasick(of_size, store_patterns=False), of_size) for of_size in seeds.values() if of_size
        ]

    def _seen(self, text: str, work: Work) -> Iterator[tuple[int, str]]:
        """Where which seed stands; the places of one seed ascend."""
        for automaton, seeds in self._automata:
            work.spend(len(text))
            overlap = len(seeds[0]) - 1
            for begin in range(0, len(text), SLICE):
                piece = text[begin : begin + SLICE + overlap]
                for number, start, _ in automaton.find_matches_as_indexes(piece, overlapping=True):
                    yield begin + start, seeds[number]

    def _found(self, text: str, work: Work, settled: Container[str], alone: set[str]) -> Iterator[tuple[str, int]]:
        """Excerpts and the places where they stand; those of one excerpt ascend.

        Excerpts that are ``settled`` may be left out. What is added to ``alone`` was not looked for to the end.
        """
        spent: dict[tuple[str, int], int] = {}
        dear: set[tuple[str, int]] = set()
        for place, seed in self._seen(text, work):
            for size, group in self._groups[seed].items():
                # Of one length and seed: one comparison, or one look into the set, however many they are.
                if (seed, size) in dear:
                    continue
                cost = spent.get((seed, size), 0)
                if cost > ALONE * len(text) * len(group):
                    dear.add((seed, size))
                    alone.update(group)
                    continue
                if len(group) == 1:
                    (excerpt,) = group
                    if excerpt in settled:
                        continue
                    matches = text.startswith(excerpt, place)
                else:
                    excerpt = text[place : place + size]
                    matches = excerpt in group
                if matches:
                    yield excerpt, place
                if size > len(seed):
                    spent[seed, size] = cost + COMPARED + size

    def standing(self, text: str, sought: set[str], work: Work) -> set[str]:
        """Which of ``sought``, a part of what this was made for, stand in ``text``."""
        if len(sought) <= FEW:
            work.spend(len(text) * len(sought))
            return {excerpt for excerpt in sought if excerpt in text}
        found: set[str] = set()
        alone: set[str] = set()
        for excerpt, _ in self._found(text, work, found, alone):
            found.add(excerpt)
        found &= sought
        for excerpt in (alone & sought) - found:
            work.spend(len(text))
            if excerpt in text:
                found.add(excerpt)
        return found

    def tallies(self, text: str, boundary: Boundary, work: Work) -> Mapping[str, Tally]:
        """Every place of every excerpt in ``text``; an excerpt that stands nowhere may be absent."""
        made: dict[str, Tally] = {}
        alone: set[str] = set()
        for excerpt, place in self._found(text, work, (), alone):
            if excerpt not in made:
                made[excerpt] = Tally(text, len(excerpt), boundary)
            made[excerpt].add(place)
        for excerpt in alone:
            work.spend(len(text))
            made[excerpt] = Tally(text, len(excerpt), boundary)
            for place in occurrences(text, excerpt):
                made[excerpt].add(place)
        return made


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
