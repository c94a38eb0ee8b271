"""Step 7: section to section, and the bundle to the request that the caller made.

``docs/spec/bundle.md`` (Public section, Audit section, Binding) and ``verification.md`` (Request).
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from kansho_verify import identity, text
from kansho_verify.artifact import check_artifact
from kansho_verify.canonical_json import JsonObject
from kansho_verify.escape import shown
from kansho_verify.expectations import Expectations
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.statement import Statement

__all__ = [
    "check_agreement",
    "check_audit_bindings",
    "check_public",
    "check_request",
    "check_request_commitment",
    "check_sealed",
    "commits",
    "question_missing",
]

_PUBLIC = "$.public.payload"
_AUDIT = "$.audit.payload"
_OF_DOCUMENT = (
    "source_uri", "source_version", "media_type", "role", "raw_sha256", "raw_size", "canonical_revision",
    "parse_revision", "coordinate_space",
)  # fmt: skip
_of_document = itemgetter(*_OF_DOCUMENT)
_place = itemgetter("document", "char_start", "char_end")
_TO_THE_LETTER = "Give the question as it was asked: it is compared to the letter, white space and all."


def check_public(public: JsonObject) -> Iterator[Reason]:
    """What the public section must satisfy by itself: claims, citations, annotations, status, artifact."""
    if public["status"] != "answered":
        hint = "there is no answer here to accept; the status says why"
        yield Reason(Code.CLAIMS_NONE, f"{_PUBLIC}.status", f"the status is {public['status']}", hint=hint)
    seen: set[str] = set()
    for i, claim in enumerate(public["claims"]):
        path = f"{_PUBLIC}.claims[{i}]"
        yield from _check_claim(claim, path)
        if claim["claim"] in seen:
            yield Reason(Code.CLAIM_DUPLICATE, f"{path}.claim", "the same claim stands twice")
        seen.add(claim["claim"])
    for i, annotation in enumerate(public.get("annotations_unverified", ())):
        if not seen.issuperset(annotation["claims"]):
            path = f"{_PUBLIC}.annotations_unverified[{i}].claims"
            yield Reason(Code.ANNOTATION_CLAIM_UNKNOWN, path, "an annotation leans on a claim that is not here")
    yield from check_artifact(public)


def check_audit_bindings(public: Statement, audit: Statement, generation: Statement) -> Iterator[Reason]:
    """How the three statements are bound to one another (``docs/spec/bundle.md``, Binding)."""
    shown_by, told_by, held_by = public.payload, audit.payload, generation.payload
    if told_by["public_sha256"] != public.sha256:
        detail = "the audit section speaks of another public section"
        yield _mismatch(
            Code.SECTION_PUBLIC_HASH_MISMATCH,
            f"{_AUDIT}.public_sha256",
            detail,
            public.sha256,
            told_by["public_sha256"],
        )
    if told_by["generation_sha256"] != generation.sha256:
        path = f"{_AUDIT}.generation_sha256"
        detail = "the audit section speaks of another generation statement"
        found = told_by["generation_sha256"]
        yield _mismatch(Code.SECTION_GENERATION_HASH_MISMATCH, path, detail, generation.sha256, found)
    for code, member in ((Code.SECTION_ISSUER_MISMATCH, "issuer"), (Code.SECTION_CORPUS_MISMATCH, "corpus")):
        for other, path in ((told_by, _AUDIT), (held_by, "$.audit.generation.payload")):
            if other[member] != shown_by[member]:
                yield Reason(code, f"{path}.{member}", f"the {member} differs from the public section's")
    yield from _check_times(shown_by, told_by)
    if held_by["registry"] != shown_by["registry"]:
        detail = "the registry differs from the public section's"
        yield Reason(Code.SECTION_REGISTRY_MISMATCH, "$.audit.generation.payload.registry", detail)
    request = told_by["request"]
    commitment = identity.request_commitment(
        audience=request["audience"], question=request["question"], challenge=request["challenge"]
    )
    if commitment != shown_by["request_commitment"]:
        detail = "the public section commits to another request"
        yield Reason(Code.REQUEST_COMMITMENT_MISMATCH, f"{_PUBLIC}.request_commitment", detail)
    trace = identity.trace_id(nonce=told_by["nonce"], request=request, public=shown_by)
    if trace != shown_by["trace_id"]:
        detail = "the trace id is not the one of this public section, request and nonce"
        yield _mismatch(Code.SECTION_TRACE_MISMATCH, f"{_PUBLIC}.trace_id", detail, trace, shown_by["trace_id"])
    failure = None if shown_by["status"] == "answered" else {"code": shown_by["status"]}
    if told_by["failure"] != failure:
        detail = "the failure in the audit section is not the status of the public section"
        yield Reason(Code.STATUS_MISMATCH, f"{_AUDIT}.failure", detail)
    if failure is None and request["authorization_revision"] != held_by["authorization_revision"]:
        path = f"{_AUDIT}.request.authorization_revision"
        detail = "answered under another authorization revision than the generation's"
        yield Reason(Code.SECTION_AUTHORIZATION_MISMATCH, path, detail)


def check_sealed(sealed_for: str | None, public_sha256: str) -> Iterator[Reason]:
    """Whether a sealed audit section says that it is sealed for this public section; None where none is sealed."""
    if sealed_for is not None and sealed_for != public_sha256:
        detail = "the audit section was sealed for another public section"
        path = "$.audit.sealed.public_sha256"
        yield _mismatch(Code.SECTION_PUBLIC_HASH_MISMATCH, path, detail, public_sha256, sealed_for)


def check_agreement(claims: list[JsonObject]) -> Iterator[Reason]:
    """Citations of one document say the same of it, and no place stands twice in a claim.

    For a public section by itself; where there is an audit section, step 9 compares every citation with the record.
    """
    said: dict[str, JsonObject] = {}
    for i, claim in enumerate(claims):
        places = set()
        for j, citation in enumerate(claim["citations"]):
            path = f"{_PUBLIC}.claims[{i}].citations[{j}]"
            if _place(citation) in places:
                yield Reason(Code.CLAIM_CITATION_CONFLICT, path, "one place is cited twice for the same claim")
            places.add(_place(citation))
            first = said.setdefault(citation["document"], citation)
            if _of_document(first) != _of_document(citation):
                member = next(name for name in _OF_DOCUMENT if first[name] != citation[name])
                detail = "another citation of the same document says otherwise"
                yield Reason(Code.CLAIM_CITATION_CONFLICT, f"{path}.{member}", detail)


def check_request(request: JsonObject, expected: Expectations) -> Iterator[Reason]:
    """The audit section's request against the one that the caller made."""
    path = f"{_AUDIT}.request"
    if request["tenant"] != expected.tenant:
        yield _other(Code.REQUEST_TENANT_MISMATCH, path, "tenant", expected.tenant, request["tenant"])
    if set(request["groups"]) != set(expected.groups):
        detail = "the answer was made for other groups"
        hint = "name the groups that you expect, each with --group"
        yield Reason(Code.REQUEST_GROUPS_MISMATCH, f"{path}.groups", detail, hint=hint)
    if request["audience"] != expected.audience:
        yield _other(Code.REQUEST_AUDIENCE_MISMATCH, path, "audience", expected.audience, request["audience"])
    if request["subject"] != expected.subject:
        yield _other(Code.REQUEST_SUBJECT_MISMATCH, path, "subject", expected.subject, request["subject"])
    if expected.challenge is not None and request["challenge"] != expected.challenge:
        yield Reason(Code.REQUEST_CHALLENGE_MISMATCH, f"{path}.challenge", "the answer is to another challenge")
    question = request["question"]
    if question is not None:
        yield from _check_canonical(question, f"{path}.question")
    if expected.question is not None:
        if _asked(expected.question) != question:
            detail = "the answer is to another question"
            yield Reason(Code.REQUEST_QUESTION_MISMATCH, f"{path}.question", detail, hint=_TO_THE_LETTER)
    elif not expected.any_question:
        yield question_missing()


