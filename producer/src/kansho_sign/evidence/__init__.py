"""Untrusted evidence, checked in process: what an application calls (docs/spec/evidence.md, docs/evidence-library.md).

    registry = make_registry([Source("refund", "document", "Refunds take five days.")])
    result = check(UntrustedAnswer((Evidence("refund", "five days"),)), registry, policy)
    if result.findings: ...            # every refused item, with its place, code and diagnosis
    result.artifact                    # what later stages may use, where the policy asks for one

:func:`require` returns the artifact or raises. Everything here is pure: no files, no clock, no network.
"""

from kansho_sign.evidence.answers import Annotation, Evidence, ProposedText, UntrustedAnswer
from kansho_sign.evidence.artifact import ArtifactSource, CheckedEvidence, VerifiedArtifact
from kansho_sign.evidence.checking import EvidenceRejectedError, Result, check, require
from kansho_sign.evidence.decisions import Decision
from kansho_sign.evidence.diagnosis import Diagnosis, Difference
from kansho_sign.evidence.masking import Masking
from kansho_sign.evidence.matching import Finding, Span
from kansho_sign.evidence.policy import Boundary, Coverage, Policy
from kansho_sign.evidence.sources import Registry, Source, make_registry, read_registry

__all__ = [
    "Annotation",
    "ArtifactSource",
    "Boundary",
    "CheckedEvidence",
    "Coverage",
    "Decision",
    "Diagnosis",
    "Difference",
    "Evidence",
    "EvidenceRejectedError",
    "Finding",
    "Masking",
    "Policy",
    "ProposedText",
    "Registry",
    "Result",
    "Source",
    "Span",
    "UntrustedAnswer",
    "VerifiedArtifact",
    "check",
    "make_registry",
    "read_registry",
    "require",
]
