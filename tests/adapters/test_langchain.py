"""Documents, chains and messages of LangChain (docs/spec/adapters/langchain.md)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, message_to_dict
from langchain_core.messages.content import (
    Citation,
    TextContentBlock,
    create_citation,
    create_non_standard_block,
    create_text_block,
)

from kansho_sign.adapters.langchain import read
from kansho_sign.adapters.reading import Hint
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import (
    JSON,
    NESTING,
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

REFUND = "Refunds are paid within five business days.\nThey need a receipt."
TRAVEL = "Trains are booked in second class."
REGISTRY = {"refund": REFUND, "travel": TRAVEL}
PIECE = REFUND[12:42]

DOCUMENTS = [
    Document(page_content=PIECE, metadata={"source": "policies/refund.md", "start_index": 12, "page": 1}, id="c-1"),
    Document(page_content=TRAVEL, metadata={"source": "https://a.example/travel", "title": "Travel"}),
]
SOURCES = map_of(filename={"policies/refund.md": "refund"}, title={"Travel": "travel"})
DUMPED = {
    "python": [one.model_dump() for one in DOCUMENTS],
    "json": [one.model_dump(mode="json") for one in DOCUMENTS],
    "text": as_json([one.model_dump() for one in DOCUMENTS]),
    "dumpd": dumpd(DOCUMENTS),
}
QUOTE = create_citation(
    url="https://a.example/refund", title="Refunds", start_index=0, end_index=10, cited_text="five business days"
)
BARE = create_citation(url="https://a.example/travel")


def text_block(text: str, *annotations: Citation) -> TextContentBlock:
    return create_text_block(text, annotations=list(annotations))


MESSAGE = AIMessage(content=[text_block("Five days.", QUOTE, BARE), text_block(" Bye.")])  # type: ignore[list-item]  # its content is typed as plain dicts
CHUNK = AIMessageChunk(content=MESSAGE.content)
MESSAGES = {
    "python": MESSAGE.model_dump(),
    "json": MESSAGE.model_dump(mode="json"),
    "dumpd": dumpd(MESSAGE),
    "wrapped": message_to_dict(MESSAGE),
    "blocks": MESSAGE.content_blocks,
    "list": [MESSAGE.model_dump()],
    "list of dumpd": dumpd([MESSAGE]),
    "chunk": CHUNK.model_dump(),
    "chunk dumpd": dumpd(CHUNK),
}
CHAIN = as_json({"input": "?", "context": DUMPED["python"], "answer": "Five days."})
VALID_MESSAGE = as_json(MESSAGES["python"])


@pytest.mark.parametrize("way", DUMPED)
def test_documents(way: str) -> None:
    reading = read(DUMPED[way], SOURCES)
    assert cited(reading) == [("refund", PIECE), ("travel", TRAVEL)]
    assert standing(reading, REGISTRY) == [True, True]
    assert reading.hints == (Hint(12, 42), None)
    assert reading.places == (("$[0].kwargs", "$[1].kwargs") if way == "dumpd" else ("$[0]", "$[1]"))
    assert prose(reading) == []


@pytest.mark.parametrize(
    ("by", "value"), [("id", "c-1"), ("uri", "policies/refund.md"), ("filename", "policies/refund.md")]
)
def test_names_of_a_document(by: str, value: str) -> None:
    assert cited(read(DUMPED["json"], map_of(**{by: {value: "refund"}})))[0] == ("refund", PIECE)


def test_what_is_not_mapped_is_an_unknown_source() -> None:
    assert [source for source, _ in cited(read(DUMPED["json"], NO_SOURCES))] == [
        "id:c-1",
        "uri:https://a.example/travel",
    ]


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(CHAIN, map_of(id={"c-1": "travel"}, uri={"policies/refund.md": "refund"}))
    assert (refused.value.code, refused.value.where) == ("adapter.map_conflict", "$.context[0]")


@pytest.mark.parametrize("start", [-1, None, "12", 12.0, True, [12]])
def test_no_start_is_no_hint(start: object) -> None:
    reading = read(replaced(DUMPED["text"], start, 0, "metadata", "start_index"), SOURCES)
    assert reading.hints == (None, None)
    assert cited(reading) == [("refund", PIECE), ("travel", TRAVEL)]


def test_false_start_changes_nothing() -> None:
    reading = read(replaced(DUMPED["text"], 999, 0, "metadata", "start_index"), SOURCES)
    assert reading.hints[0] == Hint(999, 999 + len(PIECE))
    assert standing(reading, REGISTRY) == [True, True]


def test_text_to_the_letter() -> None:
    made = Document(page_content=f"\n {TRAVEL} \n")
    assert cited(read([made.model_dump()], NO_SOURCES)) == [("", f"\n {TRAVEL} \n")]
    assert cited(read([Document(page_content="").model_dump()], NO_SOURCES)) == [("", "")]


def test_escaped_metadata() -> None:
    made = dumpd([Document(page_content=TRAVEL, metadata={"lc": 1, "source": "travel.md"})])
    assert set(made[0]["kwargs"]["metadata"]) == {"__lc_escaped__"}
    assert cited(read(made, map_of(filename={"travel.md": "travel"}))) == [("travel", TRAVEL)]


@pytest.mark.parametrize("documents", ["context", "source_documents", "input_documents"])
@pytest.mark.parametrize("answer", ["answer", "result", "output_text"])
def test_chain(documents: str, answer: str) -> None:
    reading = read({"query": "?", documents: DUMPED["python"], answer: "Five days."}, SOURCES)
    assert cited(reading) == [("refund", PIECE), ("travel", TRAVEL)]
    assert reading.places == (f"$.{documents}[0]", f"$.{documents}[1]")
    assert prose(reading) == [("Five days.", [0, 1])]


def test_nothing_is_lost_when_a_chain_returns_both() -> None:
    made = {"context": DUMPED["python"][:1], "source_documents": DUMPED["python"][1:], "answer": "A", "result": "B"}
    reading = read(made, SOURCES)
    assert cited(reading) == [("refund", PIECE), ("travel", TRAVEL)]
    assert prose(reading) == [("A", [0, 1]), ("B", [0, 1])]


@pytest.mark.parametrize("dump", [dumpd, lambda value: {**value, "answer": value["answer"].model_dump()}])
def test_chain_with_a_message(dump: Any) -> None:
    made = dump({"context": dumpd(DOCUMENTS), "answer": MESSAGE})
    made["context"] = DUMPED["dumpd"]
    reading = read(made, map_of(title={"Travel": "travel", "Refunds": "refund"}, id={"c-1": "refund"}))
    assert [source for source, _ in cited(reading)] == ["refund", "travel", "refund", "uri:https://a.example/travel"]
    assert prose(reading) == [("Five days.", [0, 1, 2, 3]), (" Bye.", [0, 1])]


@pytest.mark.parametrize("way", MESSAGES)
def test_message(way: str) -> None:
    reading = read(MESSAGES[way], map_of(uri={"https://a.example/refund": "refund"}))
    assert cited(reading) == [("refund", "five business days"), ("uri:https://a.example/travel", "")]
    assert standing(reading, REGISTRY) == [True, False]
    assert reading.hints == (None, None)
    assert all(place.endswith(f"[0].annotations[{number}]") for number, place in enumerate(reading.places))
    assert prose(reading) == [("Five days.", [0, 1]), (" Bye.", [])]


def test_plain_message() -> None:
    assert prose(read(AIMessage(content="Five days.").model_dump(), NO_SOURCES)) == [("Five days.", [])]
    mixed: Any = ["Five ", {"type": "text", "text": "days."}, {"type": "reasoning", "reasoning": "Hm."}]
    assert prose(read(AIMessage(content=mixed).model_dump(), NO_SOURCES)) == [("Five ", []), ("days.", [])]


@pytest.mark.parametrize(
    ("extras", "by", "value"),
    [
        ({"document_index": 2}, "index", "2"),
        ({"source": "https://a.example/found"}, "uri", "https://a.example/found"),
    ],
)
def test_extra_names(extras: dict[str, Any], by: str, value: str) -> None:
    made = [text_block("A", create_citation(cited_text="second class", **extras))]
    assert made[0]["annotations"][0]["extras"] == extras  # type: ignore[typeddict-item]  # the union has no extras
    assert cited(read(made, map_of(**{by: {value: "travel"}}))) == [("travel", "second class")]


def test_extra_names_of_any_type_name_nothing() -> None:
    made = [text_block("A", create_citation(cited_text="x", document_index=-1, source=3))]
    assert cited(read(made, NO_SOURCES)) == [("", "x")]
    huge = replaced(as_json(made), 10**5000, 0, "annotations", 0, "extras", "document_index")
    assert cited(read(huge, NO_SOURCES)) == [("", "x")]


def test_annotation_of_another_kind_is_noted() -> None:
    other: Any = {"type": "non_standard_annotation", "value": {"cited_text": "five business days"}}
    openai: Any = {"type": "url_citation", "url": "https://a.example/", "cited_text": 3, "title": []}
    reading = read([text_block("A", other, openai)], NO_SOURCES)
    assert cited(reading) == [("", ""), ("", "")]
    assert prose(reading) == [("A", [0, 1])]


def test_annotations_of_other_blocks_are_noted() -> None:
    block = {**create_non_standard_block({"a": 1}), "annotations": [QUOTE]}
    reading = read([block], NO_SOURCES)
    assert (len(cited(reading)), prose(reading)) == (1, [])


def test_citations_in_the_shape_of_a_provider_are_not_lost() -> None:
    content: Any = [{"type": "text", "text": "A", "citations": [{"type": "char_location", "cited_text": "x"}]}]
    made = AIMessage(content=content, response_metadata={"model_provider": "anthropic"})
    assert refusal(read, made.model_dump()) == ("adapter.shape", "$.content[0]")
    assert cited(read(made.content_blocks, NO_SOURCES)) == [("", "x")]


def test_answer_without_citations() -> None:
    assert cited(read([], NO_SOURCES)) == []
    assert cited(read({"context": [], "answer": "A"}, NO_SOURCES)) == []
    assert prose(read({"result": "A"}, NO_SOURCES)) == [("A", [])]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        3,
        "x",
        {},
        ["x"],
        [[]],
        [{}],
        [None],
        DOCUMENTS[0].model_dump(),
        {"messages": [VALID_MESSAGE]},
        HumanMessage(content="x").model_dump(),
        [HumanMessage(content="x").model_dump()],
        [message_to_dict(HumanMessage(content="x"))],
        dumpd([HumanMessage(content="x")]),
        {"lc": 1, "type": "constructor", "id": [], "kwargs": []},
        {"lc": 1, "type": "constructor", "id": []},
        {"lc": 1, "type": "not_implemented", "id": ["a"]},
        [{"lc": 1, "type": "secret", "id": ["a"]}],
    ],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("context",), {}, "$.context"),
        (("context", 0), "x", "$.context[0]"),
        (("context", 0, "page_content"), ["x"], "$.context[0].page_content"),
        (("context", 0, "page_content"), None, "$.context[0]"),
        (("context", 0, "metadata"), [], "$.context[0].metadata"),
        (("context", 0, "id"), 3, "$.context[0].id"),
        (("answer",), 3, "$.answer"),
        (("answer",), {"a": "structured"}, "$.answer"),
        (("answer",), [3], "$.answer[0]"),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object, where: str) -> None:
    assert refusal(read, replaced(CHAIN, value, *path)) == ("adapter.shape", where)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("content",), {}),
        (("content", 0), 3),
        (("content", 0, "type"), 3),
        (("content", 0, "text"), 3),
        (("content", 0, "annotations"), {}),
        (("content", 0, "annotations", 0), "x"),
        (("content", 0, "annotations", 0, "type"), 3),
        (("content", 0, "annotations", 0, "url"), 3),
        (("content", 0, "annotations", 0, "title"), []),
        (("content", 0, "annotations", 0, "cited_text"), ["x"]),
        (("content", 0, "annotations", 0, "extras"), "x"),
    ],
)
def test_wrong_type_in_a_message(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    answer = replaced(replaced(VALID_MESSAGE, {}, "content", 0, "annotations", 0, "extras"), value, *path)
    assert refusal(read, answer) == ("adapter.shape", where)


def test_missing_content() -> None:
    assert refusal(read, dropped(VALID_MESSAGE, "content")) == ("adapter.shape", "$")


def test_nesting() -> None:
    assert cited(read([{"page_content": "x", "metadata": deep("a"), "later": deep("a")}], NO_SOURCES)) == [("", "x")]
    assert refusal(read, {"answer": deep("data")})[0] == "adapter.shape"
    assert refusal(read, {"type": "ai", **deep("data")})[0] == "adapter.shape"
    wrapped: Any = []
    for _ in range(NESTING):
        wrapped = {"lc": 1, "type": "constructor", "kwargs": wrapped}
    assert refusal(read, wrapped)[0] == "adapter.shape"


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(
    st.one_of(damaged(CHAIN), damaged(VALID_MESSAGE), damaged(DUMPED["dumpd"]), damaged(as_json(MESSAGES["blocks"])))
)
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)
