"""Where in a part of a source an excerpt nearly stands (docs/spec/diagnosis.md, Place)."""

from collections.abc import Sequence
from typing import Final

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, Levenshtein

from kansho_sign.characters import cuts_character
from kansho_sign.evidence.edges import EDGE, balanced
from kansho_sign.evidence.reading import Reading
from kansho_sign.evidence.shapes import SHAPE, VISIBLE, is_word

__all__ = ["CLOSE", "fitted", "similarity", "slack", "standing"]

CLOSE: Final = 0.65
"""What is less similar is no near miss: between 0 and 1, twice the common code points over all of both."""
COMPARED: Final = 8_192
"""Of longer texts, so many code points at either end are compared."""
SEEN, KEPT = 256, 8
"""Places of one skeleton that are looked at, and of these the ones that are examined."""
SEEN_CODE_POINTS: Final = 65_536
"""And so many code points of them, if that is fewer places."""
PROBE: Final = 64
"""Code points that are aligned at once: rapidfuzz slides so many over a text in a step for each of its code points."""
PROBES: Final = 4
FOUND: Final = 75.0
"""A probe that is less similar, of 100, shows no place."""
REACH, BOUNDARIES = 48, 16
"""How far from a probe's place, and at how many word boundaries, its edges are looked for."""
NARROW, WIDE = 256, 4_096
"""The least and the most that a place may lie beside where it is expected, in code points."""
EDGE_WORD, WORD_COUNT = 0.15, 0.05
"""What another word at an edge, and one word more or less, count beside the share of code points that differ."""
SIGNS: Final = frozenset("+-\u2212\u00b1")


