"""Google Gemini: GenerateContentResponse, whole or streamed (docs/spec/adapters/gemini.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import named, text_of

__all__ = ["read"]

FORMAT = "give a GenerateContentResponse {candidates: [...]}, or all responses of its stream in an array"
KINDS_OF_CHUNKS = (("retrieved_context", "retrievedContext"), ("web",), ("maps",), ("image",))
NAMES_OF_DOCUMENTS = (
    ("id", ("document_name", "documentName")),
    ("id", ("place_id", "placeId")),
    ("uri", ("uri",)),
    ("uri", ("source_uri", "sourceUri")),
    ("uri", ("image_uri", "imageUri")),
    ("title", ("title",)),
)
PROSE, THOUGHT, OTHER = "prose", "thought", "other"
CONTINUATION = "CONTINUATION"  # the finish reason of an answer that another response goes on with
# In UTF-8 a byte with these of its first two bits stands inside of a character (RFC 3629, section 3).
FIRST_TWO_BITS, INSIDE = 0b1100_0000, 0b1000_0000


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What all responses of a stream, or the only one, say of a candidate."""

    kinds: list[str] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    finishes: list[Node] = field(default_factory=list)
    groundings: list[Node] = field(default_factory=list)
    quotations: list[Node] = field(default_factory=list)

    def take(self, candidate: Node, *, streamed: bool) -> None:
        """Adds what one response says."""
        content = candidate.get("content")
        parts = content.get("parts") if content else None
        for part in parts.items() if parts else ():
            self._part(part, streamed=streamed)
        for noted, names in (
            (self.finishes, ("finish_reason", "finishReason")),
            (self.groundings, ("grounding_metadata", "groundingMetadata")),
            (self.quotations, ("citation_metadata", "citationMetadata")),
        ):
            if (found := candidate.get(*names)) is not None:
                noted.append(found)

    def _part(self, part: Node, *, streamed: bool) -> None:
        """A stream tears the text of a part into pieces, so neighbours of a kind are one part again."""
        text, thought = part.get("text"), part.get("thought")
        if thought is not None and type(thought.value) is not bool:
            raise thought.refuse("must be a boolean")
        kind = OTHER if text is None else THOUGHT if thought and thought.value else PROSE
        if streamed and text is not None and self.kinds[-1:] == [kind]:
            self.texts[-1].append(text.string())
        else:
            self.kinds.append(kind)
            self.texts.append([text_of(text)])


