"""Answers of Amazon Bedrock (docs/spec/adapters/bedrock.md)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.adapters.bedrock import read
from kansho_sign.adapters.reading import Hint
from kansho_sign.errors import InputError
from tests.adapters.bedrock_shapes import real, real_output
from tests.adapters.foreign_json import (
    JSON,
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

RUNTIME, AGENT = "bedrock-runtime", "bedrock-agent-runtime"
REFUND = "Refunds are paid within five business days.\nThey need a receipt."
TRAVEL = "Trains are booked in second class."
REGISTRY = {"refund": REFUND, "travel": TRAVEL}
CITATION = "$.output.message.content[1].citationsContent.citations"
GENERATED = "$.citations[0].retrievedReferences"


def converse(*citations: dict[str, Any]) -> dict[str, Any]:
    blocks = [
        {"text": "In short: "},
        {"citationsContent": {"content": [{"text": "Five days."}, {"text": " Really."}], "citations": list(citations)}},
        {"reasoningContent": {"reasoningText": {"text": "I look it up."}}},
    ]
    answer = {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }
    return real_output(RUNTIME, "Converse", answer)


CHARACTERS = {
    "title": "Refund policy",
    "sourceContent": [{"text": "within five business days"}],
    "location": {"documentChar": {"documentIndex": 0, "start": 17, "end": 42}},
}
PAGES = {
    "title": "Travel",
    "sourceContent": [{"text": "Trains are booked "}, {"text": "in second class."}],
    "location": {"documentPage": {"documentIndex": 1, "start": 1, "end": 2}},
}
WEB = {"title": "Refunds", "location": {"web": {"url": "https://a.example/refund", "domain": "a.example"}}}
FOUND = {
    "title": "Refunds",
    "source": "https://a.example/refund",
    "sourceContent": [{"text": "They need a receipt."}],
    "location": {"searchResultLocation": {"searchResultIndex": 1, "start": 0, "end": 1}},
}
CONVERSE = converse(CHARACTERS, PAGES, WEB, FOUND)


def events(*citations: dict[str, Any]) -> list[dict[str, Any]]:
    def delta(position: int, **change: object) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": position, "delta": change}}

    made = [
        {"messageStart": {"role": "assistant"}},
        delta(0, text="In "),
        delta(0, text="short: "),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        delta(1, text="Five "),
        *(delta(1, citation=one) for one in citations),
        delta(1, text="days."),
        {"contentBlockStop": {"contentBlockIndex": 1}},
        {"messageStop": {"stopReason": "end_turn"}},
        {
            "metadata": {
                "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
                "metrics": {"latencyMs": 1},
            }
        },
    ]
    return [real(RUNTIME, "ConverseStreamOutput", one) for one in made]


STREAM = events(CHARACTERS, PAGES, WEB)


def reference(text: str | None, **location: Any) -> dict[str, Any]:
    content = {"text": text, "type": "TEXT"} if text is not None else {"type": "IMAGE", "byteContent": "data:,"}
    return {"content": content, "location": location, "metadata": {"x-amz-bedrock-kb-chunk-id": "c", "pages": [1]}}


def generated(*references: dict[str, Any], whole: str = "Five days. Bye.") -> dict[str, Any]:
    parts = [
        {
            "generatedResponsePart": {"textResponsePart": {"text": "Five days.", "span": {"start": 0, "end": 9}}},
            "retrievedReferences": list(references),
        },
        {
            "generatedResponsePart": {"textResponsePart": {"text": " Bye.", "span": {"start": 10, "end": 14}}},
            "retrievedReferences": [],
        },
    ]
    return real_output(AGENT, "RetrieveAndGenerate", {"output": {"text": whole}, "sessionId": "s", "citations": parts})


S3 = reference(REFUND, type="S3", s3Location={"uri": "s3://handbook/refund.md"})
CUSTOM = reference(TRAVEL, type="CUSTOM", customDocumentLocation={"id": "travel-1"})
IMAGE = reference(None, type="WEB", webLocation={"url": "https://a.example/plan.png"})
RETRIEVED = generated(S3, CUSTOM, IMAGE)


def test_converse() -> None:
    sources = map_of(index={"0": "refund"}, title={"Travel": "travel"}, uri={"https://a.example/refund": "refund"})
    reading = read(CONVERSE, sources)
    assert cited(reading) == [
        ("refund", "within five business days"),
        ("travel", "Trains are booked "),
        ("travel", "in second class."),
        ("refund", ""),
        ("refund", "They need a receipt."),
    ]
    assert standing(reading, REGISTRY) == [True, True, True, False, True]
    assert reading.places == tuple(f"{CITATION}[{number}]" for number in (0, 1, 1, 2, 3))
    assert reading.hints == (Hint(17, 42), None, None, None, None)
    assert REFUND[17:42] == "within five business days"
    assert prose(reading) == [("In short: ", []), ("Five days.", [0, 1, 2, 3, 4]), (" Really.", [0, 1, 2, 3, 4])]


def test_what_is_not_mapped_is_an_unknown_source() -> None:
    assert [source for source, _ in cited(read(CONVERSE, NO_SOURCES))] == [
        "index:0",
        "index:1",
        "index:1",
        "uri:https://a.example/refund",
        "uri:https://a.example/refund",
    ]


def test_position_of_a_search_result_is_no_index() -> None:
    answer = converse(dropped(dropped(FOUND, "source"), "title"))
    assert cited(read(answer, map_of(index={"1": "travel"}))) == [("", "They need a receipt.")]


def test_source_without_a_scheme_is_an_id_too() -> None:
    answer = converse({**FOUND, "source": "doc-7"})
    assert cited(read(answer, map_of(id={"doc-7": "refund"}))) == [("refund", "They need a receipt.")]


def test_names_of_one_citation_that_mean_different_sources() -> None:
    sources = map_of(index={"0": "refund"}, title={"Refund policy": "travel"})
    with pytest.raises(InputError) as refused:
        read(CONVERSE, sources)
    assert (refused.value.code, refused.value.where) == ("adapter.map_conflict", f"{CITATION}[0]")


@pytest.mark.parametrize(
    "citation",
    [{}, {"sourceContent": []}, {"sourceContent": [{}]}, {"location": None}, {"sourceContent": None, "title": ""}],
)
def test_citation_of_nothing_is_noted(citation: dict[str, Any]) -> None:
    answer = replaced(CONVERSE, [citation], "output", "message", "content", 1, "citationsContent", "citations")
    reading = read(answer, NO_SOURCES)
    assert cited(reading) == [("", "")]
    assert reading.places == (f"{CITATION}[0]",)


@pytest.mark.parametrize("place", [{"start": -1}, {"start": 43}, {"end": "x"}, {"end": None}, {"start": [], "end": {}}])
def test_wrong_offsets_never_matter(place: dict[str, Any]) -> None:
    location = {"documentChar": {"documentIndex": 0, "start": 17, "end": 42, **place}}
    answer = replaced(
        CONVERSE, location, "output", "message", "content", 1, "citationsContent", "citations", 0, "location"
    )
    reading = read(answer, NO_SOURCES)
    assert reading.hints[0] is None
    assert cited(reading) == cited(read(CONVERSE, NO_SOURCES))


def test_false_offsets_are_handed_on_and_change_nothing() -> None:
    location = {"documentChar": {"documentIndex": 0, "start": 0, "end": 999}}
    reading = read(converse({**CHARACTERS, "location": location}), map_of(index={"0": "refund"}))
    assert reading.hints == (Hint(0, 999),)
    assert cited(reading) == [("refund", "within five business days")]


def test_stream() -> None:
    reading = read(STREAM, map_of(index={"0": "refund", "1": "travel"}))
    assert cited(reading) == [
        ("refund", "within five business days"),
        ("travel", "Trains are booked "),
        ("travel", "in second class."),
        ("uri:https://a.example/refund", ""),
    ]
    assert reading.hints == (Hint(17, 42), None, None, None)
    assert reading.places[0] == "$[5].contentBlockDelta.delta.citation"
    assert prose(reading) == [("In short: ", []), ("Five days.", [0, 1, 2, 3])]
    in_response = read({"stream": STREAM, "ResponseMetadata": {}}, NO_SOURCES)
    assert in_response.places[0] == "$.stream[5].contentBlockDelta.delta.citation"


@pytest.mark.parametrize("length", range(len(STREAM) - 1))  # the last two are messageStop and metadata
def test_stream_that_broke_off(length: int) -> None:
    assert refusal(read, STREAM[:length]) == ("adapter.shape", "$")


def test_stream_with_an_error() -> None:
    broken = real(RUNTIME, "ConverseStreamOutput", {"modelStreamErrorException": {"message": "no"}})
    assert refusal(read, [*STREAM[:6], broken, *STREAM[6:]]) == ("adapter.shape", "$[6]")


def test_retrieve_and_generate() -> None:
    sources = map_of(uri={"s3://handbook/refund.md": "refund"}, id={"travel-1": "travel"})
    reading = read(RETRIEVED, sources)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL), ("uri:https://a.example/plan.png", "")]
    assert standing(reading, REGISTRY) == [True, True, False]
    assert reading.places == (f"{GENERATED}[0]", f"{GENERATED}[1]", f"{GENERATED}[2]")
    assert reading.hints == (None, None, None)
    assert prose(reading) == [("Five days.", [0, 1, 2]), (" Bye.", [])]


def test_prose_beside_the_parts_is_kept() -> None:
    reading = read(generated(S3, whole="Well. Five days. Bye."), NO_SOURCES)
    assert prose(reading) == [("Five days.", [0]), (" Bye.", []), ("Well. Five days. Bye.", [0])]


@pytest.mark.parametrize("kind", ["webLocation", "confluenceLocation", "sharePointLocation", "kendraDocumentLocation"])
def test_every_kind_of_data_source_names_its_document(kind: str) -> None:
    names = {"kendraDocumentLocation": ("KENDRA", "uri"), "sharePointLocation": ("SHAREPOINT", "url")}
    kind_of, member = names.get(kind, (kind.removesuffix("Location").upper(), "url"))
    answer = generated(reference(REFUND, type=kind_of, **{kind: {member: "https://a.example/r"}}))
    assert cited(read(answer, map_of(uri={"https://a.example/r": "refund"}))) == [("refund", REFUND)]


def test_source_uri_in_the_metadata() -> None:
    found = {**S3, "metadata": {"x-amz-bedrock-kb-source-uri": "s3://handbook/other.md"}}
    answer = generated(dropped(found, "location"))
    assert cited(read(answer, map_of(uri={"s3://handbook/other.md": "refund"}))) == [("refund", REFUND)]


def test_answer_without_citations() -> None:
    assert cited(read(converse(), NO_SOURCES)) == []
    plain = {"output": {"text": "No."}, "sessionId": "s"}
    reading = read(real_output(AGENT, "RetrieveAndGenerate", plain), NO_SOURCES)
    assert (cited(reading), prose(reading)) == ([], [("No.", [])])


def test_retrieve_is_no_answer() -> None:
    found = {"retrievalResults": [{"content": {"text": REFUND}, "location": S3["location"], "score": 0.5}]}
    assert refusal(read, real_output(AGENT, "Retrieve", found)) == ("adapter.shape", "$")


@pytest.mark.parametrize(
    "answer", [None, True, 3, 0.5, "", "text", {}, [], {"output": None}, {"content": []}, {"message": {}}, [STREAM]]
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


def test_message_of_the_user() -> None:
    question = replaced(CONVERSE, "user", "output", "message", "role")
    assert refusal(read, question) == ("adapter.shape", "$.output.message.role")
    assert refusal(read, [{"messageStart": {"role": "user"}}, *STREAM[1:]]) == (
        "adapter.shape",
        "$[0].messageStart.role",
    )


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("output",), "x", "$.output"),
        (("output", "message", "role"), 3, "$.output.message.role"),
        (("output", "message"), [], "$.output.message"),
        (("output", "message", "content"), {}, "$.output.message.content"),
        (("output", "message", "content", 0), "x", "$.output.message.content[0]"),
        (("output", "message", "content", 0, "text"), 3, "$.output.message.content[0].text"),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object, where: str) -> None:
    assert refusal(read, replaced(CONVERSE, value, *path)) == ("adapter.shape", where)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("title",), 3),
        (("source",), {}),
        (("sourceContent",), "within five business days"),
        (("sourceContent", 0), "within five business days"),
        (("sourceContent", 0, "text"), ["x"]),
        (("location",), []),
        (("location", "documentChar"), 3),
        (("location", "documentChar", "documentIndex"), "0"),
        (("location", "documentChar", "documentIndex"), -1),
        pytest.param(("location", "documentChar", "documentIndex"), 10**5000, id="huge"),
    ],
)
def test_wrong_type_in_a_citation(path: tuple[str | int, ...], value: object) -> None:
    citation = replaced({"source": "", **CHARACTERS}, value, *path)
    answer = replaced(CONVERSE, citation, "output", "message", "content", 1, "citationsContent", "citations", 0)
    code, where = refusal(read, answer)
    assert code == "adapter.shape"
    assert where.startswith(f"{CITATION}[0].{path[0]}")


def test_missing_content() -> None:
    assert refusal(read, dropped(CONVERSE, "output", "message", "content")) == ("adapter.shape", "$.output.message")
    assert refusal(read, {"output": {}}) == ("adapter.shape", "$.output")


def test_unknown_members_are_passed_over_however_deep() -> None:
    content = [*CONVERSE["output"]["message"]["content"], {"later": deep("b")}]
    answer = {"output": {"message": {"content": content, "later": deep("a")}}, "later": deep("a")}
    assert cited(read(answer, NO_SOURCES)) == cited(read(CONVERSE, NO_SOURCES))


@pytest.mark.parametrize("name", ["output", "message", "stream", "citations", "citationsContent", "location"])
def test_nesting(name: str) -> None:
    assert refusal(read, deep(name))[0] == "adapter.shape"


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.one_of(damaged(CONVERSE), damaged(STREAM), damaged(RETRIEVED)))
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)
