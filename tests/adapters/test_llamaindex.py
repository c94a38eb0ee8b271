"""Responses and nodes of LlamaIndex (docs/spec/adapters/llamaindex.md)."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    TextNode,
)

from kansho_sign.adapters.llamaindex import read
from kansho_sign.adapters.reading import Hint
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import (
    JSON,
    NO_SOURCES,
    as_json,
    cited,
    damaged,
    deep,
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

ORIGIN = Document(text=REFUND, id_="doc-refund", metadata={"file_path": "policies/refund.md"})
PART = TextNode(
    text=PIECE,
    id_="node-1",
    start_char_idx=12,
    end_char_idx=42,
    metadata={"file_path": "policies/refund.md", "file_name": "refund.md", "pages": [1]},
    relationships={NodeRelationship.SOURCE: ORIGIN.as_related_node_info()},
    embedding=[0.25, -0.5],
)
WHOLE = Document(text=TRAVEL, id_="doc-travel", metadata={"title": "Travel", "url": "https://a.example/travel"})
SOURCES = map_of(id={"doc-refund": "refund", "doc-travel": "travel"})


def dump(response: Response) -> dict[str, Any]:
    """A Response is a dataclass that holds models; this is how it becomes JSON."""
    fields = {field.name: getattr(response, field.name) for field in dataclasses.fields(response)}
    return as_json({**fields, "source_nodes": [node.model_dump() for node in response.source_nodes]})


def respond(*nodes: BaseNode, text: str | None = "Five days [1].") -> dict[str, Any]:
    return dump(Response(response=text, source_nodes=[NodeWithScore(node=node, score=0.5) for node in nodes]))


VALID = respond(PART, WHOLE)
SCORED = NodeWithScore(node=PART, score=0.5)
NODES: dict[str, Any] = {
    "with score": [SCORED.model_dump()],
    "json": [SCORED.model_dump(mode="json")],
    "by alias": [SCORED.model_dump(by_alias=True)],
    "to_dict": [SCORED.to_dict()],
    "node alone": [PART.model_dump()],
    "text": as_json([SCORED.model_dump()]),
    "node of resources": [
        Node(
            text_resource=MediaResource(text=PIECE),
            relationships={NodeRelationship.SOURCE: ORIGIN.as_related_node_info()},
        ).model_dump()
    ],
    "index node": [IndexNode.from_text_node(PART, "elsewhere").model_dump()],
}


def test_response() -> None:
    reading = read(VALID, SOURCES)
    assert cited(reading) == [("refund", PIECE), ("travel", TRAVEL)]
    assert standing(reading, REGISTRY) == [True, True]
    assert reading.places == ("$.source_nodes[0]", "$.source_nodes[1]")
    assert reading.hints == (Hint(12, 42), None)
    assert prose(reading) == [("Five days [1].", [0, 1])]


@pytest.mark.parametrize("way", NODES)
def test_nodes(way: str) -> None:
    reading = read(NODES[way], SOURCES)
    assert cited(reading) == [("refund", PIECE)]
    assert reading.places == ("$[0]",)
    assert prose(reading) == []


def test_relationship_by_its_name() -> None:
    node = {"text": TRAVEL, "relationships": {"SOURCE": {"node_id": "doc-travel"}}}
    assert cited(read([node], SOURCES)) == [("travel", TRAVEL)]


@pytest.mark.parametrize(
    ("by", "value", "position"),
    [
        ("id", "doc-refund", 0),
        ("id", "node-1", 0),
        ("filename", "policies/refund.md", 0),
        ("filename", "refund.md", 0),
        ("title", "Travel", 1),
        ("uri", "https://a.example/travel", 1),
    ],
)
def test_names_of_a_document(by: str, value: str, position: int) -> None:
    assert cited(read(VALID, map_of(**{by: {value: "s"}})))[position][0] == "s"


def test_metadata_under_its_alias() -> None:
    assert "metadata" not in NODES["by alias"][0]["node"]
    assert cited(read(NODES["by alias"], map_of(filename={"refund.md": "refund"}))) == [("refund", PIECE)]


def test_what_is_not_mapped_is_an_unknown_source() -> None:
    assert [source for source, _ in cited(read(VALID, NO_SOURCES))] == ["id:doc-refund", "id:doc-travel"]


def test_names_that_mean_different_sources() -> None:
    with pytest.raises(InputError) as refused:
        read(VALID, map_of(id={"doc-refund": "refund"}, filename={"refund.md": "travel"}))
    assert (refused.value.code, refused.value.where) == ("adapter.map_conflict", "$.source_nodes[0]")


def citation_nodes(*nodes: TextNode) -> list[BaseNode]:
    """What CitationQueryEngine makes of retrieved nodes."""
    engine: Any = SimpleNamespace(
        _multimodal=False,
        _metadata_mode=MetadataMode.NONE,
        text_splitter=SimpleNamespace(split_text=lambda text: text.split("\n")),
    )
    scored = [NodeWithScore(node=node, score=0.5) for node in nodes]
    return [made.node for made in CitationQueryEngine._create_citation_nodes(engine, scored)]


def test_heading_of_the_citation_query_engine_is_taken_off() -> None:
    wrapped = citation_nodes(PART.model_copy(update={"text": REFUND}))
    assert [node.get_content() for node in wrapped] == [
        "Source 1:\nRefunds are paid within five business days.\n",
        "Source 2:\nThey need a receipt.\n",
    ]
    reading = read(respond(*wrapped), SOURCES)
    assert [source for source, _ in cited(reading)] == ["refund", "refund"]
    assert [excerpt for _, excerpt in cited(reading)] == REFUND.split("\n")
    assert standing(reading, REGISTRY) == [True, True]
    assert reading.hints == (None, None)


@pytest.mark.parametrize(
    ("position", "text", "more"),
    [
        (1, "Source 2:\nx\n", {}),
        (2, "Source 1:\nx\n", {}),
        (1, "Source 1:\nx", {}),
        (1, "Source 1:\n", {}),
        (1, "Source 1: x\n", {}),
        (1, "source 1:\nx\n", {}),
        (1, "Source 01:\nx\n", {}),
        (1, " Source 1:\nx\n", {}),
        (1, "Source 1:\nx\n", {"start_char_idx": 0, "end_char_idx": 12}),
    ],
)
def test_what_may_be_wording_of_the_document_is_not_taken_off(position: int, text: str, more: dict[str, int]) -> None:
    nodes = [PART] * (position - 1) + [TextNode(text=text, **more)]
    assert cited(read(respond(*nodes), SOURCES))[-1] == ("id:" + nodes[-1].node_id, text)


@pytest.mark.parametrize("pair", [(None, None), (-1, 5), (9, 3), ("0", "5"), (0, None), (True, 5)])
def test_wrong_offsets_never_matter(pair: tuple[object, object]) -> None:
    start, end = pair
    answer = replaced(VALID, start, "source_nodes", 0, "node", "start_char_idx")
    reading = read(replaced(answer, end, "source_nodes", 0, "node", "end_char_idx"), SOURCES)
    assert reading.hints[0] is None
    assert cited(reading) == cited(read(VALID, SOURCES))


def test_node_without_text_is_noted() -> None:
    image = ImageNode(image_url="https://a.example/plan.png", id_="i")
    assert cited(read(respond(image, Node(id_="n")), NO_SOURCES)) == [("id:i", ""), ("id:n", "")]


def test_texts_that_differ() -> None:
    answer = respond(WHOLE)
    changed = replaced(answer, "Trains are free.", "source_nodes", 0, "node", "text")
    assert refusal(read, changed) == ("adapter.shape", "$.source_nodes[0].node")


def test_answer_without_citations() -> None:
    assert cited(read([], NO_SOURCES)) == []
    assert cited(read({"response": "x", "source_nodes": None}, NO_SOURCES)) == []
    assert prose(read(respond(text=None), NO_SOURCES)) == []


def test_structured_response_is_no_prose() -> None:
    reading = read(replaced(VALID, {"days": 5}, "response"), SOURCES)
    assert (len(cited(reading)), prose(reading)) == (2, [])


@pytest.mark.parametrize(
    "answer",
    [None, True, 3, "x", {}, {"response": "x"}, PART.model_dump(), ["x"], [{}], [None], [[]], [{"a": 1}]],
)
def test_something_else(answer: object) -> None:
    assert refusal(read, answer)[0] == "adapter.shape"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("response",), ["x"]),
        (("source_nodes",), {}),
        (("source_nodes", 0), "x"),
        (("source_nodes", 0, "node"), []),
        (("source_nodes", 0, "node", "text"), 3),
        (("source_nodes", 0, "node", "id_"), 3),
        (("source_nodes", 0, "node", "metadata"), []),
        (("source_nodes", 0, "node", "relationships"), "x"),
        (("source_nodes", 0, "node", "relationships", "1"), []),
        (("source_nodes", 0, "node", "relationships", "1", "node_id"), 3),
        (("source_nodes", 1, "node", "text_resource"), "x"),
        (("source_nodes", 1, "node", "text_resource", "text"), 3),
    ],
)
def test_wrong_type(path: tuple[str | int, ...], value: object) -> None:
    where = "$" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    assert refusal(read, replaced(VALID, value, *path)) == ("adapter.shape", where)


@pytest.mark.parametrize("value", [3, None, [], "", {"a": 1}])
def test_free_metadata_of_any_type_names_nothing(value: object) -> None:
    answer = replaced(VALID, value, "source_nodes", 1, "node", "metadata", "title")
    assert cited(read(answer, SOURCES)) == cited(read(VALID, SOURCES))


def test_nesting() -> None:
    node = {"text": "x", "metadata": deep("a"), "embedding": deep("a"), "obj": deep("a")}
    assert cited(read([node], NO_SOURCES)) == [("", "x")]
    assert refusal(read, [deep("node")])[0] == "adapter.shape"
    assert refusal(read, [{"text_resource": deep("text")}])[0] == "adapter.shape"


@given(JSON)
def test_any_json(answer: object) -> None:
    read_or_refused(read, answer)


@given(st.one_of(damaged(VALID), damaged(NODES["text"])))
def test_damaged(answer: object) -> None:
    read_or_refused(read, answer)