def read(answer: object, sources: SourcesMap) -> Reading:
    """The grounding chunks of every candidate, in their order, and what its citation metadata name.

    Raises InputError ``adapter.shape`` where it is no response, one without a candidate, or a stream that broke off;
    ``adapter.map_conflict``; ``limits.items`` where it is more than an answer may hold.
    """
    root, evidence = Node(answer), _Evidence(Reader(sources))
    streamed = type(answer) is list
    if not streamed and type(answer) is not dict:
        raise root.refuse("is no response of Gemini", FORMAT)
    candidates: dict[int, _Candidate] = {}
    for response in root.items() if streamed else [root]:
        if response.get("error") is not None:
            raise response.refuse("is an error: the answer broke off", "ask again")
        listed = response.get("candidates")
        for position, candidate in enumerate(listed.items() if listed else ()):
            # An index of 0 is left out, as everything is that has the default value of its Protocol Buffers type.
            place = candidate.get("index") if streamed else None
            number = place.integer() if place else position
            candidates.setdefault(number, _Candidate()).take(candidate, streamed=streamed)
    if not candidates:
        raise root.refuse("holds no candidate: nothing was answered, or it is no response of Gemini", FORMAT)
    for gathered in candidates.values():
        if streamed and not gathered.finishes:
            raise root.refuse("holds a candidate without an end: the answer broke off", FORMAT)
        _read(evidence, gathered)
    return evidence.reader.reading()


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What is cited, once: a stream may give the same chunk again with each of its responses."""

    reader: Reader
    known: dict[tuple[tuple[Reference, ...], str], int] = field(default_factory=dict)

    def cite(self, references: Sequence[Reference], excerpt: str, place: str) -> int:
        """Its number, and that of the same excerpt of the same document."""
        key = (tuple(references), excerpt)
        if key not in self.known:
            self.known[key] = self.reader.cite(references, excerpt, place)
        return self.known[key]


@dataclass(frozen=True, slots=True)
class _Prose:
    """The text of a part as the bytes that offsets count, and which of them carry which citations."""

    data: bytes
    tied: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def tie(self, start: int, end: int, numbers: Sequence[int]) -> None:
        """The bytes ``[start, end)`` carry these citations."""
        self.tied.setdefault((start, end), []).extend(numbers)

    def holds(self, start: int, end: int, said: str) -> bool:
        """Whether these offsets cut whole characters out, and what they cut is what was said to stand there."""
        if not (0 <= start < end <= len(self.data) and self._is_between(start) and self._is_between(end)):
            return False
        spoken = _bytes(said)
        # The length first: a slice is a copy, and there may be as many long ones as somebody likes.
        return not spoken or (end - start == len(spoken) and self.data[start:end] == spoken)

    def _is_between(self, position: int) -> bool:
        return position == len(self.data) or self.data[position] & FIRST_TWO_BITS != INSIDE

    def annotate(self, reader: Reader) -> None:
        """All of the text, in its order and once: segments that overlap are one, the rest carries nothing."""
        done = 0
        for start, end, numbers in self._apart():
            reader.annotate(_text(self.data[done:start]))
            reader.annotate(_text(self.data[start:end]), numbers)
            done = end
        reader.annotate(_text(self.data[done:]))

    def _apart(self) -> list[tuple[int, int, list[int]]]:
        made: list[tuple[int, int, list[int]]] = []
        for (start, end), numbers in sorted(self.tied.items()):
            if made and start < made[-1][1]:
                before, until, others = made.pop()
                others.extend(numbers)
                made.append((before, max(until, end), others))
            else:
                made.append((start, end, list(numbers)))
        return made


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _read(evidence: _Evidence, candidate: _Candidate) -> None:
    for finish in candidate.finishes:
        if finish.value == CONTINUATION:
            raise finish.refuse("is not the end of the answer", "give the response that the SDK merges")
    prose = {
        position: _Prose(_bytes("".join(texts)))
        for position, (kind, texts) in enumerate(zip(candidate.kinds, candidate.texts, strict=True))
        if kind == PROSE
    }
    elsewhere: dict[str, list[int]] = {}
    chunks: list[list[int]] = []
    for grounding in candidate.groundings:
        listed = grounding.get("grounding_chunks", "groundingChunks")
        chunks = [_chunk(evidence, chunk) for chunk in listed.items()] if listed else chunks
        supports = grounding.get("grounding_supports", "groundingSupports")
        for support in supports.items() if supports else ():
            _support(support, chunks, prose, elsewhere)
    for part in prose.values():
        part.annotate(evidence.reader)
    for text, numbers in elsewhere.items():
        evidence.reader.annotate(text, numbers)
    for quotations in candidate.quotations:
        citations = quotations.get("citations", "citation_sources", "citationSources")
        for citation in citations.items() if citations else ():
            references = named("uri", citation.get("uri")) + named("title", citation.get("title"))
            evidence.cite(references, "", citation.path)


def _chunk(evidence: _Evidence, chunk: Node) -> list[int]:
    """The numbers of a grounding chunk: a chunk is cited whether or not a support says for which words."""
    references: list[Reference] = []
    for names in KINDS_OF_CHUNKS:
        if (kind := chunk.get(*names)) is not None:
            for by, members in NAMES_OF_DOCUMENTS:
                references += named(by, kind.get(*members))
    texts: list[str] = []
    if (context := chunk.get("retrieved_context", "retrievedContext")) is not None:
        texts.append(text_of(context.get("text")))
        if (passage := context.get("rag_chunk", "ragChunk")) is not None:
            references += named("id", passage.get("file_id", "fileId"))
            texts.append(text_of(passage.get("text")))
    excerpts = list(dict.fromkeys(text for text in texts if text))
    return [evidence.cite(references, excerpt, chunk.path) for excerpt in excerpts or [""]]


def _support(support: Node, chunks: list[list[int]], prose: dict[int, _Prose], elsewhere: dict[str, list[int]]) -> None:
    indices = support.get("grounding_chunk_indices", "groundingChunkIndices")
    numbers: list[int] = []
    for place in indices.items() if indices else ():
        if not 0 <= place.integer() < len(chunks):
            raise place.refuse(f"is the position of no grounding chunk, of which there are {len(chunks)}")
        numbers += chunks[place.value]
    segment = support.get("segment")
    if segment is None:  # it does not say which words it supports
        return
    said = text_of(segment.get("text"))
    start, end = (_offset(segment, *names) for names in (("start_index", "startIndex"), ("end_index", "endIndex")))
    found = prose.get(_offset(segment, "part_index", "partIndex"))
    if found and found.holds(start, end, said):
        found.tie(start, end, numbers)
    elif said:
        elsewhere.setdefault(said, []).extend(numbers)
    elif found:
        found.tie(0, len(found.data), numbers)


def _offset(segment: Node, *names: str) -> int:
    """A number that is left out is 0, the default value of its Protocol Buffers type."""
    found = segment.get(*names)
    return found.integer() if found else 0