def check_request_commitment(public: JsonObject, expected: Expectations) -> Iterator[Reason]:
    """Without the audit section: the commitment, recomputed where question and challenge were both given."""
    if not commits(expected) or expected.question is None or expected.challenge is None:
        return
    try:
        commitment = identity.request_commitment(
            audience=expected.audience, question=_asked(expected.question), challenge=expected.challenge
        )
    except VerifyError:  # the caller's words are no text at all, so that no bundle commits to them
        commitment = ""
    if commitment != public["request_commitment"]:
        detail = "the answer is to another question, challenge or audience"
        yield Reason(Code.REQUEST_COMMITMENT_MISMATCH, f"{_PUBLIC}.request_commitment", detail)


def commits(expected: Expectations) -> bool:
    """Whether the caller gave enough to recompute the request commitment without an audit section."""
    return expected.question is not None and expected.challenge is not None


def question_missing() -> Reason:
    """The reason for a caller who neither asked nor waived."""
    detail = "no question was given, so that the answer is not bound to one"
    return Reason(Code.REQUEST_QUESTION_MISSING, "", detail, hint="--question TEXT, or --any-question to waive it")


def _check_claim(claim: JsonObject, path: str) -> Iterator[Reason]:
    digest = identity.text_sha256(claim["text"])
    if claim["claim"] != identity.claim_id(digest, claim["citations"]):
        yield Reason(Code.CLAIM_ID_MISMATCH, f"{path}.claim", "the id is not the one of this text and its citations")
    length = len(claim["text"])
    for j, citation in enumerate(claim["citations"]):
        place = f"{path}.citations[{j}]"
        if citation["span_sha256"] != digest:
            detail = "the cited span is not the claim's text"
            yield Reason(Code.CLAIM_SPAN_MISMATCH, f"{place}.span_sha256", detail)
        elif citation["char_end"] - citation["char_start"] != length:
            detail = "the cited span is not as long as the claim's text"
            yield Reason(Code.CLAIM_SPAN_MISMATCH, f"{place}.char_end", detail)


