"""Responses and chat completions of OpenAI (docs/spec/adapters/openai.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import BaseModel
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from openai.types.chat.chat_completion_chunk import ChatCompletionChunk, ChoiceDelta
from openai.types.chat.chat_completion_chunk import Choice as ChunkChoice
from openai.types.chat.chat_completion_message import Annotation as ChatAnnotation
from openai.types.chat.chat_completion_message import AnnotationURLCitation as ChatURLCitation
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseErrorEvent,
    ResponseFailedEvent,
    ResponseFileSearchToolCall,
    ResponseFunctionWebSearch,
    ResponseIncompleteEvent,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseOutputTextAnnotationAddedEvent,
    ResponseReasoningItem,
    ResponseTextDeltaEvent,
)
from openai.types.responses.response_file_search_tool_call import Result
from openai.types.responses.response_function_web_search import ActionSearch, ActionSearchSource
from openai.types.responses.response_output_text import (
    Annotation,
    AnnotationContainerFileCitation,
    AnnotationFileCitation,
    AnnotationFilePath,
    AnnotationURLCitation,
)

from kansho_sign.adapters.openai import MOST_CARRIED, read
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
    strings,
)

REFUND = "Refunds are paid within five business days. They need a receipt."
TRAVEL = "Trains are booked in second class."
REGISTRY = {"refund": REFUND, "travel": TRAVEL}
SOURCES = map_of(id={"file-1": "refund", "file-2": "travel"})

CITES_REFUND = AnnotationFileCitation(type="file_citation", file_id="file-1", filename="refund.md", index=16)
CITES_TRAVEL = AnnotationFileCitation(type="file_citation", file_id="file-2", filename="travel.md", index=32)
CITES_URL = AnnotationURLCitation(
    type="url_citation", url="https://a.example/travel", title="Travel", start_index=0, end_index=9
)
CITES_CONTAINER = AnnotationContainerFileCitation(
    type="container_file_citation",
    container_id="cntr_1",
    file_id="cfile_1",
    filename="plot.csv",
    start_index=0,
    end_index=9,
)
CITES_PATH = AnnotationFilePath(type="file_path", file_id="file-9", index=0)


def found(file_id: str | None, text: str | None, filename: str | None = "refund.md") -> Result:
    return Result(file_id=file_id, filename=filename, text=text, score=0.9, attributes={"a": "b"})


def search(*results: Result) -> ResponseFileSearchToolCall:
    return ResponseFileSearchToolCall(
        id="fs_1", type="file_search_call", status="completed", queries=["refunds"], results=list(results) or None
    )


def said(text: str, *annotations: Annotation) -> ResponseOutputText:
    return ResponseOutputText(type="output_text", text=text, annotations=list(annotations))


def message(*content: ResponseOutputText | ResponseOutputRefusal) -> ResponseOutputMessage:
    return ResponseOutputMessage(
        id="msg_1", type="message", role="assistant", status="completed", content=list(content)
    )


def response(*output: ResponseOutputItem, **more: Any) -> Response:
    return Response(
        id="resp_1",
        object="response",
        created_at=1.0,
        model="gpt-5.2",
        output=list(output),
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
        **{"status": "completed", **more},
    )


def dumps(made: BaseModel) -> list[Any]:
    """All ways in which the SDK puts an object into JSON."""
    return [
        as_json(made.model_dump()),
        made.model_dump(mode="json", by_alias=True),
        as_json(made.to_dict()),
        json.loads(made.to_json()),
        json.loads(made.model_dump_json(exclude_none=True)),
    ]


FOUND = search(
    found("file-1", REFUND[:43]),
    found("file-2", TRAVEL, "travel.md"),
    found("file-1", REFUND[20:]),
    found("file-1", REFUND[:43]),
    found("file-3", "Cited by nobody.", "other.md"),
)
MADE = response(
    ResponseReasoningItem(id="rs_1", type="reasoning", summary=[]),
    FOUND,
    message(said("Within five days. In second class.", CITES_REFUND, CITES_TRAVEL, CITES_REFUND), said("Good bye.")),
)
WHOLE = as_json(MADE.model_dump())
ANNOTATIONS = ("output", 2, "content", 0, "annotations")


@pytest.mark.parametrize("way", range(5))
def test_file_citations(way: int) -> None:
    reading = read(dumps(MADE)[way], SOURCES)
    assert cited(reading) == [("refund", REFUND[:43]), ("refund", REFUND[20:]), ("travel", TRAVEL)]
    assert standing(reading, REGISTRY) == [True, True, True]
    assert reading.places == (
        "$.output[2].content[0].annotations[0]",
        "$.output[2].content[0].annotations[0]",
        "$.output[2].content[0].annotations[1]",
    )
    assert reading.hints == (None, None, None)
    assert prose(reading) == [("Within five days. In second class.", [0, 1, 2]), ("Good bye.", [])]


def test_file_cited_in_several_texts() -> None:
    made = response(message(said("One.", CITES_REFUND), said("Two.", CITES_TRAVEL, CITES_REFUND)), FOUND)
    reading = read(as_json(made.model_dump()), SOURCES)
    assert cited(reading) == [("refund", REFUND[:43]), ("refund", REFUND[20:]), ("travel", TRAVEL)]
    assert prose(reading) == [("One.", [0, 1]), ("Two.", [2, 0, 1])]


def test_results_of_several_searches() -> None:
    made = response(
        search(found("file-1", REFUND[:20])), search(found("file-1", TRAVEL)), message(said("x", CITES_REFUND))
    )
    reading = read(as_json(made.model_dump()), SOURCES)
    assert cited(reading) == [("refund", REFUND[:20]), ("refund", TRAVEL)]
    assert standing(reading, REGISTRY) == [True, False]


@pytest.mark.parametrize("by", [{"id": {"file-1": "s"}}, {"filename": {"refund.md": "s"}}])
def test_names_of_a_file(by: dict[str, dict[str, str]]) -> None:
    assert cited(read(WHOLE, map_of(**by)))[0] == ("s", REFUND[:43])
    assert cited(read(WHOLE, NO_SOURCES))[0][0] == "id:file-1"


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(WHOLE, map_of(id={"file-1": "refund"}, filename={"refund.md": "travel"}))
    assert (refused.value.code, refused.value.where) == (
        "adapter.map_conflict",
        "$.output[2].content[0].annotations[0]",
    )


@pytest.mark.parametrize(
    "searches",
    [
        [],
        [search()],
        [search(found("file-2", REFUND))],
        [search(found("file-1", None))],
        [search(found("file-1", ""))],
        [search(found(None, REFUND))],
        [search(found("", REFUND))],
    ],
)
def test_file_citation_without_a_text_is_noted(searches: list[ResponseFileSearchToolCall]) -> None:
    made = response(*searches, message(said("x", CITES_REFUND)))
    assert cited(read(as_json(made.model_dump()), SOURCES)) == [("refund", "")]


@pytest.mark.parametrize("words", [" ", f" {REFUND}\n", "e\u0301\u00a0\ufeff"])
def test_excerpt_is_what_was_sent(words: str) -> None:
    made = response(search(found("file-1", words)), message(said("x", CITES_REFUND)))
    assert cited(read(as_json(made.model_dump()), SOURCES)) == [("refund", words)]


def test_results_without_a_name_or_a_text() -> None:
    searched = search(found("", TRAVEL), found("file-1", ""), found("file-1", REFUND), found("file-1", None))
    unnamed = AnnotationFileCitation(type="file_citation", file_id="", filename="", index=0)
    answer = as_json(response(searched, message(said("x", CITES_REFUND, unnamed))).model_dump())
    assert cited(read(answer, SOURCES)) == [("refund", REFUND), ("", "")]


def test_file_of_two_names() -> None:
    answer = replaced(WHOLE, "travel.md", *ANNOTATIONS, 2, "filename")
    assert refusal(read, answer) == ("adapter.shape", "$.output[2].content[0].annotations[2]")
    assert refusal(read, dropped(WHOLE, *ANNOTATIONS, 2, "filename"))[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("annotation", "by", "value"),
    [
        (CITES_URL, "uri", "https://a.example/travel"),
        (CITES_URL, "title", "Travel"),
        (CITES_CONTAINER, "id", "cfile_1"),
        (CITES_CONTAINER, "filename", "plot.csv"),
        (CITES_PATH, "id", "file-9"),
    ],
)
def test_citations_without_a_text(annotation: Annotation, by: str, value: str) -> None:
    answer = as_json(response(FOUND, message(said("x", annotation, CITES_TRAVEL))).model_dump())
    reading = read(answer, map_of(**{by: {value: "s"}}))
    assert cited(reading) == [("s", ""), ("id:file-2", TRAVEL)]
    assert reading.hints == (None, None)
    assert prose(reading) == [("x", [0, 1])]


def test_sources_of_a_web_search_are_no_texts() -> None:
    action = ActionSearch(
        type="search", query="x", sources=[ActionSearchSource(type="url", url="https://a.example/travel")]
    )
    looked_up = ResponseFunctionWebSearch(id="ws_1", type="web_search_call", status="completed", action=action)
    answer = as_json(response(looked_up, message(said("x", CITES_URL))).model_dump())
    assert cited(read(answer, NO_SOURCES)) == [("uri:https://a.example/travel", "")]


@pytest.mark.parametrize("annotation", [{"type": "new_citation"}, {"type": "new_citation", "index": "x"}])
def test_annotation_of_a_new_type_is_noted(annotation: object) -> None:
    assert cited(read(replaced(WHOLE, annotation, *ANNOTATIONS, 0), NO_SOURCES))[0] == ("", "")


@pytest.mark.parametrize("offset", [-1, "x", None, [], 10**400])
def test_offsets_count_the_answer_and_are_not_read(offset: object) -> None:
    answer = replaced(replaced(WHOLE, offset, *ANNOTATIONS, 0, "index"), offset, *ANNOTATIONS, 1, "index")
    assert read(answer, SOURCES) == read(WHOLE, SOURCES)


def test_refusal_is_prose() -> None:
    refused = ResponseOutputRefusal(type="refusal", refusal="I cannot.")
    reading = read(as_json(response(message(said("Well."), refused)).model_dump()), NO_SOURCES)
    assert prose(reading) == [("Well.", []), ("I cannot.", [])]
    assert cited(reading) == []


@pytest.mark.parametrize("status", ["failed", "in_progress", "cancelled", "queued", "incomplete"])
def test_response_that_is_not_complete(status: str) -> None:
    assert refusal(read, as_json(response(status=status).model_dump())) == ("adapter.shape", "$.status")


def test_response_without_a_status() -> None:
    assert read(dropped(WHOLE, "status"), SOURCES) == read(WHOLE, SOURCES)


def test_message_of_another_role() -> None:
    assert refusal(read, replaced(WHOLE, "user", "output", 2, "role")) == ("adapter.shape", "$.output[2].role")
    chat = as_json(CHAT.model_dump())
    answer = replaced(chat, "user", "choices", 1, "message", "role")
    assert refusal(read, answer) == ("adapter.shape", "$.choices[1].message.role")


# Streams


def stream(made: Response) -> list[Any]:
    begun = made.model_copy(update={"output": [], "status": "in_progress"})
    annotation = CITES_URL.model_dump()
    events: list[BaseModel] = [
        ResponseCreatedEvent(type="response.created", response=begun, sequence_number=0),
        ResponseTextDeltaEvent(
            type="response.output_text.delta",
            item_id="msg_1",
            output_index=0,
            content_index=0,
            delta="Within",
            logprobs=[],
            sequence_number=1,
        ),
        ResponseOutputTextAnnotationAddedEvent.model_validate(
            {
                "type": "response.output_text.annotation.added",
                "item_id": "msg_1",
                "output_index": 0,
                "content_index": 0,
                "annotation_index": 0,
                "annotation": annotation,
                "sequence_number": 2,
            }
        ),
        ResponseCompletedEvent(type="response.completed", response=made, sequence_number=3),
    ]
    return [as_json(one.model_dump()) for one in events]


STREAM = stream(MADE)


def test_stream_says_what_the_response_says() -> None:
    reading, whole = read(STREAM, SOURCES), read(WHOLE, SOURCES)
    assert (reading.answer, reading.hints) == (whole.answer, whole.hints)
    assert reading.places[0] == "$[3].response.output[2].content[0].annotations[0]"


@pytest.mark.parametrize("length", range(len(STREAM)))
def test_stream_that_broke_off(length: int) -> None:
    assert refusal(read, STREAM[:length]) == ("adapter.shape", "$")


def test_stream_that_failed() -> None:
    half, failed = response(status="incomplete"), response(status="failed")
    for event in (
        ResponseIncompleteEvent(type="response.incomplete", response=half, sequence_number=3),
        ResponseFailedEvent(type="response.failed", response=failed, sequence_number=3),
    ):
        assert refusal(read, [*STREAM[:3], as_json(event.model_dump())]) == ("adapter.shape", "$")
    error = as_json(ResponseErrorEvent(type="error", message="x", sequence_number=3).model_dump())
    assert refusal(read, [*STREAM[:3], error]) == ("adapter.shape", "$[3]")
    assert refusal(read, [*STREAM, error]) == ("adapter.shape", "$[4]")


def test_streams_one_after_the_other() -> None:
    assert refusal(read, STREAM + STREAM) == ("adapter.shape", "$")


def test_completed_event_whose_response_is_not() -> None:
    assert refusal(read, replaced(STREAM, "incomplete", 3, "response", "status")) == (
        "adapter.shape",
        "$[3].response.status",
    )
    assert refusal(read, replaced(STREAM, None, 3, "response")) == ("adapter.shape", "$[3]")
    assert refusal(read, replaced(STREAM, "x", 3, "response")) == ("adapter.shape", "$[3].response")


# Chat completions


def completion(*messages: ChatCompletionMessage) -> ChatCompletion:
    choices = [Choice(index=n, finish_reason="stop", message=one) for n, one in enumerate(messages)]
    return ChatCompletion(id="c", object="chat.completion", created=1, model="gpt-5.2", choices=choices)


URL = ChatAnnotation(
    type="url_citation",
    url_citation=ChatURLCitation(url="https://a.example/travel", title="Travel", start_index=0, end_index=9),
)
CHAT = completion(
    ChatCompletionMessage(role="assistant", content="In second class.", annotations=[URL]),
    ChatCompletionMessage(role="assistant", content=None, refusal="I cannot."),
)


@pytest.mark.parametrize("way", range(5))
def test_chat_completion(way: int) -> None:
    reading = read(dumps(CHAT)[way], map_of(uri={"https://a.example/travel": "travel"}))
    assert cited(reading) == [("travel", "")]
    assert reading.places == ("$.choices[0].message.annotations[0]",)
    assert reading.hints == (None,)
    assert prose(reading) == [("In second class.", [0]), ("I cannot.", [])]
    assert cited(read(dumps(CHAT)[way], map_of(title={"Travel": "travel"}))) == [("travel", "")]


def test_chunks_of_a_chat_completion() -> None:
    choice = ChunkChoice(index=0, delta=ChoiceDelta(content="In"), finish_reason="stop")
    chunk = ChatCompletionChunk(id="c", object="chat.completion.chunk", created=1, model="gpt-5.2", choices=[choice])
    assert refusal(read, [as_json(chunk.model_dump())]) == ("adapter.shape", "$")
    assert refusal(read, as_json(chunk.model_dump())) == ("adapter.shape", "$.choices[0]")


def test_answer_without_citations() -> None:
    assert cited(read(as_json(response().model_dump()), NO_SOURCES)) == []
    assert cited(read(as_json(response(FOUND, message(said("x"))).model_dump()), NO_SOURCES)) == []
    assert prose(read({"choices": [{"message": {"content": "x"}}]}, NO_SOURCES)) == [("x", [])]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        3,
        "x",
        {},
        [],
        ["x"],
        [[]],
        [{}],
        {"error": {"message": "x"}},
        {"output": None},
        {"output": "x"},
        {"choices": {}},
        {"choices": [{}]},
        {"content": []},
        [{"type": "message", "content": []}],
    ],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("status",), 3),
        (("output", 0), "x"),
        (("output", 0, "type"), 3),
        (("output", 1, "results"), {}),
        (("output", 1, "results", 0), "x"),
        (("output", 1, "results", 0, "file_id"), 3),
        (("output", 1, "results", 0, "text"), ["x"]),
        (("output", 2, "content"), "x"),
        (("output", 2, "content", 0), "x"),
        (("output", 2, "content", 0, "text"), 3),
        (("output", 2, "content", 0, "refusal"), 3),
        (("output", 2, "content", 0, "annotations"), {}),
        (("output", 2, "content", 0, "annotations", 0), "x"),
        (("output", 2, "content", 0, "annotations", 0, "type"), 3),
        (("output", 2, "content", 0, "annotations", 0, "file_id"), 3),
        (("output", 2, "content", 0, "annotations", 0, "filename"), 3),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    assert refusal(read, replaced(WHOLE, value, *path)) == ("adapter.shape", where)


@pytest.mark.parametrize("path", [(*ANNOTATIONS, 0, "type"), (*ANNOTATIONS, 0, "file_id")])
def test_missing(path: tuple[str | int, ...]) -> None:
    assert refusal(read, dropped(WHOLE, *path)) == ("adapter.shape", "$.output[2].content[0].annotations[0]")


def test_nesting() -> None:
    assert cited(read({"output": [{"type": "mcp_call", "output": deep("a")}]}, NO_SOURCES)) == []
    assert refusal(read, {"output": deep("output")})[0] == "adapter.shape"
    assert refusal(read, {"choices": [{"message": {"content": deep("a")}}]})[0] == "adapter.shape"


def test_product_of_chunks_and_citations_is_bounded() -> None:
    chunks = 1_000
    results = [{"file_id": "f", "text": str(number)} for number in range(chunks)]
    part = {"type": "output_text", "text": "x", "annotations": [{"type": "file_citation", "file_id": "f"}] * 9}
    parts = MOST_CARRIED // chunks

    def answer(count: int) -> Any:
        searched = {"type": "file_search_call", "results": results}
        return {"output": [searched, {"type": "message", "content": [part] * count}]}

    assert len(cited(read(answer(parts), NO_SOURCES))) == chunks
    assert refusal(read, answer(parts + 1)) == ("adapter.shape", f"$.output[1].content[{parts}].annotations[0]")


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.one_of(damaged(WHOLE), damaged(STREAM), damaged(as_json(CHAT.model_dump()))))
def test_damaged(answer: object) -> None:
    reading = read_or_refused(read, answer)
    if reading is not None:
        assert {excerpt for _, excerpt in cited(reading)} <= {"", *strings(answer)}