def slack(size: int) -> int:
    """How far the place of an excerpt of ``size`` code points may lie from where a part of it points."""
    return min(max(NARROW, size // 4), WIDE)


def similarity(left: str, right: str) -> float:
    """Of two level texts; 0 to 1."""
    if max(len(left), len(right)) > 2 * COMPARED:
        left, right = (side[:COMPARED] + side[-COMPARED:] for side in (left, right))
    return Indel.normalized_similarity(left, right)


def standing(window: Reading, excerpt: Reading) -> list[tuple[int, int]]:
    """Where in the source the letters and numbers of the window are those of the excerpt, the likest places first."""
    return [_place(window, excerpt, *core) for core in _standing(window, excerpt)]


def fitted(window: Reading, excerpt: Reading) -> tuple[int, int] | None:
    """Where in the source the words of the window are most like the excerpt; None where nothing is like it."""
    core = _fitted(window.level, excerpt.level[slice(*excerpt.words())])
    return _place(window, excerpt, *core) if core else None


def _standing(window: Reading, excerpt: Reading) -> list[tuple[int, int]]:
    """Where in the window's content its letters and numbers are those of the excerpt."""
    wanted, found = excerpt.skeleton, []
    level = excerpt.level[slice(*excerpt.words())]
    offset = window.skeleton.find(wanted) if wanted else -1
    for _ in range(max(1, min(SEEN, SEEN_CODE_POINTS // max(1, len(wanted))))):
        if offset < 0:
            break
        start, end = window.index(offset), window.index(offset + len(wanted) - 1) + 1
        whole = _begins(window.level, start) and _ends(window.level, end)
        found.append((not whole, Levenshtein.distance(level, window.level[start:end]), start, end))
        offset = window.skeleton.find(wanted, offset + 1)
    return [(start, end) for _, _, start, end in sorted(found)[:KEPT]]


def _begins(level: str, index: int) -> bool:
    """Whether a word or number begins here; in a script without spaces every letter may."""
    before, here = level[max(0, index - 1) : index].translate(SHAPE), level[index : index + 1].translate(SHAPE)
    return is_word(here) and (not is_word(before) or "u" in before + here)


def _ends(level: str, index: int) -> bool:
    before, here = level[max(0, index - 1) : index].translate(SHAPE), level[index : index + 1].translate(SHAPE)
    return is_word(before) and (not is_word(here) or "u" in before + here)


def _fitted(level: str, core: str) -> tuple[int, int] | None:
    """The words of ``level`` that are most like ``core``."""
    if not core or not level:
        return None
    if len(core) <= PROBE:
        fit = _fit(core, level, 0, len(level))
        return fit and (fit[0], fit[1])
    expected = _expected(level, core)
    start = _edge(level, core, expected)
    end = _edge(level, core, expected if start is None else start, from_end=True)
    if start is None and end is None:
        return None
    if start is None:
        start = _nearest(level, (end or 0) - len(core), ends=False)
    if end is None or end <= start:
        end = _nearest(level, start + len(core), ends=True)
    return (start, end) if start < end else None


def _expected(level: str, core: str) -> int:
    """About where ``core`` begins in ``level``: where one of its probes stands and all of it fits best."""
    best, chosen = -1.0, 0
    seen: list[int] = []
    for number in range(2 * PROBES):
        offset = number * (len(core) - PROBE) // (2 * PROBES - 1)
        found = fuzz.partial_ratio_alignment(core[offset : offset + PROBE], level, score_cutoff=FOUND)
        start = max(0, found.dest_start - offset) if found else 0
        if found is None or any(abs(start - one) <= REACH for one in seen):
            continue
        seen.append(start)
        score = similarity(core, level[start : start + len(core)])
        if score > best:
            best, chosen = score, start
    return chosen


def _edge(level: str, core: str, start: int, *, from_end: bool = False) -> int | None:
    """Where ``core``, which begins about ``start``, begins or ends: by the outermost of its probes that is found."""
    for number in range(PROBES):
        offset = number * PROBE
        stop = len(core) - offset
        probe = core[max(0, stop - PROBE) : stop] if from_end else core[offset : offset + PROBE]
        cut = (probe.find(" ") + 1) if from_end else probe.rfind(" ")
        if 0 < cut < len(probe):
            probe = probe[cut:] if from_end else probe[:cut]
        fit = _near(probe, level, start + (stop - PROBE if from_end else offset), slack(len(core)))
        if fit:
            if not number:
                return fit[1] if from_end else fit[0]
            return _nearest(level, fit[1] + offset if from_end else fit[0] - offset, ends=from_end)
    return None


def _near(probe: str, level: str, expected: int, reach: int) -> tuple[int, int] | None:
    """Start and end of ``probe`` in ``level``: close to where it is expected, else as far off as ``reach``."""
    for around in (2 * REACH, reach):
        fit = _fit(probe, level, max(0, expected - around), max(0, expected + PROBE + around))
        if fit and fit[2] >= FOUND:
            return fit[0], fit[1]
    return None


def _fit(probe: str, level: str, lo: int, hi: int) -> tuple[int, int, float] | None:
    """Start, end and score of the words in ``level[lo:hi]`` that differ least, for their length, from ``probe``."""
    part = level[lo:hi]
    found = fuzz.partial_ratio_alignment(probe, part) if part else None
    if found is None or not found.score:
        return None
    starts = _boundaries(level, lo + found.dest_start, ends=False)
    ends = _boundaries(level, lo + found.dest_end, ends=True)
    fits = [
        (_misfit(probe, level[start:end]), abs(end - start - len(probe)), start, end)
        for start in starts
        for end in ends
        if start < end
    ]
    if not fits:
        return None
    _, _, start, end = min(fits)
    return start, end, max(found.score, 100 * similarity(probe, level[start:end]))


def _misfit(probe: str, words: str) -> float:
    """How much ``words`` differ from ``probe``: less where they begin and end with the same words, and have as many."""
    return (
        Levenshtein.normalized_distance(probe, words)
        + EDGE_WORD * (not words.startswith(probe.split(" ", 1)[0]))
        + EDGE_WORD * (not words.endswith(probe.rsplit(" ", 1)[-1]))
        + WORD_COUNT * abs(probe.count(" ") - words.count(" "))
    )


def _boundaries(level: str, near: int, *, ends: bool) -> Sequence[int]:
    is_boundary = _ends if ends else _begins
    around = (i for step in range(REACH + 1) for i in dict.fromkeys((near - step, near + step)))
    found: list[int] = []
    for index in around:
        if 0 <= index <= len(level) and is_boundary(level, index):
            found.append(index)
            if len(found) == BOUNDARIES:
                break
    return found


def _nearest(level: str, near: int, *, ends: bool) -> int:
    near = min(max(near, 0), len(level))
    return next(iter(_boundaries(level, near, ends=ends)), near)


def _place(window: Reading, excerpt: Reading, start: int, end: int) -> tuple[int, int]:
    """The place in the source of ``content[start:end]``, with the marks at its edges that the excerpt has or needs."""
    first, last = excerpt.words()
    before, after = _run(window.level, start, -1), _run(window.level, end, 1)
    left = _taken(excerpt.level[:first][::-1], window.level[before:start][::-1])
    right = _taken(excerpt.level[last:], window.level[end:after])
    place = window.place(start - left, end + right)
    bounds = (
        window.origin(before - 1)[1] if before else window.lo,
        window.origin(after)[0] if after < len(window.content) else window.hi,
    )
    place = balanced(window, excerpt, place, bounds)
    return _uncut(window.text, *place)


def _run(level: str, index: int, step: int) -> int:
    """How far from here there is no word, up to the limit."""
    edge = index
    while abs(edge - index) < EDGE and 0 <= edge - (step < 0) < len(level):
        if is_word(SHAPE[ord(level[edge - (step < 0)])] or ""):
            break
        edge += step
    return edge


def _taken(wanted: str, run: str) -> int:
    """How many code points of ``run``, from the word outwards, are most like the marks that the excerpt has there."""
    wanted = wanted[:EDGE].translate(VISIBLE)
    spaced = wanted[-1:].isspace()
    choices = []
    for size in range(len(run) + 1):
        if not size or spaced or not run[size - 1].isspace():
            distance = Levenshtein.distance(wanted, run[:size].translate(VISIBLE))
            choices.append((distance, -size if distance else size, size))
    return min(choices)[2]


def _uncut(text: str, start: int, end: int) -> tuple[int, int]:
    """The place without a number or a character cut at its edges (docs/spec/evidence.md, Matching), as far as EDGE."""
    for _ in range(EDGE):
        if start == 0 or not (_cut(text, start) or _unsigned(text, start)):
            break
        start -= 1
    for _ in range(EDGE):
        if end == len(text) or not _cut(text, end):
            break
        end += 1
    return start, end


def _cut(text: str, edge: int) -> bool:
    if edge in (0, len(text)):
        return False
    left, right = text[max(0, edge - 2) : edge].translate(SHAPE), text[edge : edge + 2].translate(SHAPE)
    number = (
        (left[-1] == "0" and right[0] == "0")
        or (left[-1] == "0" and right[0] in ".'g" and right[1:2] == "0")
        or (right[0] == "0" and left[-1] in ".'g" and left[-2:-1] == "0")
    )
    return number or cuts_character(text[edge - 1], text[edge])


def _unsigned(text: str, start: int) -> bool:
    kinds = text[max(0, start - 2) : start + 1].translate(SHAPE)
    return kinds[-1] == "0" and text[start - 1] in SIGNS and not is_word(kinds[-3:-2])
