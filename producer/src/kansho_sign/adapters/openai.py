"""OpenAI: responses of the Responses API, whole or streamed, and chat completions (docs/spec/adapters/openai.md)."""

from collections.abc import Iterable, Sequence

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, SourcesMap
from kansho_sign.adapters.values import check_role, named, text_of

__all__ = ["read"]

FORMAT = (
    "give a response of the Responses API {output: [...]}, all events of its stream in an array, "
    "or a whole chat completion {choices: [...]}"
)
COMPLETED = "completed"
FILE_CITATION = "file_citation"
# Each part of the prose that cites a file carries all chunks of the file: a product of two numbers that anybody may
# choose. As many as an answer holds evidence (schemas/answer.v1.schema.json) are more than any response needs.
MOST_CARRIED = 131_072


class _Files:
    """What file search found: for each id of a file its distinct chunks, in their order; and what was cited of it."""

    def __init__(self, searches: Iterable[Node] = ()) -> None:
        self._chunks: dict[str, dict[str, None]] = {}
        self._names: dict[str, str] = {}
        self._numbers: dict[str, list[int]] = {}
        self._carried = 0
        for search in searches:
            results = search.get("results")
            for result in results.items() if results else ():
                file_id, text = text_of(result.get("file_id")), text_of(result.get("text"))
                if file_id and text:
                    self._chunks.setdefault(file_id, {})[text] = None

    def cite(self, reader: Reader, citation: Node) -> Sequence[int]:
        """Every chunk that was found in the cited file, once for all citations of the file."""
        file_id, name = citation.need("file_id").string(), text_of(citation.get("filename"))
        if self._names.setdefault(file_id, name) != name:
            raise citation.refuse("gives the file another name than an earlier citation of it")
        if file_id not in self._numbers:
            references = named("id", citation.get("file_id")) + named("filename", citation.get("filename"))
            chunks = self._chunks.get(file_id) or [""]
            self._numbers[file_id] = [reader.cite(references, chunk, citation.path) for chunk in chunks]
        self._carried += len(self._numbers[file_id])
        if self._carried > MOST_CARRIED:
            raise citation.refuse(f"is one of citations that carry more than {MOST_CARRIED} chunks")
        return self._numbers[file_id]


def read(answer: object, sources: SourcesMap) -> Reading:
    """The citations of a response or of the choices of a chat completion, in their order.

    Raises InputError ``adapter.shape`` where it is neither, or a response that was not completed;
    ``adapter.map_conflict``; ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = Node(answer), Reader(sources)
    if type(answer) is list:
        root = _completed(root)
    if type(root.value) is not dict:
        raise root.refuse("is no answer of OpenAI", FORMAT)
    if (output := root.get("output")) is not None:
        _response(reader, root, output)
    elif (choices := root.get("choices")) is not None:
        for choice in choices.items():
            message = choice.need("message")
            check_role(message)
            _prose(reader, message, message.get("content"), _Files())
    else:
        raise root.refuse("is no answer of OpenAI", FORMAT)
    return reader.reading()


def _completed(events: Node) -> Node:
    """The response that the last of its events carries whole."""
    found: list[Node] = []
    for event in events.items():
        kind = text_of(event.get("type"))
        if kind == "error":
            raise event.refuse("is an error: the answer broke off", "ask again")
        if kind == "response.completed":
            found.append(event.need("response"))
    if len(found) != 1:
        raise events.refuse(f"holds {len(found)} events response.completed, and must hold one", FORMAT)
    return found[0]


def _response(reader: Reader, root: Node, output: Node) -> None:
    status = root.get("status")
    if status is not None and status.string() != COMPLETED:
        raise status.refuse("is not the status of a completed response", "ask again")
    items = [(item.need("type").string(), item) for item in output.items()]
    files = _Files(item for kind, item in items if kind == "file_search_call")
    for kind, item in items:
        if kind == "message":
            check_role(item)
            for part in item.need("content").items():
                _prose(reader, part, part.get("text"), files)


def _prose(reader: Reader, holder: Node, text: Node | None, files: _Files) -> None:
    """The text of a part or of a message with all its annotations, and the model's words where it refused to answer."""
    annotations = holder.get("annotations")
    numbers: list[int] = []
    files_there: set[tuple[str, str]] = set()
    for annotation in annotations.items() if annotations else ():
        if annotation.need("type").string() != FILE_CITATION:
            numbers.append(_other(reader, annotation))
            continue
        cited = text_of(annotation.get("file_id")), text_of(annotation.get("filename"))
        if cited not in files_there:
            files_there.add(cited)
            numbers += files.cite(reader, annotation)
    reader.annotate(text_of(text), numbers)
    reader.annotate(text_of(holder.get("refusal")))


def _other(reader: Reader, annotation: Node) -> int:
    """A citation of any other type: none of them comes with a text of its source."""
    named_there = annotation.get("url_citation") or annotation  # chat completions nest it
    references = named("id", named_there.get("file_id")) + named("filename", named_there.get("filename"))
    references += named("uri", named_there.get("url")) + named("title", named_there.get("title"))
    return reader.cite(references, "", annotation.path)
