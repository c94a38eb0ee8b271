"""Anthropic: messages of the Messages API, whole or streamed (docs/spec/adapters/anthropic.md)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, SourcesMap
from kansho_sign.adapters.values import check_role, hint, index, location, named, text_of

__all__ = ["read"]

FORMAT = "give a Message {content: [...]}, its content blocks in an array, or all events of its stream in an array"
# Of these a message is made. Other kinds of events may come at any time, and say nothing of its content.
EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)
ERROR = "error"
TEXT_DELTA, CITATIONS_DELTA = "text_delta", "citations_delta"


@dataclass(frozen=True, slots=True)
class _Block:
    """A content block: its text in pieces, and its citations. One that is no text holds neither."""

    is_text: bool
    texts: list[str] = field(default_factory=list)
    citations: list[Node] = field(default_factory=list)


def read(answer: object, sources: SourcesMap) -> Reading:
    """The citations of the text blocks of a message, in their order.

    Raises InputError ``adapter.shape`` where it is no message of the assistant, or a stream that is not whole;
    ``adapter.map_conflict``; ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = Node(answer), Reader(sources)
    for block in _blocks(root):
        numbers = [_citation(reader, citation) for citation in block.citations]
        reader.annotate("".join(block.texts), numbers)
    return reader.reading()


def _blocks(root: Node) -> Iterable[_Block]:
    if type(root.value) is dict:
        check_role(root)
        if (content := root.get("content")) is not None:
            return [_block(block) for block in content.items()]
    elif type(root.value) is list and root.value:
        return _Stream().whole(root) if any(map(_is_event, root.value)) else [_block(block) for block in root.items()]
    raise root.refuse("is no message of Anthropic", FORMAT)


def _is_event(value: object) -> bool:
    kind = value.get("type") if type(value) is dict else None
    return type(kind) is str and (kind in EVENTS or kind == ERROR)


def _block(block: Node) -> _Block:
    """A whole block, or the beginning of one."""
    if block.need("type").string() != "text":
        _cites_nothing(block)
        return _Block(is_text=False)
    citations = block.get("citations")
    texts = [block.need("text").string()]
    return _Block(is_text=True, texts=texts, citations=list(citations.items()) if citations else [])


def _cites_nothing(node: Node) -> None:
    """Passed over is only what holds no citations: in a form of a later day they are not to be lost."""
    citations = node.members().get("citations")
    if type(citations) is list and citations:
        raise node.refuse("holds citations, and is of a type for which they are not known")


def _citation(reader: Reader, citation: Node) -> int:
    """A citation of any type: those of the same name say the same thing in each."""
    members, source = citation.members(), citation.get("source")
    references = index(citation.get("document_index"))
    references += named("id", citation.get("file_id"))
    references += location(source.string(), "id") if source else []
    references += named("uri", citation.get("url"))
    references += named("title", citation.get("document_title")) + named("title", citation.get("title"))
    offsets = hint(members.get("start_char_index"), members.get("end_char_index"))
    return reader.cite(references, text_of(citation.get("cited_text")), citation.path, offsets)


class _Stream:
    """A message that is put together from its events, and refused unless every one of them is in its place."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._is_open = False
        self._has_begun = False
        self._has_ended = False

    def whole(self, events: Node) -> list[_Block]:
        """The blocks of the message."""
        for event in events.items():
            self._take(event)
        if not self._has_ended:
            raise events.refuse("holds no event message_stop: the answer broke off", FORMAT)
        return self._blocks

    def _take(self, event: Node) -> None:
        kind = event.need("type").string()
        if kind == ERROR:
            raise event.refuse("is an error: the answer broke off", "ask again")
        if kind not in EVENTS:
            _cites_nothing(event)
            return
        if self._has_ended or self._has_begun == (kind == "message_start"):
            raise event.refuse(f"is a {kind} out of its order", "give the events of one message, all of them")
        match kind:
            case "message_start":
                self._begin(event.need("message"))
            case "content_block_start":
                self._open(event)
            case "content_block_delta":
                self._add(self._opened(event), event.need("delta"))
            case "content_block_stop":
                self._opened(event)
                self._is_open = False
            case "message_stop":
                self._end(event)
            case _:  # message_delta: why and how the message ended
                pass

    def _begin(self, message: Node) -> None:
        check_role(message)
        content = message.get("content")
        if content is not None and any(content.items()):
            raise content.refuse("must be empty at the start of a stream")
        self._has_begun = True

    def _open(self, event: Node) -> None:
        position = event.need("index")
        if self._is_open:
            raise event.refuse(f"begins a block before block {len(self._blocks) - 1} has ended")
        if position.integer() != len(self._blocks):
            raise position.refuse(f"must be {len(self._blocks)}, the position of the next block")
        self._blocks.append(_block(event.need("content_block")))
        self._is_open = True

    def _opened(self, event: Node) -> _Block:
        position = event.need("index")
        if not self._is_open or position.integer() != len(self._blocks) - 1:
            raise position.refuse("is not the position of the block that has begun and not ended")
        return self._blocks[-1]

    def _add(self, block: _Block, delta: Node) -> None:
        kind = delta.need("type").string()
        if block.is_text != (kind in {TEXT_DELTA, CITATIONS_DELTA}):
            raise delta.refuse("is of a type that does not belong to its block")
        if kind == TEXT_DELTA:
            block.texts.append(delta.need("text").string())
        elif kind == CITATIONS_DELTA:
            block.citations.append(delta.need("citation"))

    def _end(self, event: Node) -> None:
        if self._is_open:
            raise event.refuse(f"ends the message before block {len(self._blocks) - 1} has ended")
        self._has_ended = True
