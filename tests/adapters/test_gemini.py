"""Responses of Gemini (docs/spec/adapters/gemini.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from kansho_sign.adapters.gemini import read
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import (
    JSON,
    NO_SOURCES,
    as_json,
    changed,
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
ANSWER = "Rückerstattung in fünf Tagen. 二等座で。 Ende."
FIRST, SECOND = "Rückerstattung in fünf Tagen.", "二等座で。"
SOURCES = map_of(uri={"gs://docs/refund.md": "refund"}, title={"travel.md": "travel"})


def context(text: str | None, **names: Any) -> types.GroundingChunk:
    return types.GroundingChunk(retrieved_context=types.GroundingChunkRetrievedContext(text=text, **names))


CHUNK_1 = context(REFUND, uri="gs://docs/refund.md", title="refund.md")
CHUNK_2 = context(TRAVEL, title="travel.md", file_search_store="fileSearchStores/1", page_number=3)
WEB = types.GroundingChunk(web=types.GroundingChunkWeb(uri="https://a.example/", title="a.example", domain="a"))


def byte(text: str, within: str = ANSWER) -> int:
    """The offset of the text in bytes."""
    return len(within[: within.index(text)].encode())


def segment(cut: str, within: str = ANSWER, **more: Any) -> types.Segment:
    start = byte(cut, within)
    offsets = {"start_index": start or None, "end_index": start + len(cut.encode()), "text": cut}
    return types.Segment(**{**offsets, **more})


def support(place: types.Segment | None, *chunks: int) -> types.GroundingSupport:
    return types.GroundingSupport(
        segment=place, grounding_chunk_indices=list(chunks), confidence_scores=[0.5] * len(chunks)
    )


def grounding(chunks: list[types.GroundingChunk] | None, *supports: types.GroundingSupport) -> types.GroundingMetadata:
    return types.GroundingMetadata(
        grounding_chunks=chunks, grounding_supports=list(supports) or None, web_search_queries=["x"]
    )


def candidate(*parts: types.Part, **more: Any) -> types.Candidate:
    given_members = {"finish_reason": types.FinishReason.STOP, **more}
    return types.Candidate(content=types.Content(role="model", parts=list(parts) or None), **given_members)


def response(*candidates: types.Candidate, **more: Any) -> types.GenerateContentResponse:
    usage = types.GenerateContentResponseUsageMetadata(total_token_count=1)
    return types.GenerateContentResponse(candidates=list(candidates), usage_metadata=usage, **more)


def part(text: str, **more: Any) -> types.Part:
    return types.Part(text=text, **more)


def dumps(made: BaseModel) -> list[Any]:
    """All ways in which the SDK puts an object into JSON, and as the REST API has it."""
    return [
        made.model_dump(),
        made.model_dump(mode="json"),
        made.model_dump(mode="json", by_alias=True),
        made.model_dump(mode="json", by_alias=True, exclude_none=True),
        json.loads(made.model_dump_json(by_alias=True, exclude_unset=True)),
    ]


def rest(made: BaseModel) -> Any:
    return dumps(made)[3]


GROUNDING = grounding(
    [CHUNK_1, WEB, CHUNK_2], support(segment(FIRST), 0), support(segment(SECOND, part_index=0), 2, 0, 2)
)
MADE = response(candidate(part(ANSWER), grounding_metadata=GROUNDING))
WHOLE = rest(MADE)
METADATA = ("candidates", 0, "groundingMetadata")
CHUNKS, SUPPORTS = (*METADATA, "groundingChunks"), (*METADATA, "groundingSupports")
CITED = [("refund", REFUND), ("uri:https://a.example/", ""), ("travel", TRAVEL)]


def with_chunk(chunk: types.GroundingChunk) -> Any:
    return rest(response(candidate(part("x"), grounding_metadata=grounding([chunk]))))


def with_segment(place: types.Segment | None, text: str = ANSWER) -> Any:
    return rest(response(candidate(part(text), grounding_metadata=grounding([CHUNK_1], support(place, 0)))))


@pytest.mark.parametrize("way", range(5))
def test_grounding(way: int) -> None:
    reading = read(dumps(MADE)[way], SOURCES)
    assert cited(reading) == CITED
    assert standing(reading, REGISTRY) == [True, False, True]
    assert [place.rsplit(".", 1)[1] for place in reading.places] in (
        ["groundingChunks[0]", "groundingChunks[1]", "groundingChunks[2]"],
        ["grounding_chunks[0]", "grounding_chunks[1]", "grounding_chunks[2]"],
    )
    assert reading.hints == (None, None, None)
    assert prose(reading) == [(FIRST, [0]), (" ", []), (SECOND, [2, 0]), (" Ende.", [])]


@pytest.mark.parametrize(
    ("chunk", "by", "value"),
    [
        (CHUNK_1, "uri", "gs://docs/refund.md"),
        (CHUNK_1, "title", "refund.md"),
        (context(REFUND, document_name="projects/p/documents/d", title="t"), "id", "projects/p/documents/d"),
        (context(REFUND, rag_chunk=types.RagChunk(file_id="77", chunk_id="1")), "id", "77"),
    ],
)
def test_names_of_a_document(chunk: types.GroundingChunk, by: str, value: str) -> None:
    assert cited(read(with_chunk(chunk), map_of(**{by: {value: "s"}}))) == [("s", REFUND)]


@pytest.mark.parametrize(
    ("chunk", "by", "value"),
    [
        (WEB, "uri", "https://a.example/"),
        (WEB, "title", "a.example"),
        (types.GroundingChunk(maps=types.GroundingChunkMaps(uri="u", title="t", text=REFUND)), "uri", "u"),
        (types.GroundingChunk(maps=types.GroundingChunkMaps(place_id="places/1", text=REFUND)), "id", "places/1"),
        (types.GroundingChunk(image=types.GroundingChunkImage(source_uri="u", image_uri="i")), "uri", "u"),
        (types.GroundingChunk(image=types.GroundingChunkImage(source_uri="u", image_uri="i")), "uri", "i"),
        (context(None, uri="u"), "uri", "u"),
        (context("", uri="u"), "uri", "u"),
    ],
)
def test_chunks_without_a_text(chunk: types.GroundingChunk, by: str, value: str) -> None:
    assert cited(read(with_chunk(chunk), map_of(**{by: {value: "s"}}))) == [("s", "")]


@pytest.mark.parametrize("chunk", [{}, {"newContext": {"text": REFUND}}])
def test_chunk_of_a_new_kind_is_noted(chunk: object) -> None:
    assert cited(read(replaced(WHOLE, chunk, *CHUNKS, 0), NO_SOURCES))[0] == ("", "")


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(WHOLE, map_of(uri={"gs://docs/refund.md": "refund"}, title={"refund.md": "travel"}))
    assert (refused.value.code, refused.value.where) == (
        "adapter.map_conflict",
        "$.candidates[0].groundingMetadata.groundingChunks[0]",
    )


@pytest.mark.parametrize(
    ("text", "passage", "excerpts"),
    [(REFUND, REFUND, [REFUND]), (None, REFUND, [REFUND]), (REFUND, TRAVEL, [REFUND, TRAVEL]), (REFUND, "", [REFUND])],
)
def test_texts_of_a_passage(text: str | None, passage: str, excerpts: list[str]) -> None:
    chunk = context(text, uri="u", rag_chunk=types.RagChunk(text=passage))
    assert cited(read(with_chunk(chunk), map_of(uri={"u": "s"}))) == [("s", one) for one in excerpts]
    both = rest(response(candidate(part("x"), grounding_metadata=grounding([chunk], support(segment("x", "x"), 0)))))
    assert prose(read(both, NO_SOURCES)) == [("x", list(range(len(excerpts))))]


@pytest.mark.parametrize("words", [" ", f" {REFUND}\n", "e\u0301\u00a0\ufeff"])
def test_excerpt_is_what_was_sent(words: str) -> None:
    assert cited(read(with_chunk(context(words, uri="u")), map_of(uri={"u": "s"}))) == [("s", words)]


def test_chunk_given_twice_is_cited_once() -> None:
    metadata = grounding([CHUNK_1, CHUNK_1, CHUNK_2], support(segment(FIRST), 1))
    reading = read(rest(response(candidate(part(ANSWER), grounding_metadata=metadata))), SOURCES)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL)]
    assert prose(reading)[0] == (FIRST, [0])


def test_chunk_that_no_support_names_is_cited() -> None:
    reading = read(rest(response(candidate(part(ANSWER), grounding_metadata=grounding([CHUNK_1, CHUNK_2])))), SOURCES)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL)]
    assert prose(reading) == [(ANSWER, [])]


@pytest.mark.parametrize("index", [-1, 3, 2**31, 10**400])
def test_index_of_no_chunk(index: int) -> None:
    answer = replaced(WHOLE, index, *SUPPORTS, 1, "groundingChunkIndices", 1)
    where = "$.candidates[0].groundingMetadata.groundingSupports[1].groundingChunkIndices[1]"
    assert refusal(read, answer) == ("adapter.shape", where)


def test_supports_without_chunks() -> None:
    answer = dropped(WHOLE, *CHUNKS)
    where = "$.candidates[0].groundingMetadata.groundingSupports[0].groundingChunkIndices[0]"
    assert refusal(read, answer) == ("adapter.shape", where)
    answer = replaced(answer, [{"segment": {"text": "x"}}], *SUPPORTS)
    assert cited(read(answer, NO_SOURCES)) == []


# Prose


@pytest.mark.parametrize(
    ("place", "notes"),
    [
        # The offsets cut what is said, or nothing is said.
        (segment(FIRST), [(FIRST, [0]), (f" {SECOND} Ende.", [])]),
        (segment(SECOND, text=None), [(f"{FIRST} ", []), (SECOND, [0]), (" Ende.", [])]),
        (segment(ANSWER), [(ANSWER, [0])]),
        # They cut something else: what is said, and all prose beside it.
        (segment(SECOND, text="Ende."), [(ANSWER, []), ("Ende.", [0])]),
        (types.Segment(start_index=0, end_index=10**400, text="Ende."), [(ANSWER, []), ("Ende.", [0])]),
        (types.Segment(text="Ende."), [(ANSWER, []), ("Ende.", [0])]),
        (types.Segment(start_index=-3, end_index=-1, text="Ende."), [(ANSWER, []), ("Ende.", [0])]),
        (segment(FIRST, part_index=1), [(ANSWER, []), (FIRST, [0])]),
        (segment(FIRST, part_index=-1), [(ANSWER, []), (FIRST, [0])]),
        # Characters instead of bytes.
        (types.Segment(start_index=0, end_index=len(FIRST), text=FIRST), [(ANSWER, []), (FIRST, [0])]),
        # They cut no characters out, and nothing is said: all of the part.
        (types.Segment(start_index=2, end_index=9), [(ANSWER, [0])]),
        (types.Segment(start_index=0, end_index=2), [(ANSWER, [0])]),
        (types.Segment(start_index=9, end_index=3), [(ANSWER, [0])]),
        (types.Segment(start_index=-2, end_index=3), [(ANSWER, [0])]),
        (types.Segment(end_index=10**400), [(ANSWER, [0])]),
        (types.Segment(), [(ANSWER, [0])]),
        # Nothing says which prose.
        (types.Segment(end_index=3, part_index=5), [(ANSWER, [])]),
        (None, [(ANSWER, [])]),
    ],
)
def test_segment(place: types.Segment | None, notes: list[tuple[str, list[int]]]) -> None:
    reading = read(with_segment(place), NO_SOURCES)
    assert prose(reading) == notes
    assert cited(reading) == [("uri:gs://docs/refund.md", REFUND)]


def test_parts() -> None:
    texts = ["Hm.", "One. Two.", "Drei. Vier."]
    call = types.Part(function_call=types.FunctionCall(name="f", args={}))
    metadata = grounding(
        [CHUNK_1, CHUNK_2],
        support(segment("Two.", texts[1], part_index=2), 0),
        support(segment("Drei.", texts[2], part_index=3), 1),
        support(segment("Hm.", texts[0], part_index=0), 1),
    )
    made = response(
        candidate(part(texts[0], thought=True), call, part(texts[1]), part(texts[2]), grounding_metadata=metadata)
    )
    assert prose(read(rest(made), NO_SOURCES)) == [
        ("One. ", []),
        ("Two.", [0]),
        ("Drei.", [1]),
        (" Vier.", []),
        ("Hm.", [1]),
    ]


def test_segments_that_overlap_are_one() -> None:
    text = "abcdefghij"
    spans = [(2, 4, 0), (3, 6, 1), (2, 4, 1), (6, 7, 0), (4, 5, 0)]
    supports = [support(types.Segment(start_index=a, end_index=b), chunk) for a, b, chunk in spans]
    made = response(candidate(part(text), grounding_metadata=grounding([CHUNK_1, CHUNK_2], *supports)))
    assert prose(read(rest(made), NO_SOURCES)) == [("ab", []), ("cdef", [0, 1]), ("g", [0]), ("hij", [])]


@given(st.text(max_size=12), st.lists(st.tuples(st.integers(-2, 40), st.integers(-2, 40)), max_size=6))
def test_no_prose_is_lost_or_doubled(text: str, spans: list[tuple[int, int]]) -> None:
    supports = [
        {"segment": {"startIndex": start, "endIndex": end}, "groundingChunkIndices": [n % 2]}
        for n, (start, end) in enumerate(spans)
    ]
    metadata = {"groundingChunks": [rest(CHUNK_1), rest(CHUNK_2)], "groundingSupports": supports}
    reading = read({"candidates": [{"content": {"parts": [{"text": text}]}, "groundingMetadata": metadata}]}, SOURCES)
    assert "".join(note for note, _ in prose(reading)) == text
    if text:
        assert {n for _, numbers in prose(reading) for n in numbers} == {n % 2 for n in range(len(spans))}


@given(st.text(min_size=1, max_size=12), st.data())
def test_offsets_count_bytes(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    place = types.Segment(
        start_index=len(text[:start].encode()), end_index=len(text[:end].encode()), text=text[start:end]
    )
    notes = prose(read(with_segment(place, text), NO_SOURCES))
    expected = [(text[:start], []), (text[start:end], [0]), (text[end:], [])]
    assert notes == [note for note in expected if note[0]]


def test_lone_surrogates() -> None:
    answer = replaced(
        with_segment(types.Segment(end_index=1)), "a\ud800b", "candidates", 0, "content", "parts", 0, "text"
    )
    assert prose(read(answer, NO_SOURCES)) == [("a", [0]), ("\ud800b", [])]


# What the answer quotes without grounding


@pytest.mark.parametrize("name", ["citations", "citationSources", "citation_sources"])
def test_citation_metadata(name: str) -> None:
    quoted = types.Citation(start_index=0, end_index=5, uri="https://a.example/", title="A", license="mit")
    made = response(candidate(part("x"), citation_metadata=types.CitationMetadata(citations=[quoted])))
    answer = rest(made)
    metadata = answer["candidates"][0]["citationMetadata"]
    metadata[name] = metadata.pop("citations")
    reading = read(answer, map_of(uri={"https://a.example/": "s"}))
    assert cited(reading) == [("s", "")]
    assert reading.places == (f"$.candidates[0].citationMetadata.{name}[0]",)
    assert cited(read(answer, map_of(title={"A": "s"}))) == [("s", "")]
    assert prose(reading) == [("x", [])]


# Several candidates, and streams


def test_candidates() -> None:
    made = response(
        candidate(part("One."), grounding_metadata=grounding([CHUNK_1], support(segment("One.", "One."), 0))),
        candidate(part("Two."), index=1, grounding_metadata=grounding([CHUNK_2], support(segment("Two.", "Two."), 0))),
    )
    reading = read(rest(made), SOURCES)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL)]
    assert prose(reading) == [("One.", [0]), ("Two.", [1])]


def chunks_of_stream(pieces: list[str], *, metadata_at: int = -1) -> list[Any]:
    made = [candidate(part(piece), finish_reason=None) for piece in pieces]
    made[-1].finish_reason = types.FinishReason.STOP
    made[metadata_at].grounding_metadata = GROUNDING
    return [rest(response(one)) for one in made]


@given(st.lists(st.integers(0, len(ANSWER)), max_size=5), st.integers(0, 1))
def test_stream_says_what_the_response_says(cuts: list[int], place: int) -> None:
    cuts.sort()
    pieces = [ANSWER[a:b] for a, b in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True)]
    stream = chunks_of_stream(pieces, metadata_at=-place)
    reading, whole = read(stream, SOURCES), read(WHOLE, SOURCES)
    assert (reading.answer, reading.hints) == (whole.answer, whole.hints)


def test_stream_with_thoughts_and_two_candidates() -> None:
    last = grounding([CHUNK_1], support(segment("One two.", "One two.", part_index=1), 0))
    stream = [
        response(candidate(part("Hm.", thought=True), finish_reason=None)),
        response(
            candidate(part(" Hm.", thought=True), part("One"), finish_reason=None),
            candidate(part("Dr"), index=1, finish_reason=None),
        ),
        response(candidate(part("ei."), index=1, grounding_metadata=grounding([CHUNK_2]))),
        response(candidate(part(" two."), grounding_metadata=last)),
        types.GenerateContentResponse(usage_metadata=types.GenerateContentResponseUsageMetadata()),
    ]
    reading = read([rest(one) for one in stream], SOURCES)
    assert cited(reading) == [("refund", REFUND), ("travel", TRAVEL)]
    assert reading.places[1] == "$[2].candidates[0].groundingMetadata.groundingChunks[0]"
    assert prose(reading) == [("One two.", [0]), ("Drei.", [])]


def test_parts_that_are_no_text_are_not_joined() -> None:
    call = types.Part(function_call=types.FunctionCall(name="f", args={}))
    end = grounding([CHUNK_1], support(segment("Two", "Two.", part_index=2), 0))
    stream = [
        response(candidate(call, finish_reason=None)),
        response(candidate(call, part("Tw"), finish_reason=None)),
        response(candidate(part("o."), grounding_metadata=end)),
    ]
    assert prose(read([rest(one) for one in stream], NO_SOURCES)) == [("Two", [0]), (".", [])]


def test_metadata_that_comes_again() -> None:
    early = grounding([CHUNK_1], support(segment(FIRST), 0))
    only_supports = grounding(None, support(segment("Ende."), 2))
    stream = [
        response(candidate(part(FIRST), finish_reason=None, grounding_metadata=early)),
        response(candidate(part(ANSWER[len(FIRST) :]), finish_reason=None, grounding_metadata=GROUNDING)),
        response(candidate(grounding_metadata=only_supports)),
    ]
    reading = read([rest(one) for one in stream], SOURCES)
    assert cited(reading) == [CITED[0], CITED[1], CITED[2]]
    assert prose(reading) == [(FIRST, [0]), (" ", []), (SECOND, [2, 0]), (" ", []), ("Ende.", [2])]


def test_stream_that_broke_off() -> None:
    stream = chunks_of_stream([FIRST, " ", SECOND, " Ende."])
    for length in range(4):
        assert refusal(read, stream[:length]) == ("adapter.shape", "$")
    two = response(candidate(part("x")), candidate(part("y"), index=1, finish_reason=None))
    assert refusal(read, [rest(two)]) == ("adapter.shape", "$")


def test_error_in_a_stream() -> None:
    error = {"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}
    assert refusal(read, [*chunks_of_stream([ANSWER]), error]) == ("adapter.shape", "$[1]")
    assert refusal(read, error) == ("adapter.shape", "$")


@pytest.mark.parametrize("way", range(5))
def test_answer_that_goes_on_elsewhere(way: int) -> None:
    made = response(candidate(part("x"), finish_reason=types.FinishReason.CONTINUATION))
    code, where = refusal(read, dumps(made)[way])
    assert code == "adapter.shape"
    assert where in {"$.candidates[0].finishReason", "$.candidates[0].finish_reason"}


def test_answer_without_citations() -> None:
    assert cited(read(rest(response(candidate(part("x")))), NO_SOURCES)) == []
    assert prose(read(rest(response(candidate(part("x")))), NO_SOURCES)) == [("x", [])]
    assert cited(read({"candidates": [{"finishReason": "SAFETY"}]}, NO_SOURCES)) == []


def test_blocked_prompt() -> None:
    feedback = types.GenerateContentResponsePromptFeedback(block_reason=types.BlockedReason.SAFETY)
    made = types.GenerateContentResponse(prompt_feedback=feedback)
    for dump in dumps(made):
        assert refusal(read, dump) == ("adapter.shape", "$")


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
        {"candidates": None},
        {"candidates": []},
        {"candidates": {}},
        {"candidates": ["x"]},
        {"content": {"parts": []}},
    ],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


PART = ("candidates", 0, "content", "parts", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("candidates", 0, "content"), "x"),
        (("candidates", 0, "content", "parts"), {}),
        (PART, "x"),
        ((*PART, "text"), 3),
        ((*PART, "thought"), "no"),
        (METADATA, []),
        (CHUNKS, {}),
        ((*CHUNKS, 0), "x"),
        ((*CHUNKS, 0, "retrievedContext"), "x"),
        ((*CHUNKS, 0, "retrievedContext", "text"), 3),
        ((*CHUNKS, 0, "retrievedContext", "uri"), 3),
        ((*CHUNKS, 0, "retrievedContext", "title"), ["x"]),
        ((*CHUNKS, 0, "retrievedContext", "documentName"), 3),
        ((*CHUNKS, 0, "retrievedContext", "ragChunk"), "x"),
        ((*CHUNKS, 1, "web"), "x"),
        ((*CHUNKS, 1, "web", "uri"), 3),
        (SUPPORTS, {}),
        ((*SUPPORTS, 0), "x"),
        ((*SUPPORTS, 0, "segment"), "x"),
        ((*SUPPORTS, 0, "segment", "text"), 3),
        ((*SUPPORTS, 0, "segment", "startIndex"), "0"),
        ((*SUPPORTS, 0, "segment", "endIndex"), 3.0),
        ((*SUPPORTS, 0, "segment", "partIndex"), True),
        ((*SUPPORTS, 0, "groundingChunkIndices"), 0),
        ((*SUPPORTS, 0, "groundingChunkIndices", 0), "0"),
        ((*SUPPORTS, 0, "groundingChunkIndices", 0), False),
        (("candidates", 0, "citationMetadata"), []),
        (("candidates", 0, "citationMetadata"), {"citations": {}}),
        (("candidates", 0, "citationMetadata"), {"citations": ["x"]}),
        (("candidates", 0, "citationMetadata"), {"citations": [{"uri": 3}]}),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    code, found = refusal(read, replaced(WHOLE, value, *path))
    assert code == "adapter.shape"
    assert found.startswith(where)


def test_index_of_a_candidate_of_a_wrong_type() -> None:
    stream = [changed(WHOLE, ("candidates", 0, "index"), lambda holder, name: holder.update({name: "0"}))]
    assert refusal(read, stream) == ("adapter.shape", "$[0].candidates[0].index")


def test_nesting() -> None:
    call = {"functionCall": {"args": deep("a")}}
    assert cited(read({"candidates": [{"content": {"parts": [call]}}]}, NO_SOURCES)) == []
    assert refusal(read, {"candidates": [{"content": {"parts": [{"text": deep("a")}]}}]})[0] == "adapter.shape"
    assert refusal(read, {"candidates": deep("candidates")})[0] == "adapter.shape"
    assert prose(read({"candidates": [{"finishReason": deep("a")}]}, NO_SOURCES)) == []


def test_many_segments_of_one_text() -> None:
    size = 100_000
    supports = [{"segment": {"endIndex": size - n}, "groundingChunkIndices": [0]} for n in range(size)]
    metadata = {"groundingChunks": [{}], "groundingSupports": supports}
    answer = {"candidates": [{"content": {"parts": [{"text": "x" * size}]}, "groundingMetadata": metadata}]}
    assert prose(read(answer, NO_SOURCES)) == [("x" * size, [0])]


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


STREAM = chunks_of_stream([FIRST, " ", SECOND, " Ende."])


@given(st.one_of(damaged(WHOLE), damaged(as_json(dumps(MADE)[1])), damaged(STREAM)))
def test_damaged(answer: object) -> None:
    reading = read_or_refused(read, answer)
    if reading is not None:
        assert {excerpt for _, excerpt in cited(reading)} <= {"", *strings(answer)}
