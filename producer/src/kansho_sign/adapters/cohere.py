"""Cohere: chat responses of API v2, whole or streamed, and of API v1 (docs/spec/adapters/cohere.md)."""

from collections.abc import Iterable, Mapping
from typing import Any

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import check_role, loose, named, text_of

__all__ = ["read"]

FORMAT = (
    "give a chat response of API v2 {message: {content, citations}}, all events of its stream in an array, "
    "or a chat response of API v1 {text, citations, documents}"
)
TEXTS = ("text", "snippet")
NAMES = {"id": "id", "url": "uri", "uri": "uri", "title": "title"}
# Citations of the text; others are of the plan or of the reasoning, which are no prose of the answer.
OF_THE_TEXT = "TEXT_CONTENT"


def read(answer: object, sources: SourcesMap) -> Reading:
    """The sources of every citation of a chat response, in its order.

    Raises InputError ``adapter.shape`` where it is none, or a stream that broke off; ``adapter.map_conflict``;
    ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = Node(answer), Reader(sources)
    if type(answer) is list:
        _stream(reader, root)
        return reader.reading()
    if type(answer) is not dict:
        raise root.refuse("is no chat response of Cohere", FORMAT)
    if (message := root.get("message")) is not None:
        check_role(message)
        content, citations = message.get("content"), message.get("citations")
        blocks = dict(enumerate(text_of(block.get("text")) for block in content.items())) if content else {}
        _annotated(reader, blocks, citations.items() if citations else ())
    elif (text := root.get("text")) is not None:
        _version_1(reader, root, text.string())
    else:
        raise root.refuse("is no chat response of Cohere", FORMAT)
    return reader.reading()


def _annotated(reader: Reader, blocks: Mapping[int, str], citations: Iterable[Node]) -> None:
    """Cites, and ties each citation of the text to its block; to every block where it names none."""
    carried: dict[int, list[int]] = {position: [] for position in blocks}
    for citation in citations:
        sources = citation.get("sources")
        numbers = [_source(reader, one) for one in sources.items()] if sources else []
        numbers = numbers or [reader.cite([], "", citation.path)]
        where = citation.get("content_index")
        position = where.integer() if where else None
        if _of_the_text(citation):
            for one in carried if position is None else carried.keys() & {position}:
                carried[one] += numbers
    for position, text in blocks.items():
        reader.annotate(text, carried[position])


def _of_the_text(citation: Node) -> bool:
    kind = citation.get("type")
    return kind is None or kind.string() == OF_THE_TEXT


def _source(reader: Reader, source: Node) -> int:
    """A source of either kind: a document, or what a tool put out."""
    passage = source.get("document", "tool_output")
    members = passage.members() if passage else {}
    return reader.cite(named("id", source.get("id")) + _names(members), _text(members), source.path)


def _inner(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document as it was handed in may still stand in ``data``."""
    data = members.get("data")
    return data if type(data) is dict else {}


def _names(members: Mapping[str, Any]) -> list[Reference]:
    both = (members, _inner(members))
    return [one for name, by in NAMES.items() for place in both for one in loose(by, place.get(name))]


def _text(members: Mapping[str, Any]) -> str:
    """The passage in a document of free members: what is called a text, or else the only string that is no name."""
    for place in (members, _inner(members)):
        for name in TEXTS:
            if type(place.get(name)) is str:
                return str(place[name])
        strings = [value for name, value in place.items() if type(value) is str and name not in NAMES]
        if strings:
            return strings[0] if len(strings) == 1 else ""
    return ""


def _stream(reader: Reader, events: Node) -> None:
    texts: dict[int, list[str]] = {}
    citations: list[Node] = []
    ended = False
    for event in events.items():
        kind, delta = text_of(event.get("type")), event.get("delta")
        ended = ended or kind == "message-end"
        message = (
            delta.get("message") if delta and kind in {"content-start", "content-delta", "citation-start"} else None
        )
        if message is None:
            continue
        if kind == "citation-start":
            citations.append(message.need("citations"))
        elif (content := message.get("content")) is not None:
            texts.setdefault(event.need("index").integer(), []).append(text_of(content.get("text")))
    if not ended:
        raise events.refuse("holds no event message-end: the answer broke off, or it is no stream of Cohere", FORMAT)
    _annotated(reader, {position: "".join(parts) for position, parts in texts.items()}, citations)


def _version_1(reader: Reader, root: Node, text: str) -> None:
    documents, citations = _documents(root), root.get("citations")
    carried: list[int] = []
    for citation in citations.items() if citations else ():
        ids = citation.get("document_ids")
        numbers = []
        for one in ids.items() if ids else ():
            names, passage = documents.get(one.string(), ([], ""))
            numbers.append(reader.cite(named("id", one) + names, passage, one.path))
        numbers = numbers or [reader.cite([], "", citation.path)]
        carried += numbers if _of_the_text(citation) else []
    reader.annotate(text, carried)


def _documents(root: Node) -> dict[str, tuple[list[Reference], str]]:
    """By its id the other names and the passage of each document."""
    listed = root.get("documents")
    made: dict[str, tuple[list[Reference], str]] = {}
    for document in listed.items() if listed else ():
        read_out = _names(document.members()), _text(document.members())
        if made.setdefault(text_of(document.get("id")), read_out) != read_out:
            raise document.refuse("has the id of another document")
    return made
