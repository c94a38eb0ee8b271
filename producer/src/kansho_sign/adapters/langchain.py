"""LangChain: retrieved documents, answers of chains, messages with citations (docs/spec/adapters/langchain.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import hint, location, loose, loose_index, named, text_of

__all__ = ["read"]

FORMAT = (
    "give an array of Documents or of content blocks, an AIMessage, "
    "or what a chain returns {context or source_documents, answer or result}"
)
DOCUMENTS = ("context", "source_documents", "input_documents")
ANSWERS = ("answer", "result", "output_text")
AI_MESSAGES = frozenset({"ai", "AIMessageChunk"})
ESCAPED = "__lc_escaped__"


def read(answer: object, sources: SourcesMap) -> Reading:
    """The documents that were retrieved, and the citations in a message, in their order.

    Raises InputError ``adapter.shape`` where it is none of the shapes, or a message whose citations are in a provider's
    own shape; ``adapter.map_conflict``; ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = _plain(Node(answer)), Reader(sources)
    if type(root.value) is list:
        for item in root.items():
            _item(reader, _plain(item))
    elif type(root.value) is not dict:
        raise root.refuse("is none of LangChain's answers", FORMAT)
    elif _is_message(root):
        _message(reader, root, ())
    elif any(name in root.value for name in (*DOCUMENTS, *ANSWERS)):
        _chain(reader, root)
    else:
        raise root.refuse("is none of LangChain's answers", FORMAT)
    return reader.reading()


def _plain(node: Node) -> Node:
    """What stands inside the envelope that ``dumpd`` puts around its own classes."""
    if type(node.value) is not dict or "lc" not in node.value:
        return node
    if node.value.get("type") != "constructor":
        raise node.refuse("is something that LangChain could not serialise")
    inner = node.need("kwargs")
    inner.members()  # of an object of a class, never an array of them
    return inner


def _is_message(node: Node) -> bool:
    kind = node.members().get("type")
    return type(kind) is str and kind in AI_MESSAGES


def _item(reader: Reader, item: Node) -> None:
    if "page_content" in item.members():
        _document(reader, item)
    elif _is_message(item):
        _message(reader, item, ())
    elif "type" not in item.value or "content" in item.value or "data" in item.value:
        # A message of somebody else, or anything: passed over, its citations would be lost.
        raise item.refuse("is no Document, AIMessage or content block", FORMAT)
    else:
        _block(reader, item, ())


def _document(reader: Reader, document: Node) -> int:
    text = document.need("page_content").string()
    metadata = _metadata(document)
    references = named("id", document.get("id"))
    references += location(metadata.get("source"), "filename")
    references += loose("title", metadata.get("title"))
    start = metadata.get("start_index")
    offsets = hint(start, start + len(text)) if type(start) is int else None
    return reader.cite(references, text, document.path, offsets)


def _metadata(document: Node) -> Mapping[str, Any]:
    found = document.get("metadata")
    members = found.members() if found else {}
    inner = members.get(ESCAPED)
    # Metadata with a member "lc" is escaped, so that it does not look like one of LangChain's classes.
    return inner if len(members) == 1 and type(inner) is dict else members


def _chain(reader: Reader, root: Node) -> None:
    numbers = [
        _document(reader, _plain(document))
        for name in DOCUMENTS
        if (documents := root.get(name)) is not None
        for document in documents.items()
    ]
    for name in ANSWERS:
        answer = root.get(name)
        if answer is None:
            continue
        answer = _plain(answer)
        if type(answer.value) is not dict:
            _content(reader, answer, numbers)
        elif _is_message(answer):
            _message(reader, answer, numbers)
        else:
            raise answer.refuse("must be a text, content blocks or an AIMessage")


def _message(reader: Reader, message: Node, carried: Sequence[int]) -> None:
    body = message.get("data") or message
    _content(reader, body.need("content"), carried)


def _content(reader: Reader, content: Node, carried: Sequence[int]) -> None:
    if type(content.value) is not list:
        reader.annotate(content.string(), carried)
        return
    for block in content.items():
        if type(block.value) is str:
            reader.annotate(block.value, carried)
        else:
            _block(reader, block, carried)


def _block(reader: Reader, block: Node, carried: Sequence[int]) -> None:
    if block.get("citations") is not None:
        raise block.refuse("has citations in the provider's own shape", "give message.content_blocks")
    annotations = block.get("annotations")
    numbers = [_citation(reader, one) for one in annotations.items()] if annotations else []
    if text_of(block.get("type")) == "text":
        reader.annotate(text_of(block.get("text")), [*carried, *numbers])


def _citation(reader: Reader, annotation: Node) -> int:
    """``start_index`` and ``end_index`` count the characters of the answer, so they are no hints."""
    if text_of(annotation.get("type")) != "citation":
        # It may cite, in a way that is no part of this format: nothing to check, and so a finding.
        return reader.cite([], "", annotation.path)
    references = named("uri", annotation.get("url"))
    if (extras := annotation.get("extras")) is not None:
        references = _extra_names(extras.members()) + references
    references += named("title", annotation.get("title"))
    return reader.cite(references, text_of(annotation.get("cited_text")), annotation.path)


def _extra_names(extras: Mapping[str, Any]) -> list[Reference]:
    """How providers name a document where LangChain has no member for it."""
    return loose_index(extras.get("document_index")) + loose("uri", extras.get("source"))
