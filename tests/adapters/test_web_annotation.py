"""Web Annotations (docs/spec/adapters/web-annotation.md). The shapes are those of the W3C Recommendation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.adapters.reading import Hint
from kansho_sign.adapters.web_annotation import read
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import (
    JSON,
    NESTING,
    NO_SOURCES,
    cited,
    damaged,
    deep,
    dropped,
    map_of,
    prose,
    read_or_refused,
    refusal,
    replaced,
    standing,
)

REFUND = "Refunds are paid within five business days 😀.\nThey need a receipt."
TRAVEL = "Trains are booked in second class."
REGISTRY = {"refund": REFUND, "travel": TRAVEL}
URIS = {"https://a.example/refund": "refund", "https://a.example/travel": "travel"}
SOURCES = map_of(uri=URIS)
CONTEXT = "http://www.w3.org/ns/anno.jsonld"


def quote(exact: str, **more: Any) -> dict[str, Any]:
    return {"type": "TextQuoteSelector", "exact": exact, "prefix": "paid ", "suffix": " days", **more}


def position(start: object, end: object, **more: Any) -> dict[str, Any]:
    return {"type": "TextPositionSelector", "start": start, "end": end, **more}


def target(selector: object, source: object = "https://a.example/refund") -> dict[str, Any]:
    return {"type": "SpecificResource", "source": source, "selector": selector}


def annotation(cites: object, **more: Any) -> dict[str, Any]:
    return {"@context": CONTEXT, "id": "https://a.example/anno1", "type": "Annotation", "target": cites, **more}


FIVE = quote("five business")
VALID = annotation(
    [target([position(24, 37), FIVE]), target(quote("second class"), {"id": "https://a.example/travel"})],
    body=[{"type": "TextualBody", "value": "Five days.", "format": "text/plain"}, "https://a.example/comment"],
)
FRAGMENT = {"type": "FragmentSelector", "value": "section-2"}


def test_annotation() -> None:
    reading = read(VALID, SOURCES)
    assert cited(reading) == [("refund", "five business"), ("travel", "second class")]
    assert standing(reading, REGISTRY) == [True, True]
    assert reading.places == ("$.target[0]", "$.target[1]")
    assert reading.hints == (Hint(24, 37), None)
    assert REFUND[24:37] == "five business"
    assert prose(reading) == [("Five days.", [0, 1]), ("https://a.example/comment", [0, 1])]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda *each: list(each),
        lambda *each: {"type": "AnnotationPage", "items": list(each), "next": "https://a.example/page2"},
        lambda *each: {"type": ["AnnotationPage"], "items": list(each)},
        lambda *each: {"type": "AnnotationCollection", "items": list(each)},
        lambda *each: {
            "type": "AnnotationCollection",
            "total": 2,
            "first": {"type": "AnnotationPage", "items": list(each)},
        },
    ],
)
def test_several_annotations(wrap: Any) -> None:
    reading = read(wrap(VALID, annotation(target(FIVE), bodyValue="Once more.")), SOURCES)
    assert [excerpt for _, excerpt in cited(reading)] == ["five business", "second class", "five business"]
    assert prose(reading)[2] == ("Once more.", [2])


@pytest.mark.parametrize(
    "collection",
    [
        {"first": "https://a.example/page1"},
        {"first": {"type": "AnnotationPage", "items": [VALID], "next": "https://a.example/page2"}},
        {"first": {"type": "AnnotationPage", "items": [VALID]}, "total": 2},
        {"items": [VALID], "next": "https://a.example/page2"},
        {"first": {"type": "AnnotationPage"}},
        {},
    ],
)
def test_collection_of_which_pages_are_missing(collection: dict[str, Any]) -> None:
    assert refusal(read, {"type": "AnnotationCollection", **collection})[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("selector", "excerpts"),
    [
        (FIVE, ["five business"]),
        ([FIVE], ["five business"]),
        ([{"type": "XPathSelector", "value": "/p"}, FIVE, position(1, 2)], ["five business"]),
        ([FIVE, quote("receipt")], ["five business", "receipt"]),
        ({"type": "Choice", "items": [FRAGMENT, FIVE]}, ["five business"]),
        ({"type": "Choice", "items": {"type": "Choice", "items": [FIVE]}}, ["five business"]),
        ({**FRAGMENT, "refinedBy": FIVE}, ["five business"]),
        ({**FRAGMENT, "refinedBy": {**FRAGMENT, "refinedBy": [FIVE]}}, ["five business"]),
        (quote(REFUND, refinedBy=FIVE), ["five business"]),
        (quote("five business", type=["TextQuoteSelector", "Other"]), ["five business"]),
        (quote(" \n five "), [" \n five "]),
        (quote(REFUND, refinedBy=position(0, 3)), [""]),
        (quote(REFUND, refinedBy={"type": "Choice", "items": []}), [""]),
        (position(24, 37), [""]),
        (FRAGMENT, [""]),
        ({"type": "RangeSelector", "startSelector": FIVE, "endSelector": quote("days")}, [""]),
        ({"type": "TextQuoteSelector", "prefix": "a", "suffix": "b"}, [""]),
        (quote(""), [""]),
        ({"exact": "five business"}, [""]),
        ("https://a.example/selector1", [""]),
        ([], [""]),
        (None, [""]),
    ],
)
def test_selectors(selector: object, excerpts: list[str]) -> None:
    reading = read(annotation(target(selector)), SOURCES)
    assert cited(reading) == [("refund", excerpt) for excerpt in excerpts]


@pytest.mark.parametrize(
    ("cites", "sources"),
    [
        ("https://a.example/refund", ["refund"]),
        ({"id": "https://a.example/refund", "type": "Text"}, ["refund"]),
        ({"id": "https://a.example/other", "source": "https://a.example/refund"}, ["refund"]),
        ({"source": {"id": "https://a.example/refund", "type": "Text"}}, ["refund"]),
        ({"source": {"type": "Text"}}, [""]),
        ({"source": "https://a.example/unknown"}, ["uri:https://a.example/unknown"]),
        ({}, [""]),
        (["https://a.example/refund", {"type": "List", "items": ["https://a.example/travel"]}], ["refund", "travel"]),
        ({"type": "Independents", "items": ["https://a.example/refund", {"source": "urn:x"}]}, ["refund", "uri:urn:x"]),
    ],
)
def test_target_that_quotes_nothing_is_noted(cites: object, sources: list[str]) -> None:
    reading = read(annotation(cites, bodyValue="x"), SOURCES)
    assert cited(reading) == [(source, "") for source in sources]
    assert prose(reading) == [("x", list(range(len(sources))))]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ([FIVE, position(24, 37)], Hint(24, 37)),
        ([FIVE, position(0, 999)], Hint(0, 999)),
        ([FIVE, position(-1, 37)], None),
        ([FIVE, position(37, 24)], None),
        ([FIVE, position("24", "37")], None),
        ([FIVE, position(24.0, None)], None),
        ([FIVE, position([], {})], None),
        ([FIVE, {"type": "TextPositionSelector"}], None),
        ([FIVE, position(24, 37), position(24, 37)], None),
        ([{**FRAGMENT, "refinedBy": position(24, 37)}, FIVE], None),
        ([position(24, 37, refinedBy=position(0, 1)), FIVE], None),
    ],
)
def test_hints(selector: list[Any], found: Hint | None) -> None:
    reading = read(annotation(target(selector)), SOURCES)
    assert cited(reading) == [("refund", "five business")]
    assert reading.hints == (found,)


def test_no_hint_for_several_quotes() -> None:
    reading = read(annotation(target([FIVE, quote("receipt"), position(24, 37)])), SOURCES)
    assert reading.hints == (None, None)


@pytest.mark.parametrize(
    ("more", "texts"),
    [
        ({"bodyValue": "One."}, ["One."]),
        ({"body": {"type": "TextualBody", "value": "One."}}, ["One."]),
        ({"body": {"value": "One."}}, ["One."]),
        ({"body": [{"type": "TextualBody", "value": "One."}, {"value": "Two."}]}, ["One.", "Two."]),
        ({"body": {"type": "Choice", "items": [{"value": "One."}, {"value": "Two."}]}}, ["One.", "Two."]),
        ({"body": {"type": "SpecificResource", "source": "https://a.example/"}}, []),
        ({"body": {"type": "TextualBody"}}, []),
        ({"body": []}, []),
        ({"body": None, "bodyValue": None}, []),
    ],
)
def test_bodies(more: dict[str, Any], texts: list[str]) -> None:
    assert prose(read(annotation(target(FIVE), **more), SOURCES)) == [(text, [0]) for text in texts]


def test_prefix_and_suffix_decide_nothing() -> None:
    bare = {"type": "TextQuoteSelector", "exact": "five business"}
    false = quote("five business", prefix=3, suffix=["never"])
    assert read(annotation(target(bare)), SOURCES) == read(annotation(target(false)), SOURCES)


@pytest.mark.parametrize(
    "answer",
    [[], {"type": "AnnotationPage", "items": []}, {"type": "AnnotationCollection", "items": [], "total": 0}],
)
def test_answer_without_citations(answer: object) -> None:
    assert read(answer, NO_SOURCES).answer == {"schema": "kansho.answer.v1", "evidence": []}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        3,
        "x",
        {},
        {"type": None},
        {"type": "annotation", "target": "urn:x"},
        {"target": "urn:x"},
        ["urn:x"],
        [[]],
        [None],
        [{"type": "AnnotationPage", "items": []}],
        {"type": "AnnotationPage", "items": ["https://a.example/anno1"]},
        {"type": "AnnotationPage"},
    ],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("type",), 3),
        (("type",), [3]),
        (("bodyValue",), 3),
        (("body",), 3),
        (("body", 0), 3),
        (("body", 0, "value"), ["x"]),
        (("target",), 3),
        (("target", 0), 3),
        (("target", 0, "type"), {}),
        (("target", 0, "source"), ["x"]),
        (("target", 1, "source", "id"), 3),
        (("target", 0, "selector"), 3),
        (("target", 0, "selector", 0), 3),
        (("target", 0, "selector", 1, "exact"), 3),
        (("target", 0, "selector", 1, "type"), 3),
        (("target", 0, "selector", 1, "refinedBy"), 3),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    code, place = refusal(read, replaced(VALID, value, *path))
    assert code == "adapter.shape"
    assert place.startswith(where)


def test_annotation_of_nothing() -> None:
    assert refusal(read, dropped(VALID, "target")) == ("adapter.shape", "$")
    assert refusal(read, annotation([])) == ("adapter.shape", "$.target")
    assert refusal(read, annotation({"type": "List", "items": []})) == ("adapter.shape", "$.target")


def test_source_that_is_mapped() -> None:
    with pytest.raises(InputError) as refused:
        read(annotation([target(FIVE), 3]), SOURCES)
    assert refused.value.where == "$.target[1]"


def chain(name: str, last: object, **more: Any) -> Any:
    value: Any = last
    for _ in range(NESTING):
        value = {**more, name: value}
    return value


def test_nesting() -> None:
    selector = chain("refinedBy", FIVE, type="FragmentSelector")
    assert cited(read(annotation(target(selector)), SOURCES)) == [("refund", "five business")]
    selector = chain("items", [FIVE], type="Choice")
    assert cited(read(annotation(target(selector)), SOURCES)) == [("refund", "five business")]
    cites: Any = "https://a.example/refund"
    for _ in range(NESTING):
        cites = [cites]
    assert cited(read(annotation(cites), SOURCES)) == [("refund", "")]
    assert cited(read(annotation(target(FIVE), later=deep("a")), SOURCES)) == [("refund", "five business")]
    assert refusal(read, annotation(target(FIVE, deep("id"))))[0] == "adapter.shape"


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


CHOICE = annotation(target({"type": "Choice", "items": [FRAGMENT, {**FRAGMENT, "refinedBy": FIVE}]}))


@given(st.one_of(damaged(VALID), damaged([VALID, CHOICE]), damaged({"type": "AnnotationPage", "items": [CHOICE]})))
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)
