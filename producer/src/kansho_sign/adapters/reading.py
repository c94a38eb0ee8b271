"""What an adapter makes of an answer: untrusted evidence, and where it came from (docs/spec/adapters.md).

An adapter only translates. It believes nothing: which source a reference means, the caller's map says; whether an
excerpt stands there, :mod:`kansho_sign.evidence` finds out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kansho_sign.canonical_json import JsonObject
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.schema import validate

__all__ = ["Hint", "Reader", "Reading", "Reference", "SourcesMap"]


@dataclass(frozen=True, slots=True)
class Reference:
    """One way in which an answer names a document: ``by`` is ``index``, ``id``, ``filename``, ``title`` or ``uri``."""

    by: str
    value: str

    def __str__(self) -> str:
        return f"{self.by}:{self.value}"


@dataclass(frozen=True, slots=True)
class Hint:
    """Where a provider says that an excerpt stands in the source: ``[start, end)`` in code points. Never believed."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourcesMap:
    """Which source a reference means; nothing is guessed."""

    sources: Mapping[Reference, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: JsonObject) -> "SourcesMap":
        """From ``kansho.sources-map.v1``. Raises InputError ``schema.violation``, ``adapter.map_duplicate``."""
        validate(value, "sources-map")
        made: dict[Reference, str] = {}
        for position, item in enumerate(value["sources"]):
            reference = Reference(item["by"], item["value"])
            if reference in made:
                why = f"{str(reference)[:80]!a} is mapped twice"
                raise InputError("adapter.map_duplicate", why, f"$.sources[{position}]")
            made[reference] = item["source_id"]
        return cls(made)

    def source_id(self, references: Sequence[Reference], where: str) -> str:
        """The source that one of these references means; where none is mapped, a name that no source has.

        Raises InputError ``adapter.map_conflict`` when two of them mean different sources.
        """
        meant = {self.sources[one] for one in references if one in self.sources}
        if len(meant) > 1:
            why = f"its references mean different sources: {', '.join(str(one)[:80] for one in references)!a}"
            raise InputError("adapter.map_conflict", why, where, "mend the map")
        if meant:
            return meant.pop()
        # A colon stands in no document id, so this is an unknown source, and the finding shows the reference.
        return str(references[0])[: LIMITS.document_code_points] if references else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as ``kansho.answer.v1``; for each item of its evidence the JSON path it came from, and a hint."""

    answer: JsonObject
    places: tuple[str, ...]
    hints: tuple[Hint | None, ...]


def _check_limit(number: int, limit: int, what: str, place: str = "") -> None:
    """As the schema has it, but before more memory is spent."""
    if number > limit:
        raise InputError("limits.items", f"more than {limit} {what}", place)


class Reader:
    """Gathers what an adapter finds in an answer."""

    def __init__(self, sources: SourcesMap) -> None:
        self._sources = sources
        self._evidence: list[JsonObject] = []
        self._annotations: list[JsonObject] = []
        self._places: list[str] = []
        self._hints: list[Hint | None] = []

    def cite(self, references: Sequence[Reference], excerpt: str, place: str, hint: Hint | None = None) -> int:
        """Notes a citation, the most specific reference first; gives its number.

        An empty ``excerpt`` says that the citation gives nothing to check, which is a finding later on. Raises
        InputError ``limits.items``, ``adapter.map_conflict``.
        """
        _check_limit(len(self._evidence) + 1, LIMITS.evidence_items, "pieces of evidence", place)
        self._evidence.append({"source_id": self._sources.source_id(references, place), "excerpt": excerpt})
        self._places.append(place)
        self._hints.append(hint)
        return len(self._evidence) - 1

    def annotate(self, text: str, evidence: Sequence[int] = ()) -> None:
        """Notes the answer's own prose, with the citations that it carried; text of nothing is passed over."""
        if not text:
            return
        numbers = list(dict.fromkeys(evidence))
        _check_limit(len(numbers), LIMITS.evidence_of_an_annotation, "citations of one part of the text")
        _check_limit(len(self._annotations) + 1, LIMITS.annotations, "parts of the text")
        self._annotations.append({"text": text, "evidence": numbers})

    def reading(self) -> Reading:
        """All of it. Raises InputError ``limits.items`` where it is more than an answer may hold."""
        answer: JsonObject = {"schema": "kansho.answer.v1", "evidence": self._evidence}
        if self._annotations:
            answer["annotations"] = self._annotations
        validate(answer, "answer")
        return Reading(answer, tuple(self._places), tuple(self._hints))
