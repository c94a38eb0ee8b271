"""What a model hands over, untrusted in every member (docs/spec/evidence.md)."""

from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.schema import validate
from kansho_sign.strict_json import SURROGATE

__all__ = ["Annotation", "Evidence", "ProposedText", "UntrustedAnswer"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A source that a model names, and what it says stands there."""

    source_id: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a model writes of its own, and the numbers of the evidence that it leans on."""

    text: str
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedText:
    """A source's whole text as a model has it: allowed only where it is the source's."""

    source_id: str
    text: str


def _check_scalars(*texts: str) -> None:
    if any(not text.isascii() and SURROGATE.search(text) for text in texts):
        raise InputError("json.surrogate", "a string holds a lone surrogate")


@dataclass(frozen=True, slots=True)
class UntrustedAnswer:
    """A model's answer. Offsets, orders and everything else that it may say are not read."""

    evidence: tuple[Evidence, ...]
    annotations: tuple[Annotation, ...] = ()
    proposed_texts: tuple[ProposedText, ...] = ()

    def __post_init__(self) -> None:
        """Refuses what no answer can say: InputError ``annotation.evidence`` for an annotation that leans on evidence
        that is not there, ``json.surrogate`` for a string with half a surrogate pair, ``limits.items`` for more
        evidence than a bundle records.
        """
        if len(self.evidence) > LIMITS.evidence_items:
            raise InputError("limits.items", f"more than {LIMITS.evidence_items} pieces of evidence", "$.evidence")
        for item in self.evidence:
            _check_scalars(item.source_id, item.excerpt)
        for one in self.proposed_texts:
            _check_scalars(one.source_id, one.text)
        for position, annotation in enumerate(self.annotations):
            beyond = next((n for n in annotation.evidence if not 0 <= n < len(self.evidence)), None)
            if beyond is not None:
                where = f"$.annotations[{position}].evidence"
                raise InputError("annotation.evidence", f"there is no evidence[{beyond}]", where)

    @classmethod
    def from_json(cls, value: JsonObject) -> "UntrustedAnswer":
        """From ``kansho.answer.v1``. Raises InputError ``schema.violation``, ``annotation.evidence``."""
        validate(value, "answer")
        return cls(
            tuple(Evidence(item["source_id"], item["excerpt"]) for item in value["evidence"]),
            tuple(Annotation(item["text"], tuple(item["evidence"])) for item in value.get("annotations", ())),
            tuple(ProposedText(item["source_id"], item["text"]) for item in value.get("proposed_texts", ())),
        )
