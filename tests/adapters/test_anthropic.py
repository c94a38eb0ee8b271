"""Messages of Anthropic (docs/spec/adapters/anthropic.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic import BaseModel
from anthropic.types import (
    CitationCharLocation,
    CitationContentBlockLocation,
    CitationPageLocation,
    CitationsDelta,
    CitationsSearchResultLocation,
    CitationsWebSearchResultLocation,
    ContentBlock,
    Message,
    MessageDeltaUsage,
    RawContentBlockDeltaEvent,
    RawContentBlockStartEvent,
    RawContentBlockStopEvent,
    RawMessageDeltaEvent,
    RawMessageStartEvent,
    RawMessageStopEvent,
    SignatureDelta,
    TextBlock,
    TextCitation,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolUseBlock,
    Usage,
)
from anthropic.types.beta import BetaCitationCharLocation, BetaMessage, BetaTextBlock, BetaUsage
from anthropic.types.raw_message_delta_event import Delta
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.adapters.anthropic import read
from kansho_sign.adapters.reading import Hint
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
FIRST = REFUND[:44]  # with the space after the sentence, as the service sends it

CHARACTERS = CitationCharLocation(
    type="char_location",
    cited_text=FIRST,
    document_index=0,
    document_title="Refunds",
    file_id="file_1",
    start_char_index=0,
    end_char_index=44,
)
PAGES = CitationPageLocation(
    type="page_location", cited_text=TRAVEL, document_index=1, start_page_number=1, end_page_number=2
)
BLOCKS = CitationContentBlockLocation(
    type="content_block_location", cited_text=REFUND, document_index=2, start_block_index=0, end_block_index=2
)
SEARCH = CitationsSearchResultLocation(
    type="search_result_location",
    cited_text=REFUND,
    search_result_index=0,
    source="https://a.example/refund",
    title="Refunds",
    start_block_index=0,
    end_block_index=1,
)
WEB = CitationsWebSearchResultLocation(
    type="web_search_result_location",
    cited_text=TRAVEL,
    encrypted_index="Eo8B",
    title="Travel",
    url="https://a.example/travel",
)
SOURCES = map_of(
    index={"0": "refund", "1": "travel", "2": "refund"},
    uri={"https://a.example/refund": "refund", "https://a.example/travel": "travel"},
)


def text(words: str, *citations: TextCitation) -> TextBlock:
    return TextBlock(type="text", text=words, citations=list(citations) or None)


def message(*content: ContentBlock) -> Message:
    return Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-opus-4-6",
        content=list(content),
        stop_reason="end_turn",
        usage=Usage(input_tokens=1, output_tokens=1),
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


CONTENT: list[ContentBlock] = [
    ThinkingBlock(type="thinking", thinking="Hm.", signature="s"),
    text("I look it up. "),
    ToolUseBlock(type="tool_use", id="t", name="look_up", input={"text": "x"}),
    text("Within five days", CHARACTERS, BLOCKS),
    text(" and "),
    text("in second class.", PAGES, WEB, SEARCH),
]
WHOLE = as_json(message(*CONTENT).model_dump())
CITED = [("refund", FIRST), ("refund", REFUND), ("travel", TRAVEL), ("travel", TRAVEL), ("refund", REFUND)]
PROSE = [("I look it up. ", []), ("Within five days", [0, 1]), (" and ", []), ("in second class.", [2, 3, 4])]


def with_citation(citation: object) -> Any:
    return [{"type": "text", "text": "x", "citations": [citation]}]


@pytest.mark.parametrize("way", range(5))
def test_message(way: int) -> None:
    reading = read(dumps(message(*CONTENT))[way], SOURCES)
    assert cited(reading) == CITED
    assert standing(reading, REGISTRY) == [True] * 5
    assert reading.places == (
        "$.content[3].citations[0]",
        "$.content[3].citations[1]",
        "$.content[5].citations[0]",
        "$.content[5].citations[1]",
        "$.content[5].citations[2]",
    )
    assert reading.hints == (Hint(0, 44), None, None, None, None)
    assert prose(reading) == PROSE


def test_content_alone() -> None:
    reading, whole = read(WHOLE["content"], SOURCES), read(WHOLE, SOURCES)
    assert (reading.answer, reading.hints) == (whole.answer, whole.hints)
    assert reading.places[0] == "$[3].citations[0]"


def test_beta_message() -> None:
    citation = BetaCitationCharLocation(**CHARACTERS.model_dump())
    made = BetaMessage(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-opus-4-6",
        content=[BetaTextBlock(type="text", text="Five days.", citations=[citation])],
        usage=BetaUsage(input_tokens=1, output_tokens=1),
    )
    reading = read(as_json(made.model_dump()), SOURCES)
    assert cited(reading) == [("refund", FIRST)]
    assert prose(reading) == [("Five days.", [0])]


@pytest.mark.parametrize(
    ("citation", "by", "value"),
    [
        (CHARACTERS, "index", "0"),
        (CHARACTERS, "id", "file_1"),
        (CHARACTERS, "title", "Refunds"),
        (PAGES, "index", "1"),
        (BLOCKS, "index", "2"),
        (SEARCH, "uri", "https://a.example/refund"),
        (SEARCH, "title", "Refunds"),
        (WEB, "uri", "https://a.example/travel"),
        (WEB, "title", "Travel"),
    ],
)
def test_names_of_the_document(citation: TextCitation, by: str, value: str) -> None:
    answer = as_json(message(text("x", citation)).model_dump())
    assert cited(read(answer, map_of(**{by: {value: "s"}}))) == [("s", citation.cited_text)]
    assert read(answer, NO_SOURCES).answer["evidence"][0]["source_id"].split(":")[0] in {"index", "uri"}


def test_source_of_a_search_result_that_is_no_uri() -> None:
    answer = with_citation({**SEARCH.model_dump(), "source": "kb/7"})
    assert cited(read(answer, map_of(id={"kb/7": "s"}))) == [("s", REFUND)]
    assert cited(read(answer, map_of(uri={"kb/7": "s"}))) == [("s", REFUND)]


def test_position_of_a_search_result_is_no_document_index() -> None:
    answer = with_citation(SEARCH.model_dump())
    assert cited(read(answer, map_of(index={"0": "s"}))) == [("uri:https://a.example/refund", REFUND)]


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(WHOLE, map_of(index={"0": "refund"}, title={"Refunds": "travel"}))
    assert (refused.value.code, refused.value.where) == ("adapter.map_conflict", "$.content[3].citations[0]")


@pytest.mark.parametrize("words", ["", " ", f" {REFUND}\n", "e\u0301\u00a0\ufeff"])
def test_excerpt_is_what_was_sent(words: str) -> None:
    assert cited(read(with_citation({**CHARACTERS.model_dump(), "cited_text": words}), SOURCES)) == [("refund", words)]


@pytest.mark.parametrize("citation", [{}, {"type": "new_location"}, {"cited_text": None, "document_index": None}])
def test_citation_of_nothing_is_noted(citation: object) -> None:
    assert cited(read(with_citation(citation), NO_SOURCES)) == [("", "")]


def test_citation_of_a_new_type() -> None:
    citation = {"type": "new_location", "cited_text": REFUND, "document_index": 0, "start_line": "x"}
    assert cited(read(with_citation(citation), SOURCES)) == [("refund", REFUND)]


@pytest.mark.parametrize(
    ("start", "end", "hint"),
    [
        (0, 44, Hint(0, 44)),
        (7, 7, Hint(7, 7)),
        (10**30, 10**30, Hint(10**30, 10**30)),
        (-1, 44, None),
        (9, 3, None),
        (None, 3, None),
        ("0", 3, None),
        (True, 3, None),
        (0.0, 3, None),
        ([], {}, None),
    ],
)
def test_offsets_are_hints(start: object, end: object, hint: Hint | None) -> None:
    citation = {**CHARACTERS.model_dump(), "start_char_index": start, "end_char_index": end}
    reading = read(with_citation(citation), SOURCES)
    assert reading.hints == (hint,)
    assert cited(reading) == [("refund", FIRST)]


def test_answer_without_citations() -> None:
    assert cited(read(as_json(message(text("Hello.")).model_dump()), NO_SOURCES)) == []
    assert prose(read(as_json(message(text("Hello.")).model_dump()), NO_SOURCES)) == [("Hello.", [])]
    assert cited(read(as_json(message().model_dump()), NO_SOURCES)) == []


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
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"content": None},
        {"content": "Hello."},
        {"role": "user", "content": []},
        {"role": "assistant", "content": {}},
        {"completion": "Hello."},
    ],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("role",), 3),
        (("content",), {}),
        (("content", 1), "x"),
        (("content", 1, "type"), 3),
        (("content", 1, "text"), 3),
        (("content", 3, "citations"), {}),
        (("content", 3, "citations", 0), "x"),
        (("content", 3, "citations", 0, "cited_text"), ["x"]),
        (("content", 3, "citations", 0, "document_index"), "0"),
        (("content", 3, "citations", 0, "document_index"), -1),
        (("content", 3, "citations", 0, "document_index"), 10**400),
        (("content", 3, "citations", 0, "document_index"), True),
        (("content", 3, "citations", 0, "document_title"), 3),
        (("content", 3, "citations", 0, "file_id"), 3),
        (("content", 5, "citations", 1, "url"), 3),
        (("content", 5, "citations", 2, "source"), 3),
        (("content", 5, "citations", 2, "title"), 3),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    assert refusal(read, replaced(WHOLE, value, *path)) == ("adapter.shape", where)


@pytest.mark.parametrize(("name", "place"), [("type", "$.content[1]"), ("text", "$.content[1]")])
def test_missing(name: str, place: str) -> None:
    assert refusal(read, dropped(WHOLE, "content", 1, name)) == ("adapter.shape", place)


def test_citations_where_none_are_known() -> None:
    block = {"type": "rich_text", "citations": [CHARACTERS.model_dump()]}
    assert refusal(read, [block]) == ("adapter.shape", "$[0]")
    assert cited(read([{**block, "citations": []}], NO_SOURCES)) == []
    assert cited(read([{"type": "document", "citations": {"enabled": True}}], NO_SOURCES)) == []


def test_nesting() -> None:
    assert cited(read([{"type": "tool_use", "input": deep("a")}], NO_SOURCES)) == []
    assert refusal(read, {"content": deep("content")})[0] == "adapter.shape"
    assert refusal(read, with_citation({"cited_text": deep("a")}))[0] == "adapter.shape"


def test_more_evidence_than_an_answer_may_hold() -> None:
    citation = {"cited_text": "x", "document_index": 0}
    answer = [{"type": "text", "text": "x", "citations": [citation] * 16_385}]
    assert refusal(read, answer)[0] == "limits.items"


# Streams


def start_of(block: ContentBlock) -> ContentBlock:
    """A block as its first event has it: empty."""
    return block.model_copy(update={"text": "", "citations": []} if isinstance(block, TextBlock) else {})


def events(made: Message, deltas: list[list[BaseModel]] | None = None) -> list[Any]:
    """The stream of this message; ``deltas`` are those of each block, or one for each thing."""
    made_of: list[BaseModel] = [
        RawMessageStartEvent(type="message_start", message=made.model_copy(update={"content": [], "stop_reason": None}))
    ]
    for index, block in enumerate(made.content):
        made_of.append(
            RawContentBlockStartEvent(type="content_block_start", index=index, content_block=start_of(block))
        )
        made_of.extend(
            RawContentBlockDeltaEvent.model_validate({"type": "content_block_delta", "index": index, "delta": delta})
            for delta in (deltas[index] if deltas else deltas_of(block))
        )
        made_of.append(RawContentBlockStopEvent(type="content_block_stop", index=index))
    ended = RawMessageDeltaEvent(
        type="message_delta", delta=Delta(stop_reason="end_turn"), usage=MessageDeltaUsage(output_tokens=1)
    )
    made_of += [ended, RawMessageStopEvent(type="message_stop")]
    return [as_json(one.model_dump()) for one in made_of]


def deltas_of(block: ContentBlock) -> list[BaseModel]:
    if isinstance(block, TextBlock):
        cites = [CitationsDelta(type="citations_delta", citation=one) for one in block.citations or []]
        return [*cites, TextDelta(type="text_delta", text=block.text)]
    if isinstance(block, ThinkingBlock):
        return [
            ThinkingDelta(type="thinking_delta", thinking=block.thinking),
            SignatureDelta(type="signature_delta", signature=block.signature),
        ]
    return []


@st.composite
def torn(draw: st.DrawFn) -> list[Any]:
    """The events of the message, with deltas cut anywhere and in any order that keeps texts and citations in theirs."""
    deltas = []
    for block in CONTENT:
        if not isinstance(block, TextBlock):
            deltas.append(deltas_of(block))
            continue
        cuts = sorted(draw(st.lists(st.integers(0, len(block.text)), max_size=4)))
        pieces = [block.text[a:b] for a, b in zip([0, *cuts], [*cuts, len(block.text)], strict=True)]
        texts: list[BaseModel] = [TextDelta(type="text_delta", text=piece) for piece in pieces]
        cites: list[BaseModel] = [CitationsDelta(type="citations_delta", citation=one) for one in block.citations or []]
        order = draw(st.permutations([True] * len(texts) + [False] * len(cites)))
        from_texts, from_cites = iter(texts), iter(cites)
        deltas.append([next(from_texts if is_text else from_cites) for is_text in order])
    made = events(message(*CONTENT), deltas)
    for position in draw(st.lists(st.integers(0, len(made)), max_size=3)):
        made.insert(position, {"type": draw(st.sampled_from(["ping", "text", "new_event"])), "text": "x"})
    return made


STREAM = events(message(*CONTENT))


@given(torn())
def test_stream_says_what_the_message_says(stream: list[Any]) -> None:
    reading, whole = read(stream, SOURCES), read(WHOLE, SOURCES)
    assert (reading.answer, reading.hints) == (whole.answer, whole.hints)


def test_places_in_a_stream() -> None:
    stream = events(message(text("x", CHARACTERS)))
    assert read(stream, SOURCES).places == ("$[2].delta.citation",)


def test_block_that_begins_with_something() -> None:
    stream = replaced(STREAM[:1] + STREAM[-2:], [], 0, "message", "content")
    begun = {"type": "content_block_start", "index": 0, "content_block": text("Five", CHARACTERS).model_dump()}
    added = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " days."}}
    stopped = {"type": "content_block_stop", "index": 0}
    reading = read([stream[0], begun, added, stopped, *stream[1:]], SOURCES)
    assert cited(reading) == [("refund", FIRST)]
    assert prose(reading) == [("Five days.", [0])]


@pytest.mark.parametrize("length", range(1, len(STREAM)))
def test_stream_that_broke_off(length: int) -> None:
    assert refusal(read, STREAM[:length]) == ("adapter.shape", "$")


@pytest.mark.parametrize("lost", [n for n, event in enumerate(STREAM) if event["type"].endswith(("_start", "_stop"))])
def test_stream_that_lost_a_start_or_a_stop(lost: int) -> None:
    assert refusal(read, dropped(STREAM, lost))[0] == "adapter.shape"


@pytest.mark.parametrize("twice", [n for n, one in enumerate(STREAM) if not one["type"].endswith("_delta")])
def test_stream_with_an_event_twice(twice: int) -> None:
    assert refusal(read, [*STREAM[: twice + 1], *STREAM[twice:]])[0] == "adapter.shape"


@pytest.mark.parametrize("index", [-1, 0, 2, 7])
@pytest.mark.parametrize("kind", ["content_block_start", "content_block_delta", "content_block_stop"])
def test_index_out_of_order(kind: str, index: int) -> None:
    # Block 1 is the first that has all three kinds of event and is a text.
    position = next(n for n, one in enumerate(STREAM) if one["type"] == kind and one["index"] == 1)
    assert refusal(read, replaced(STREAM, index, position, "index")) == ("adapter.shape", f"$[{position}].index")


@pytest.mark.parametrize("index", [None, "1", True, 1.0])
def test_index_of_a_wrong_type(index: object) -> None:
    position = next(n for n, one in enumerate(STREAM) if one["type"] == "content_block_delta")
    assert refusal(read, replaced(STREAM, index, position, "index"))[0] == "adapter.shape"


def test_streams_one_after_the_other() -> None:
    assert refusal(read, STREAM + STREAM) == ("adapter.shape", f"$[{len(STREAM)}]")
    assert refusal(read, STREAM[1:]) == ("adapter.shape", "$[0]")


def test_error_in_a_stream() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert refusal(read, [*STREAM[:4], error]) == ("adapter.shape", "$[4]")
    assert refusal(read, [*STREAM, error]) == ("adapter.shape", f"$[{len(STREAM)}]")
    assert refusal(read, [error]) == ("adapter.shape", "$[0]")


@pytest.mark.parametrize(
    ("block", "delta"),
    [
        (1, {"type": "thinking_delta", "thinking": "x"}),
        (1, {"type": "new_delta", "text": "x"}),
        (0, {"type": "text_delta", "text": "x"}),
        (0, {"type": "citations_delta", "citation": CHARACTERS.model_dump()}),
        (2, {"type": "text_delta", "text": "x"}),
        (1, {"type": "text_delta"}),
        (1, {"type": "text_delta", "text": 3}),
        (1, {"type": "citations_delta"}),
        (1, {"type": "citations_delta", "citation": "x"}),
        (1, {}),
        (1, "x"),
    ],
)
def test_delta_that_does_not_fit(block: int, delta: object) -> None:
    position = next(n for n, one in enumerate(STREAM) if one["type"] == "content_block_stop" and one["index"] == block)
    event = {"type": "content_block_delta", "index": block, "delta": delta}
    code, where = refusal(read, [*STREAM[:position], event, *STREAM[position:]])
    assert code == "adapter.shape"
    assert where.startswith(f"$[{position}].delta")


def test_content_before_the_first_block() -> None:
    answer = replaced(STREAM, WHOLE["content"], 0, "message", "content")
    assert refusal(read, answer) == ("adapter.shape", "$[0].message.content")


def test_stream_of_another_role() -> None:
    assert refusal(read, replaced(STREAM, "user", 0, "message", "role")) == ("adapter.shape", "$[0].message.role")


def test_blocks_among_events() -> None:
    block = text("x", CHARACTERS).model_dump()
    assert refusal(read, [*STREAM[:1], block, *STREAM[1:]]) == ("adapter.shape", "$[1]")


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.one_of(damaged(WHOLE), damaged(WHOLE["content"]), damaged(STREAM)))
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.lists(st.sampled_from(STREAM), max_size=30))
def test_events_in_any_order(answer: list[Any]) -> None:
    read_or_refused(read, answer)


@given(st.permutations(STREAM))
def test_events_in_another_order(answer: list[Any]) -> None:
    # Either refused, or the order of blocks is that of the message; a delta is never in another block.
    reading = read_or_refused(read, answer)
    if reading is not None:
        assert sorted(cited(read(answer, SOURCES))) == sorted(CITED)


@given(st.one_of(damaged(WHOLE), damaged(STREAM)))
def test_excerpts_come_from_the_answer(answer: object) -> None:
    reading = read_or_refused(read, answer)
    if reading is not None:
        assert {excerpt for _, excerpt in cited(reading)} <= {"", *strings(answer)}
