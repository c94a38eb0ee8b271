"""JSON that nobody promised, and known-good JSON damaged: what an adapter has to bear."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from kansho_sign.adapters.reading import Reading, Reference, SourcesMap
from kansho_sign.errors import InputError

Read = Callable[[object, SourcesMap], Reading]
Path = tuple[str | int, ...]

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)
NESTING = 5_000
NO_SOURCES = SourcesMap()


def map_of(**by: dict[str, str]) -> SourcesMap:
    """``map_of(uri={"https://a/": "s"})``."""
    return SourcesMap({Reference(way, value): source for way, each in by.items() for value, source in each.items()})


def cited(reading: Reading) -> list[tuple[str, str]]:
    """(source_id, excerpt) of each item."""
    return [(item["source_id"], item["excerpt"]) for item in reading.answer["evidence"]]


def prose(reading: Reading) -> list[tuple[str, list[int]]]:
    """(text, evidence) of each annotation."""
    return [(note["text"], note["evidence"]) for note in reading.answer.get("annotations", [])]


def standing(reading: Reading, registry: dict[str, str]) -> list[bool]:
    """For each item whether something is quoted, and stands in the source that it names."""
    return [bool(excerpt) and excerpt in registry.get(source, "") for source, excerpt in cited(reading)]


def refusal(read: Read, answer: object, sources: SourcesMap = NO_SOURCES) -> tuple[str, str]:
    """(code, where) of the refusal."""
    try:
        read(answer, sources)
    except InputError as error:
        return error.code, error.where
    raise AssertionError("it was read")


def read_or_refused(read: Read, answer: object) -> Reading | None:
    """What was read; None where it was refused. Raises AssertionError where either is not as it has to be."""
    before = copy.deepcopy(answer)
    try:
        reading = read(answer, NO_SOURCES)
    except InputError as error:
        if error.code not in {"adapter.shape", "schema.violation"} or not error.where.startswith("$") or not error.why:
            raise AssertionError(f"refused with {error.code} at {error.where!r}") from error
        return None
    count = len(reading.answer["evidence"])
    if not len(reading.places) == len(reading.hints) == count:
        raise AssertionError("an item has no place or no hint")
    if not all(place.startswith("$") for place in reading.places):
        raise AssertionError("a place is no JSON path")
    numbers = {number for note in reading.answer.get("annotations", []) for number in note["evidence"]}
    if not numbers <= set(range(count)):
        raise AssertionError("an annotation leans on evidence that is not there")
    if answer != before:
        raise AssertionError("the answer was changed")
    return reading


def strings(value: object) -> Iterator[str]:
    """All strings in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """The path of everything inside."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield (*path, name)
        yield from paths(inner, (*path, name))


def changed(value: Any, path: Path, change: Callable[[Any, Any], None]) -> Any:
    """A copy, with ``change(holder, name)`` done to what stands at the path."""
    made = copy.deepcopy(value)
    holder = made
    for name in path[:-1]:
        holder = holder[name]
    change(holder, path[-1])
    return made


def dropped(value: Any, *path: str | int) -> Any:
    """A copy without what stands at the path."""

    def drop(holder: Any, name: Any) -> None:
        del holder[name]

    return changed(value, path, drop)


def replaced(value: Any, new: object, *path: str | int) -> Any:
    """A copy with another value at the path."""

    def put(holder: Any, name: Any) -> None:
        holder[name] = new

    return changed(value, path, put)


@st.composite
def damaged(draw: st.DrawFn, valid: Any) -> Any:
    """A good answer of which up to three places are dropped, or have another value."""
    value = copy.deepcopy(valid)
    for _ in range(draw(st.integers(1, 3))):
        places = list(paths(value))
        if not places:
            break
        path = draw(st.sampled_from(places))
        value = dropped(value, *path) if draw(st.booleans()) else replaced(value, draw(JSON), *path)
    return value


def deep(name: str) -> dict[str, Any]:
    """An object that holds itself under one name, far deeper than Python recurses."""
    value: dict[str, Any] = {}
    for _ in range(NESTING):
        value = {name: value}
    return value


def as_json(value: Any) -> Any:
    """As a file would give it back."""
    return json.loads(json.dumps(value))
