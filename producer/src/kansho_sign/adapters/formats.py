"""The formats that ``attest --format`` reads (docs/spec/adapters.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kansho_sign.adapters import anthropic, bedrock, cohere, gemini, langchain, llamaindex, openai, web_annotation
from kansho_sign.adapters.reading import Hint, Reading, SourcesMap
from kansho_sign.adapters.streams import parse_answer
from kansho_sign.canonical_json import loads
from kansho_sign.evidence import Decision
from kansho_sign.limits import LIMITS
from kansho_sign.schema import validate

__all__ = ["EVIDENCE", "FORMATS", "OffsetNote", "offset_notes", "read_evidence", "read_format"]

EVIDENCE = "evidence"
FORMATS: Mapping[str, Callable[[object, SourcesMap], Reading]] = {
    "anthropic": anthropic.read,
    "bedrock": bedrock.read,
    "openai": openai.read,
    "gemini": gemini.read,
    "cohere": cohere.read,
    "langchain": langchain.read,
    "llamaindex": llamaindex.read,
    "web-annotation": web_annotation.read,
}


@dataclass(frozen=True, slots=True)
class OffsetNote:
    """A provider's offsets are not those of the derived span. They decide nothing; a reader may want to know."""

    path: str
    place: str
    provider: Hint
    derived: tuple[int, int]


def read_evidence(data: bytes) -> Reading:
    """``kansho.answer.v1`` from a file. Raises InputError ``json.*``, ``limits.*``, ``schema.violation``."""
    answer = loads(data, LIMITS.answer_bytes, canonical=False)
    validate(answer, "answer")
    count = len(answer["evidence"])
    return Reading(answer, tuple(f"$.evidence[{number}]" for number in range(count)), (None,) * count)


def read_format(data: bytes, name: str, sources: SourcesMap) -> Reading:
    """An answer in one of ``FORMATS``. Raises InputError ``json.*``, ``limits.*``, ``adapter.*``."""
    return FORMATS[name](parse_answer(data), sources)


def offset_notes(reading: Reading, decisions: Sequence[Decision]) -> list[OffsetNote]:
    """Where a provider's offsets differ from what was derived, for evidence that stands."""
    notes = []
    for place, hint, decision in zip(reading.places, reading.hints, decisions, strict=False):
        if hint is not None and decision.span is not None:
            derived = decision.span.start, decision.span.end
            if derived != (hint.start, hint.end):
                notes.append(OffsetNote(decision.path, place, hint, derived))
    return notes
