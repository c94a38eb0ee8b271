"""Reasons: the closed list of codes, the record that carries one, and the one exception of this package.

What each code means and what to do about it stands in :mod:`kansho_verify.explanations` and, made from that, in
``docs/spec/reasons.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["Code", "Reason", "Result", "VerifyError"]


class Result(StrEnum):
    """What a check, a claim or a citation came to (``docs/spec/verification.md``, Verdict)."""

    PASS = "pass"  # noqa: S105 - a result, no password
    FAIL = "fail"
    STALE = "stale"
    UNDECIDED = "undecided"
    NOT_REQUIRED = "not_required"


class Code(StrEnum):
    """Every reason code of the consumer. Codes are stable: a code never changes what it means."""

    LIMITS_BYTES = "limits.bytes"
    LIMITS_ITEMS = "limits.items"
    LIMITS_DEPTH = "limits.depth"
    LIMITS_MEMORY = "limits.memory"
    LIMITS_WORK = "limits.work"
    JSON_BOM = "json.bom"
    JSON_UTF8 = "json.utf8"
    JSON_SYNTAX = "json.syntax"
    JSON_NUMBER = "json.number"
    JSON_INTEGER_RANGE = "json.integer_range"
    JSON_DUPLICATE_KEY = "json.duplicate_key"
    JSON_KEY = "json.key"
    JSON_SURROGATE = "json.surrogate"
    JSON_NOT_CANONICAL = "json.not_canonical"
    SCHEMA_VIOLATION = "schema.violation"
    SCHEMA_NOT_ASCENDING = "schema.not_ascending"
    BASE64URL_INVALID = "base64url.invalid"
    CBOR_MALFORMED = "cbor.malformed"
    CBOR_TYPE = "cbor.type"
    CBOR_NOT_DETERMINISTIC = "cbor.not_deterministic"
    COSE_STRUCTURE = "cose.structure"
    COSE_HEADER_UNKNOWN = "cose.header_unknown"
    COSE_HEADER_MISSING = "cose.header_missing"
    COSE_HEADER_VALUE = "cose.header_value"
    COSE_KID_ORDER = "cose.kid_order"
    TRUST_ROOT_MISSING = "trust_root.missing"
    TRUST_ROOT_EXPIRED = "trust_root.expired"
    TRUST_ROOT_TOO_OLD = "trust_root.too_old"
    TRUST_ROOT_ISSUER_MISMATCH = "trust_root.issuer_mismatch"
    TRUST_ROOT_CORPUS_MISMATCH = "trust_root.corpus_mismatch"
    TRUST_ROOT_THRESHOLD = "trust_root.threshold"
    TRUST_ROOT_KEY_REPEATED = "trust_root.key_repeated"
    KEY_POINT = "key.point"
    KEY_LOW_ORDER = "key.low_order"
    KEY_ALGORITHM = "key.algorithm"
    KEY_REVOKED = "key.revoked"
    KEY_NOT_YET_VALID = "key.not_yet_valid"
    KEY_EXPIRED = "key.expired"
    KEY_RETIRED = "key.retired"
    KEY_RETIRED_NO_TIME = "key.retired_no_time"
    SIGNATURE_INVALID = "signature.invalid"
    SIGNATURE_KEY_UNKNOWN = "signature.key_unknown"
    SIGNATURE_WRONG_ROLE = "signature.wrong_role"
    SIGNATURE_THRESHOLD = "signature.threshold"
    TIME_IN_FUTURE = "time.in_future"
    TIME_TOO_OLD = "time.too_old"
    SECTION_AUDIT_MISSING = "section.audit_missing"
    SECTION_AUDIT_SEALED = "section.audit_sealed"
    SECTION_PUBLIC_HASH_MISMATCH = "section.public_hash_mismatch"
    SECTION_GENERATION_HASH_MISMATCH = "section.generation_hash_mismatch"
    SECTION_ISSUER_MISMATCH = "section.issuer_mismatch"
    SECTION_CORPUS_MISMATCH = "section.corpus_mismatch"
    SECTION_TIME_MISMATCH = "section.time_mismatch"
    SECTION_REGISTRY_MISMATCH = "section.registry_mismatch"
    SECTION_AUTHORIZATION_MISMATCH = "section.authorization_mismatch"
    SECTION_TRACE_MISMATCH = "section.trace_mismatch"
    REQUEST_COMMITMENT_MISMATCH = "request.commitment_mismatch"
    REQUEST_QUESTION_MISSING = "request.question_missing"
    REQUEST_QUESTION_MISMATCH = "request.question_mismatch"
    REQUEST_QUESTION_NOT_CANONICAL = "request.question_not_canonical"
    REQUEST_CHALLENGE_MISMATCH = "request.challenge_mismatch"
    REQUEST_AUDIENCE_MISMATCH = "request.audience_mismatch"
    REQUEST_TENANT_MISMATCH = "request.tenant_mismatch"
    REQUEST_SUBJECT_MISMATCH = "request.subject_mismatch"
    REQUEST_GROUPS_MISMATCH = "request.groups_mismatch"
    STATUS_MISMATCH = "status.mismatch"
    CLAIM_ID_MISMATCH = "claim.id_mismatch"
    CLAIM_DUPLICATE = "claim.duplicate"
    CLAIM_SPAN_MISMATCH = "claim.span_mismatch"
    CLAIM_CITATION_CONFLICT = "claim.citation_conflict"
    CLAIMS_NONE = "claims.none"
    EVIDENCE_UNEXPECTED = "evidence.unexpected"
    EVIDENCE_DECISION_INVALID = "evidence.decision_invalid"
    EVIDENCE_CLAIMS_MISMATCH = "evidence.claims_mismatch"
    POLICY_UNEXPECTED = "policy.unexpected"
    POLICY_SELECTION_INVALID = "policy.selection_invalid"
    POLICY_ROLE_NOT_ALLOWED = "policy.role_not_allowed"
    POLICY_ARTIFACT_MISMATCH = "policy.artifact_mismatch"
    ANNOTATION_NOT_ALLOWED = "annotation.not_allowed"
    ANNOTATION_CLAIM_UNKNOWN = "annotation.claim_unknown"
    ARTIFACT_CLAIM_UNKNOWN = "artifact.claim_unknown"
    ARTIFACT_SOURCE_MISMATCH = "artifact.source_mismatch"
    ARTIFACT_SOURCE_SHORTENED = "artifact.source_shortened"
    ARTIFACT_ORDER_MISMATCH = "artifact.order_mismatch"
    ARTIFACT_EVIDENCE_MISMATCH = "artifact.evidence_mismatch"
    GENERATION_ID_MISMATCH = "generation.id_mismatch"
    GENERATION_FINGERPRINT_MISMATCH = "generation.fingerprint_mismatch"
    GENERATION_CHAIN_INVALID = "generation.chain_invalid"
    GENERATION_GIVEN_MISMATCH = "generation.given_mismatch"
    GENERATION_REQUEST_REGISTRY = "generation.request_registry"
    GENERATION_EXPIRED = "generation.expired"
    GENERATION_SUPERSEDED = "generation.superseded"
    GENERATION_NEWER_THAN_KNOWN = "generation.newer_than_known"
    GENERATION_FORK = "generation.fork"
    GENERATION_CURRENT_UNKNOWN = "generation.current_unknown"
    ACL_NOT_ALLOWED = "acl.not_allowed"
    DOCUMENT_NOT_LISTED = "document.not_listed"
    DOCUMENT_NOT_CITED = "document.not_cited"
    DOCUMENT_PARSER_UNKNOWN = "document.parser_unknown"
    DOCUMENT_PROOF_INVALID = "document.proof_invalid"
    ENTRY_PROOF_INVALID = "entry.proof_invalid"
    ENTRY_ORDER = "entry.order"
    ENTRY_ELEMENTS_INVALID = "entry.elements_invalid"
    ENTRY_DISCLOSURE_MISMATCH = "entry.disclosure_mismatch"
    CITATION_ENTRIES_MISMATCH = "citation.entries_mismatch"
    CITATION_ANCHOR_MISMATCH = "citation.anchor_mismatch"
    CITATION_MISMATCH = "citation.mismatch"
    SELECTION_MISMATCH = "selection.mismatch"
    SELECTION_SUMMARY_INVALID = "selection.summary_invalid"
    SOURCE_NOT_GIVEN = "source.not_given"
    SOURCE_MISSING = "source.missing"
    SOURCE_RAW_HASH_MISMATCH = "source.raw_hash_mismatch"
    SOURCE_CANONICAL_HASH_MISMATCH = "source.canonical_hash_mismatch"
    SOURCE_PROJECTION_UNSUPPORTED = "source.projection_unsupported"
    TEXT_UTF8 = "text.utf8"
    TEXT_NUL = "text.nul"
    TEXT_UNASSIGNED = "text.unassigned"
    TEXT_UNICODE_TOO_OLD = "text.unicode_too_old"
    TEXT_NONSTARTER_RUN = "text.nonstarter_run"
    SPAN_OUT_OF_RANGE = "span.out_of_range"
    SPAN_TEXT_MISMATCH = "span.text_mismatch"
    SPAN_HASH_MISMATCH = "span.hash_mismatch"
    SPAN_OCCURRENCES_MISMATCH = "span.occurrences_mismatch"
    SPAN_EXCERPT_PLACE = "span.excerpt_place"
    SPAN_SURROUNDING_MISMATCH = "span.surrounding_mismatch"
    SPAN_EVIDENCE_LEVEL = "span.evidence_level"
    LIVE_MISSING = "live.missing"
    LIVE_EXPIRED = "live.expired"
    LIVE_CORPUS_MISMATCH = "live.corpus_mismatch"
    LIVE_AUTHORIZATION_CHANGED = "live.authorization_changed"
    LIVE_DOCUMENT_DELETED = "live.document_deleted"
    LIVE_DOCUMENT_BLOCKED = "live.document_blocked"
    LIVE_OLDER_THAN_GENERATION = "live.older_than_generation"
    AUDIT_PACK_MISSING = "audit.pack_missing"
    PIN_UNAVAILABLE = "pin.unavailable"
    PIN_BUNDLE_MISMATCH = "pin.bundle_mismatch"
    PIN_GENERATION_MISMATCH = "pin.generation_mismatch"
    PIN_PIPELINE_MISMATCH = "pin.pipeline_mismatch"
    PIN_AUTHORIZATION_MISMATCH = "pin.authorization_mismatch"
    CHECK_NOT_REACHED = "check.not_reached"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not a plain pass.

    ``path`` is a JSON path into the artifact (``$`` first), empty where the reason is about something else.
    ``detail``, ``expected``, ``found`` and ``hint`` are for people; text of the artifact in them is escaped and
    shortened by whoever makes the reason (:mod:`kansho_verify.escape`).
    """

    code: Code
    path: str = ""
    detail: str = ""
    expected: str | None = None
    found: str | None = None
    hint: str | None = None

    def under(self, prefix: str, about: str = "") -> Reason:
        """The same reason with its path (``$…``) put below ``prefix``, or, without a prefix, told in the detail."""
        inner = self.path.removeprefix("$")
        if prefix:
            return replace(self, path=prefix + inner)
        place = f"{about}, at {self.path}: " if self.path else f"{about}: "
        return replace(self, path="", detail=place + self.detail if about else self.detail)


class VerifyError(Exception):
    """The one exception of this package. It always carries the :class:`Reason`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"{reason.code}: {reason.detail}" if reason.detail else str(reason.code))
        self.reason = reason
