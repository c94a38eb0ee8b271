"""The VerifiedArtifact: what later stages may use, and nothing else (docs/spec/evidence.md, VerifiedArtifact)."""

from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject
from kansho_sign.evidence.answers import Annotation
from kansho_sign.evidence.policy import Coverage
from kansho_sign.text import sha256_text

__all__ = ["ArtifactSource", "CheckedEvidence", "VerifiedArtifact"]


@dataclass(frozen=True, slots=True)
class ArtifactSource:
    """A selected source, whole: ``text`` is its canonical text from the registry."""

    source_id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckedEvidence:
    """Wording that stands in the source at ``[start, end)``, in code points of its canonical text."""

    source_id: str
    start: int
    end: int
    text: str
    occurrences: int


@dataclass(frozen=True, slots=True)
class VerifiedArtifact:
    """Made here, from the registry alone. ``order`` is that of materialisation, ``source_order`` one of encounter.

    ``sources`` is empty under ``selected_evidence``. ``annotations_unverified`` is what a model wrote; its numbers are
    those of ``evidence``. None unless the policy asks.
    """

    coverage: Coverage
    order: tuple[str, ...]
    source_order: tuple[str, ...]
    sources: tuple[ArtifactSource, ...]
    evidence: tuple[CheckedEvidence, ...]
    annotations_unverified: tuple[Annotation, ...] | None = None

    @property
    def kind(self) -> str:
        """Always ``verified_artifact``."""
        return "verified_artifact"

    def to_json(self) -> JsonObject:
        """As a value of canonical JSON."""
        made: JsonObject = {
            "kind": self.kind,
            "coverage": str(self.coverage),
            "order": list(self.order),
            "source_order": list(self.source_order),
            "sources": [{"source_id": one.source_id, "role": one.role, "text": one.text} for one in self.sources],
            "evidence": [
                {
                    "source_id": one.source_id,
                    "text": one.text,
                    "char_start": one.start,
                    "char_end": one.end,
                    "span_sha256": sha256_text(one.text),
                    "occurrences": one.occurrences,
                }
                for one in self.evidence
            ],
        }
        if self.annotations_unverified is not None:
            made["annotations_unverified"] = [
                {"text": one.text, "evidence": list(one.evidence)} for one in self.annotations_unverified
            ]
        return made
