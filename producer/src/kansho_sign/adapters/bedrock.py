"""Amazon Bedrock: Converse, ConverseStream and RetrieveAndGenerate (docs/spec/adapters/bedrock.md)."""

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Hint, Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import check_role, hint, index, location, loose, named, text_of

__all__ = ["read"]

FORMAT = (
    "give a Converse response {output: {message: {content}}}, all events of a ConverseStream in an array, "
    "or a RetrieveAndGenerate response {output: {text}, citations}"
)
# The locations that count the documents of the request. Search results are counted apart from them: their position
# is no index of a document, and source and title name them.
DOCUMENT_LOCATIONS = ("documentChar", "documentPage", "documentChunk")
SOURCE_URI_OF_CHUNK = "x-amz-bedrock-kb-source-uri"


def read(answer: object, sources: SourcesMap) -> Reading:
    """The citations of an answer of Bedrock, in the order in which it gives them.

    Raises InputError ``adapter.shape`` where it is none, or a stream that broke off; ``adapter.map_conflict``;
    ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = Node(answer), Reader(sources)
    if type(answer) is list:
        _stream(reader, root)
        return reader.reading()
    if type(answer) is not dict:
        raise root.refuse("is no answer of Amazon Bedrock", FORMAT)
    if "retrievalResults" in answer:
        raise root.refuse("is what Retrieve found, and no answer", FORMAT)
    output, stream = root.get("output"), root.get("stream")
    if stream is not None:
        _stream(reader, stream)
    elif output is None:
        raise root.refuse("is no answer of Amazon Bedrock", FORMAT)
    elif (message := output.get("message")) is not None:
        check_role(message)
        for block in message.need("content").items():
            _block(reader, block)
    else:
        _generated(reader, root, output.need("text").string())
    return reader.reading()


def _block(reader: Reader, block: Node) -> None:
    reader.annotate(text_of(block.get("text")))
    cited = block.get("citationsContent")
    if cited is None:
        return
    citations, content = cited.get("citations"), cited.get("content")
    numbers = [number for one in citations.items() for number in _citation(reader, one)] if citations else []
    for part in content.items() if content else ():
        reader.annotate(text_of(part.get("text")), numbers)


def _citation(reader: Reader, citation: Node) -> list[int]:
    references, offsets = _cited_place(citation)
    source = citation.get("source")
    references += location(source.string(), "id") if source else []
    references += named("title", citation.get("title"))
    content = citation.get("sourceContent")
    excerpts = [text_of(part.get("text")) for part in content.items()] if content else []
    # Offsets of a passage say nothing about where each of its several parts stands.
    only = offsets if len(excerpts) == 1 else None
    return [reader.cite(references, excerpt, citation.path, only) for excerpt in excerpts or [""]]


def _cited_place(citation: Node) -> tuple[list[Reference], Hint | None]:
    place = citation.get("location")
    if place is None:
        return [], None
    references: list[Reference] = []
    for name in DOCUMENT_LOCATIONS:
        if (counted := place.get(name)) is not None:
            references += index(counted.get("documentIndex"))
    if (web := place.get("web")) is not None:
        references += named("uri", web.get("url"))
    characters = place.get("documentChar")
    offsets = characters.members() if characters else {}
    return references, hint(offsets.get("start"), offsets.get("end"))


def _stream(reader: Reader, events: Node) -> None:
    """Text deltas of a block make up its prose; every citation delta is a citation of its own.

    Whether a citation may be spread over several deltas the service does not say, so nothing is put together: a part
    of one stands in the source as well, or else it is a finding.
    """
    prose: dict[int, list[str]] = {}
    carried: dict[int, list[int]] = {}
    ended = False
    for event in events.items():
        if any(name.endswith("Exception") for name in event.members()):
            raise event.refuse("is an error: the answer broke off", "ask again")
        if (start := event.get("messageStart")) is not None:
            check_role(start)
        ended = ended or event.get("messageStop") is not None
        change = event.get("contentBlockDelta")
        if change is None:
            continue
        position, delta = change.need("contentBlockIndex").integer(), change.need("delta")
        prose.setdefault(position, []).append(text_of(delta.get("text")))
        if (citation := delta.get("citation")) is not None:
            carried.setdefault(position, []).extend(_citation(reader, citation))
    if not ended:
        raise events.refuse("holds no event messageStop: the answer broke off, or it is no ConverseStream", FORMAT)
    for position, texts in prose.items():
        reader.annotate("".join(texts), carried.get(position, ()))


def _generated(reader: Reader, root: Node, whole: str) -> None:
    citations = root.get("citations")
    parts: list[str] = []
    numbers: list[int] = []
    for citation in citations.items() if citations else ():
        retrieved = citation.get("retrievedReferences")
        found = [_retrieved(reader, one) for one in retrieved.items()] if retrieved else []
        response = citation.get("generatedResponsePart")
        text = response.get("textResponsePart") if response else None
        parts.append(text_of(text.get("text")) if text else "")
        reader.annotate(parts[-1], found)
        numbers += found
    if "".join(parts) != whole:  # prose beside the parts is not to be lost
        reader.annotate(whole, numbers)


def _retrieved(reader: Reader, found: Node) -> int:
    content, place, metadata = found.get("content"), found.get("location"), found.get("metadata")
    references: list[Reference] = []
    for name in place.members() if place else ():
        # s3Location, webLocation, customDocumentLocation, …: one for each kind of data source.
        if place and name.isascii() and name.isalnum() and name.endswith("Location") and (one := place.get(name)):
            references += named("id", one.get("id")) + named("uri", one.get("uri", "url"))
    references += loose("uri", metadata.members().get(SOURCE_URI_OF_CHUNK)) if metadata else []
    return reader.cite(references, text_of(content.get("text")) if content else "", found.path)
