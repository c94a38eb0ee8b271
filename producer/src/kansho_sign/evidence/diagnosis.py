"""Why an excerpt that stands nowhere in its source nearly stands there (docs/spec/diagnosis.md).

It explains and never accepts: what :mod:`kansho_sign.evidence.decisions` decides is decided before this is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kansho_sign.evidence.closest import WHOLE, Closest
from kansho_sign.evidence.comparing import differences
from kansho_sign.evidence.folding import GRAVITY, Difference
from kansho_sign.evidence.markup import edited
from kansho_sign.evidence.placing import CLOSE, fitted, similarity, standing
from kansho_sign.evidence.reading import Reading
from kansho_sign.evidence.shapes import LEVEL

__all__ = ["Diagnoser", "Diagnosis", "Difference", "diagnose"]

LONGEST: Final = 262_144
"""Code points of an excerpt beyond which it is not explained."""
EXAMINED: Final = 65_536
"""Code points of places of one excerpt that are compared, at least one place."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The closest place of a source, ``[start, end)`` in code points of its canonical text, and how it differs.

    ``difference`` is the gravest of ``differences``, which has the gravest first. ``wording`` is what the source says
    there, whole.
    """

    difference: Difference
    differences: tuple[Difference, ...]
    start: int
    end: int
    wording: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    diagnosis: Diagnosis
    similarity: float

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """The lower, the closer: the mildest difference, the fewest of form, the likest wording, the first place."""
        found = self.diagnosis
        of_form = 0 if found.difference is Difference.WORDING else len(found.differences)
        return GRAVITY[found.difference], of_form, -self.similarity, found.start


class Diagnoser:
    """Diagnoses for excerpts of one source, given by its canonical text; what they share is made once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closest = Closest(text)
        self._whole: Reading | None = None

    def diagnose(self, excerpt: str) -> Diagnosis | None:
        """The closest place to ``excerpt``, which is canonical, not empty, and does not stand in the text.

        None where nothing is close, where the excerpt holds no letter, mark or number to find it by, and where it is
        longer than :data:`LONGEST`. The same for the same input, in time linear in the text and the excerpt.
        """
        if len(excerpt) > LONGEST:
            return None
        readings = [Reading(excerpt), Reading(excerpt, inline=True)]
        if readings[0].content == readings[1].content:
            readings.pop()
        found: list[_Candidate] = []
        for wanted in readings:
            if wanted.skeleton:
                for start, end in self._closest.windows(wanted):
                    found += self._candidates(self._reading(start, end), wanted)
        return min(found, key=lambda one: one.rank).diagnosis if found else None

    def _reading(self, start: int, end: int) -> Reading:
        if len(self._text) > WHOLE:
            return Reading(self._text, start, end)
        if self._whole is None:
            self._whole = Reading(self._text)
        return self._whole

    def _candidates(self, window: Reading, wanted: Reading) -> Iterator[_Candidate]:
        """Places with the letters and numbers of the excerpt; beside these, unless form alone differs, the likest."""
        places = standing(window, wanted)[: max(1, EXAMINED // len(wanted.text))]
        made = [self._candidate(window, wanted, place) for place in places]
        yield from made
        if all(one.diagnosis.difference is Difference.WORDING for one in made):
            place = fitted(window, wanted)
            if place is not None and place not in places:
                candidate = self._candidate(window, wanted, place)
                if candidate.similarity >= CLOSE:
                    yield candidate

    def _candidate(self, window: Reading, wanted: Reading, place: tuple[int, int]) -> _Candidate:
        worded = window.worded(*place)
        found = differences(wanted.worded(0, len(wanted.text)), worded)
        alike = similarity(wanted.level, edited(worded.text, worded.edits()).translate(LEVEL))
        return _Candidate(Diagnosis(found[0], found, *place, worded.text), alike)


def diagnose(text: str, excerpt: str) -> Diagnosis | None:
    """As :meth:`Diagnoser.diagnose`, for one excerpt."""
    return Diagnoser(text).diagnose(excerpt)