def _check_times(public: JsonObject, audit: JsonObject) -> Iterator[Reason]:
    if audit["issued_at"] != public["issued_at"]:
        detail = "the time of issue differs from the public section's"
        yield Reason(Code.SECTION_TIME_MISMATCH, f"{_AUDIT}.issued_at", detail)


def _check_canonical(question: str, path: str) -> Iterator[Reason]:
    try:
        canonical = text.canonical_string(question, unicode_version=None)
    except VerifyError as error:
        if error.reason.code is Code.TEXT_UNICODE_TOO_OLD:
            yield error.reason.under(path)
            return
        canonical = None
    if canonical != question:
        yield Reason(Code.REQUEST_QUESTION_NOT_CANONICAL, path, "the question is not canonical text")


def _asked(question: str) -> str | None:
    """The caller's question in the form that a bundle holds; one without a canonical form equals no question."""
    try:
        return text.canonical_string(question, unicode_version=None) or None
    except VerifyError:
        return question


def _other(code: Code, path: str, member: str, expected: str | None, found: str | None) -> Reason:
    hint = f"--{member} says which one you expect"
    detail = f"the answer was made for another {member}"
    quoted = [None if value is None else shown(value, 64) for value in (expected, found)]
    return Reason(code, f"{path}.{member}", detail, quoted[0] or "none", quoted[1] or "none", hint)


def _mismatch(code: Code, path: str, detail: str, expected: str, found: str) -> Reason:
    return Reason(code, path, detail, expected, found)
