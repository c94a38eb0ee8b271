"""Chat responses of Cohere (docs/spec/adapters/cohere.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cohere.core.unchecked_base_model import UncheckedBaseModel
from cohere.types import (
    AssistantMessageResponse,
    AssistantMessageResponseContentItem,
    ChatCitation,
    ChatContentDeltaEventDelta,
    ChatContentDeltaEventDeltaMessage,
    ChatContentDeltaEventDeltaMessageContent,
    ChatContentStartEventDelta,
    ChatContentStartEventDeltaMessage,
    ChatContentStartEventDeltaMessageContent,
    ChatMessageEndEventDelta,
    Citation,
    CitationStartEventDelta,
    CitationStartEventDeltaMessage,
    DocumentSource,
    NonStreamedChatResponse,
    TextAssistantMessageResponseContentItem,
    ThinkingAssistantMessageResponseContentItem,
    ToolSource,
)
from cohere.v2.types.v2chat_response import V2ChatResponse
from cohere.v2.types.v2chat_stream_response import (
    CitationEndV2ChatStreamResponse,
    CitationStartV2ChatStreamResponse,
    ContentDeltaV2ChatStreamResponse,
    ContentEndV2ChatStreamResponse,
    ContentStartV2ChatStreamResponse,
    MessageEndV2ChatStreamResponse,
    MessageStartV2ChatStreamResponse,
)
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.adapters.cohere import read
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import (
    JSON,
    NO_SOURCES,
    as_json,
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

REFUND = "Refunds are paid within five business days."
TRAVEL = "Trains are booked in second class."
REGISTRY = {"refund": REFUND, "travel": TRAVEL}
ANSWER = "Within five days. Second class."


def dumps(made: UncheckedBaseModel) -> list[Any]:
    """All ways in which the SDK puts an object into JSON."""
    return [as_json(made.model_dump()), made.model_dump(mode="json"), as_json(made.dict()), json.loads(made.json())]


def citation(*sources: DocumentSource | ToolSource, **more: Any) -> Citation:
    return Citation(start=7, end=16, text="five days", sources=list(sources), **more)


def response(*citations: Citation, texts: tuple[str, ...] = (ANSWER,), thinking: bool = False) -> V2ChatResponse:
    content: list[AssistantMessageResponseContentItem] = []
    if thinking:
        content.append(ThinkingAssistantMessageResponseContentItem(thinking="Hm."))
    content.extend(TextAssistantMessageResponseContentItem(text=text) for text in texts)
    message = AssistantMessageResponse(content=content, citations=list(citations), tool_plan="I look it up.")
    return V2ChatResponse(id="r", finish_reason="COMPLETE", message=message)


DOCUMENT = DocumentSource(id="doc:0", document={"id": "doc:0", "title": "Refunds", "text": REFUND})
SNIPPET = DocumentSource(id="doc:1", document={"id": "doc:1", "url": "https://a.example/travel", "snippet": TRAVEL})
TOOL = ToolSource(id="look_up:0", tool_output={"content": REFUND, "score": 3})
VALID = as_json(
    response(citation(DOCUMENT, SNIPPET, content_index=0, type="TEXT_CONTENT"), citation(TOOL)).model_dump()
)
SOURCES_OF_FIRST = ("message", "citations", 0, "sources")


def with_document(document: object) -> Any:
    return replaced(VALID, document, *SOURCES_OF_FIRST, 0, "document")


@pytest.mark.parametrize("way", range(4))
def test_version_2(way: int) -> None:
    made = response(citation(DOCUMENT, SNIPPET, content_index=0, type="TEXT_CONTENT"), citation(TOOL))
    sources = map_of(id={"doc:0": "refund", "look_up:0": "refund"}, uri={"https://a.example/travel": "travel"})
    reading = read(dumps(made)[way], sources)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL), ("refund", REFUND)]
    assert standing(reading, REGISTRY) == [True, True, True]
    assert reading.places == (
        "$.message.citations[0].sources[0]",
        "$.message.citations[0].sources[1]",
        "$.message.citations[1].sources[0]",
    )
    assert reading.hints == (None, None, None)
    assert prose(reading) == [(ANSWER, [0, 1, 2])]


def test_prose_carries_the_citations_of_its_block() -> None:
    made = response(
        citation(DOCUMENT, content_index=2, type="TEXT_CONTENT"),
        citation(SNIPPET, content_index=1),
        citation(DOCUMENT, type="TEXT_CONTENT"),
        citation(DOCUMENT, content_index=1, type="PLAN"),
        citation(DOCUMENT, content_index=0, type="THINKING_CONTENT"),
        citation(DOCUMENT, content_index=9),
        citation(DOCUMENT, content_index=-1),
        texts=("One.", "Two."),
        thinking=True,
    )
    reading = read(as_json(made.model_dump()), NO_SOURCES)
    assert len(cited(reading)) == 7
    assert prose(reading) == [("One.", [1, 2]), ("Two.", [0, 2])]


@pytest.mark.parametrize(
    ("document", "excerpt"),
    [
        ({"text": REFUND, "snippet": TRAVEL}, REFUND),
        ({"snippet": REFUND, "author": "x"}, REFUND),
        ({"text": ""}, ""),
        ({"text": f" {REFUND}\n"}, f" {REFUND}\n"),
        ({"data": {"text": REFUND, "title": "t"}}, REFUND),
        ({"data": {"body": REFUND}, "id": "1"}, REFUND),
        ({"data": REFUND, "id": "1"}, REFUND),
        ({"body": REFUND, "title": "t", "url": "u", "id": "1"}, REFUND),
        ({"body": REFUND, "author": "x"}, ""),
        ({"body": REFUND, "author": "x", "data": {"text": TRAVEL}}, ""),
        ({"text": [REFUND]}, ""),
        ({"title": "t"}, ""),
        ({"data": [REFUND]}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_passage_of_a_document(document: object, excerpt: str) -> None:
    assert cited(read(with_document(document), map_of(id={"doc:0": "s"})))[0] == ("s", excerpt)


@pytest.mark.parametrize(
    ("document", "by", "value"),
    [
        ({"id": "other"}, "id", "other"),
        ({"title": "Refunds"}, "title", "Refunds"),
        ({"url": "https://a.example/"}, "uri", "https://a.example/"),
        ({"data": {"title": "Refunds"}}, "title", "Refunds"),
    ],
)
def test_names_of_a_document(document: object, by: str, value: str) -> None:
    answer = with_document(document)
    assert cited(read(answer, map_of(**{by: {value: "s"}})))[0][0] == "s"
    assert cited(read(answer, NO_SOURCES))[0][0] == "id:doc:0"


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(VALID, map_of(id={"doc:0": "refund"}, title={"Refunds": "travel"}))
    assert (refused.value.code, refused.value.where) == ("adapter.map_conflict", "$.message.citations[0].sources[0]")


@pytest.mark.parametrize(
    ("output", "excerpt"),
    [({"a": 1}, ""), ({"a": "x", "b": "y"}, ""), ({"a": "x"}, "x"), ({}, ""), ({"a": {"b": "x"}}, "")],
)
def test_output_of_a_tool(output: dict[str, Any], excerpt: str) -> None:
    answer = as_json(response(citation(ToolSource(id="t", tool_output=output))).model_dump())
    assert cited(read(answer, NO_SOURCES)) == [("id:t", excerpt)]


@pytest.mark.parametrize("sources", [None, []])
def test_citation_of_nothing_is_noted(sources: object) -> None:
    reading = read(replaced(VALID, sources, *SOURCES_OF_FIRST), NO_SOURCES)
    assert cited(reading) == [("", ""), ("id:look_up:0", REFUND)]
    assert reading.places[0] == "$.message.citations[0]"


def stream(*citations: Citation) -> list[UncheckedBaseModel]:
    def delta(text: str) -> UncheckedBaseModel:
        content = ChatContentDeltaEventDeltaMessageContent(text=text)
        message = ChatContentDeltaEventDeltaMessage(content=content)
        return ContentDeltaV2ChatStreamResponse(index=0, delta=ChatContentDeltaEventDelta(message=message))

    def cites(position: int, one: Citation) -> UncheckedBaseModel:
        message = CitationStartEventDeltaMessage(citations=one)
        return CitationStartV2ChatStreamResponse(index=position, delta=CitationStartEventDelta(message=message))

    started = ChatContentStartEventDeltaMessage(content=ChatContentStartEventDeltaMessageContent(text="", type="text"))
    return [
        MessageStartV2ChatStreamResponse(id="r"),
        ContentStartV2ChatStreamResponse(index=0, delta=ChatContentStartEventDelta(message=started)),
        delta("Within five"),
        *(cites(position, one) for position, one in enumerate(citations)),
        CitationEndV2ChatStreamResponse(index=0),
        delta(" days."),
        ContentEndV2ChatStreamResponse(index=0),
        MessageEndV2ChatStreamResponse(delta=ChatMessageEndEventDelta(finish_reason="COMPLETE")),
    ]


STREAM = [as_json(one.model_dump()) for one in stream(citation(DOCUMENT, content_index=0), citation(TOOL))]


def test_stream() -> None:
    reading = read(STREAM, map_of(id={"doc:0": "refund", "look_up:0": "refund"}))
    assert cited(reading) == [("refund", REFUND), ("refund", REFUND)]
    assert reading.places[0] == "$[3].delta.message.citations.sources[0]"
    assert prose(reading) == [("Within five days.", [0, 1])]
    assert cited(read(dumps(stream(citation(DOCUMENT))[3]) + STREAM[-1:], NO_SOURCES)) == [("id:doc:0", REFUND)] * 4


@pytest.mark.parametrize("length", range(len(STREAM)))
def test_stream_that_broke_off(length: int) -> None:
    assert refusal(read, STREAM[:length]) == ("adapter.shape", "$")


def test_content_of_no_block() -> None:
    assert refusal(read, replaced(STREAM, None, 2, "index")) == ("adapter.shape", "$[2]")


def version_1(**more: Any) -> Any:
    made = NonStreamedChatResponse(
        text=ANSWER,
        generation_id="g",
        citations=[
            ChatCitation(start=7, end=16, text="five days", document_ids=["d0", "d1"], type="TEXT_CONTENT"),
            ChatCitation(start=18, end=30, text="Second class", document_ids=["d9"]),
            ChatCitation(start=0, end=2, text="I ", document_ids=["d1"], type="PLAN"),
        ],
        documents=[
            {"id": "d0", "title": "Refunds", "text": REFUND},
            {"id": "d1", "url": "https://a.example/travel", "snippet": TRAVEL, "timestamp": "2024"},
        ],
    )
    return {**as_json(made.model_dump()), **more}


def test_version_1() -> None:
    sources = map_of(title={"Refunds": "refund"}, uri={"https://a.example/travel": "travel"}, id={"d9": "refund"})
    reading = read(version_1(), sources)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL), ("refund", ""), ("travel", TRAVEL)]
    assert standing(reading, REGISTRY) == [True, True, False, True]
    assert reading.places[1] == "$.citations[0].document_ids[1]"
    assert reading.hints == (None,) * 4
    assert prose(reading) == [(ANSWER, [0, 1, 2])]


def test_version_1_with_two_documents_of_one_id() -> None:
    twice = [{"id": "d0", "text": REFUND}, {"id": "d0", "text": TRAVEL}]
    assert refusal(read, version_1(documents=twice)) == ("adapter.shape", "$.documents[1]")
    assert len(cited(read(version_1(documents=[twice[0], twice[0]]), NO_SOURCES))) == 4


def test_version_1_citation_of_nothing() -> None:
    assert cited(read({"text": "x", "citations": [{"document_ids": []}, {}]}, NO_SOURCES)) == [("", ""), ("", "")]


def test_answer_without_citations() -> None:
    assert cited(read(as_json(response().model_dump()), NO_SOURCES)) == []
    assert cited(read({"text": "x"}, NO_SOURCES)) == []
    assert prose(read(as_json(response().model_dump()), NO_SOURCES)) == [(ANSWER, [])]


@pytest.mark.parametrize(
    "answer",
    [None, True, 3, "x", {}, [], {"message": "invalid api token"}, {"message": None}, {"text": 3}, ["x"], [[]], [{}]],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("message", "role"), "user"),
        (("message", "role"), 3),
        (("message", "content"), "x"),
        (("message", "content", 0, "text"), 3),
        (("message", "citations"), {}),
        (("message", "citations", 0), "x"),
        (("message", "citations", 0, "type"), 3),
        (("message", "citations", 0, "content_index"), "0"),
        (("message", "citations", 0, "sources"), {}),
        (("message", "citations", 0, "sources", 0, "id"), 3),
        (("message", "citations", 0, "sources", 0, "document"), "x"),
        (("message", "citations", 1, "sources", 0, "tool_output"), ["x"]),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    assert refusal(read, replaced(VALID, value, *path)) == ("adapter.shape", where)


def test_offsets_count_the_answer_and_are_not_read() -> None:
    answer = replaced(replaced(VALID, "x", "message", "citations", 0, "start"), -1, "message", "citations", 0, "end")
    assert read(dropped(answer, "message", "citations", 0, "text"), NO_SOURCES) == read(VALID, NO_SOURCES)


def test_nesting() -> None:
    source = {"id": "d", "document": {"text": REFUND, "more": deep("a")}}
    assert cited(read({"message": {"citations": [{"sources": [source]}]}}, NO_SOURCES)) == [("id:d", REFUND)]
    twice = {"id": "d", "text": REFUND, "more": deep("a")}
    other = {"id": "d", "text": REFUND, "more": deep("a")}
    assert cited(read({"text": "x", "documents": [twice, other]}, NO_SOURCES)) == []
    assert refusal(read, {"message": {"content": deep("text")}})[0] == "adapter.shape"


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.one_of(damaged(VALID), damaged(STREAM), damaged(version_1())))
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)
