"""One attack, or one lack, for every reason code. The forger signs everything again after the change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from kansho_verify import Code, Pins, Verdict, spans, strict_json, text
from kansho_verify.limits import Limits
from tests.consumer.checking import AUDIT, PUBLIC, check, check_bytes
from tests.support import forge as forging
from tests.support.forge import FAQ, HIDDEN, NOW, REFUND, Doc, Forge, TestKey, apply, b64, canonical, seal_self_hash

REFUND_ID = REFUND.document
ONE_EXCERPT = [(REFUND_ID, "five business")]
LOW_ORDER_KEY = bytes(32)  # y = 0: a point of order 4
NOT_ON_CURVE = (2).to_bytes(32, "little")


@dataclass(frozen=True)
class Attack:
    """``run`` makes the verdict, in whose checks ``code`` must stand."""

    name: str
    code: Code
    run: Callable[[], Verdict]


ATTACKS: list[Attack] = []


def attack(code: Code) -> Callable[[Callable[[], Verdict]], Callable[[], Verdict]]:
    """Enter a function as an attack under its name."""

    def enter(function: Callable[[], Verdict]) -> Callable[[], Verdict]:
        ATTACKS.append(Attack(function.__name__, code, function))
        return function

    return enter


def enter(name: str, code: Code, run: Callable[[], Verdict]) -> None:
    """Enter an attack that fits into one expression."""
    ATTACKS.append(Attack(name, code, run))


def change(**members: Any) -> Callable[[Any], None]:
    """A hook that sets members of an object."""

    def hook(value: Any) -> None:
        value.update(members)

    return hook


def hooked(options: dict[str, Any] | None = None, /, **hooks: Any) -> Forge:
    """A forger with these hooks; a double underscore in a name is a colon."""
    named = {name.replace("__", ":"): hook for name, hook in hooks.items()}
    return Forge(hooks=named, **(options or {}))


def cited(**members: Any) -> Callable[[], Verdict]:
    """The verdict when members of the citation of an excerpt are changed."""
    return lambda: check(hooked({"excerpts": ONE_EXCERPT}, citation=change(**members)))


def _replace(data: bytes, old: bytes, new: bytes) -> bytes:
    if old not in data:
        raise RuntimeError("nothing to replace")
    return data.replace(old, new, 1)


def _tampered(old: bytes, new: bytes) -> Callable[[], Verdict]:
    return lambda: check_bytes(_replace(Forge().bundle_bytes, old, new))


def _with_signature(signature: str) -> Verdict:
    made = Forge()
    bundle = copy.deepcopy(made.bundle)
    bundle["public"]["signatures"] = [signature]
    return check(made, data=canonical(seal_self_hash(bundle)))


def _signed_with(**hooks: Any) -> Callable[[], Verdict]:
    return lambda: check(hooked(sign__public=hooks))


def _keyed(role: str, **settings: Any) -> Callable[[], Verdict]:
    return lambda: check(Forge(keys={role: settings}))


def _source(raw: bytes, shown: str, version: str = "15.0.0") -> Verdict:
    doc = Doc(REFUND_ID, shown, ["word"], raw=raw)
    pipeline = {**forging.PIPELINE, "unicode_version": version}
    return check(
        hooked({"docs": (doc,), "excerpts": [(REFUND_ID, "word")]}, generation_parts=change(pipeline=pipeline))
    )


# limits, json

enter("a_bundle_beyond_the_limit", Code.LIMITS_BYTES, lambda: _small_limits(bundle_bytes=100))
enter("more_items_than_the_limit", Code.LIMITS_ITEMS, lambda: check_bytes(b"[" + b"0," * 2**24 + b"0]"))
enter("arrays_nested_too_deep", Code.LIMITS_DEPTH, lambda: check_bytes(b"[" * 40 + b"]" * 40))
enter("a_byte_order_mark", Code.JSON_BOM, lambda: check_bytes(b"\xef\xbb\xbf" + Forge().bundle_bytes))
enter("latin_1", Code.JSON_UTF8, _tampered(b"Test issuer", b"Test \xe9ssuer"))
enter("a_comma_too_many", Code.JSON_SYNTAX, _tampered(b"{", b"{,"))
enter("a_float_that_equals_an_integer", Code.JSON_NUMBER, _tampered(b'"char_start":11,', b'"char_start":11.0,'))
enter(
    "an_integer_beyond_2_53", Code.JSON_INTEGER_RANGE, _tampered(b'"char_start":11,', b'"char_start":9007199254740993,')
)
enter(
    "a_member_twice",
    Code.JSON_DUPLICATE_KEY,
    _tampered(b'"status":"answered"', b'"status":"answered","status":"answered"'),
)
enter("a_member_name_with_a_capital", Code.JSON_KEY, _tampered(b'"media_type"', b'"Media_type"'))
enter("a_lone_surrogate", Code.JSON_SURROGATE, _tampered(b"Test issuer", b"Test \\ud800"))
enter("white_space_added", Code.JSON_NOT_CANONICAL, _tampered(b"{", b"{ "))


@attack(Code.LIMITS_MEMORY)
def memory_runs_out() -> Verdict:
    made = Forge()
    with mock.patch.object(strict_json, "_check_size", side_effect=MemoryError):
        return check(made)


@attack(Code.LIMITS_WORK)
def texts_that_are_counted_without_end() -> Verdict:
    made = Forge()
    with mock.patch.object(spans, "LIMITS", Limits(work_chars=10)):
        return check(made)


def _small_limits(**limits: int) -> Verdict:
    made = Forge()
    with mock.patch("kansho_verify.verify.LIMITS", Limits(**limits)):
        return check(made)


# schema

enter("a_member_that_no_schema_knows", Code.SCHEMA_VIOLATION, lambda: check(hooked(public=change(verified=True))))
enter(
    "groups_out_of_order", Code.SCHEMA_NOT_ASCENDING, lambda: check(hooked(request=change(groups=["staff", "public"])))
)

# envelope

enter("padding_in_base64url", Code.BASE64URL_INVALID, lambda: _with_signature("AB"))
enter("an_envelope_cut_short", Code.CBOR_MALFORMED, _signed_with(envelope=lambda raw: raw[:-1]))
enter("a_tag_inside_the_envelope", Code.CBOR_TYPE, _signed_with(cose=lambda parts: [parts[0], (35, "a"), *parts[2:]]))
enter(
    "a_length_in_more_bytes_than_needed",
    Code.CBOR_NOT_DETERMINISTIC,
    _signed_with(cose=lambda parts: [*parts[:3], bytearray(b"\x59\x00\x40" + parts[3])]),
)
enter("an_untagged_envelope", Code.COSE_STRUCTURE, _signed_with(envelope=lambda raw: raw[1:]))
enter(
    "a_payload_inside_the_envelope", Code.COSE_STRUCTURE, _signed_with(cose=lambda parts: [*parts[:2], b"x", parts[3]])
)
enter("an_unprotected_header", Code.COSE_STRUCTURE, _signed_with(cose=lambda parts: [parts[0], {4: b"x"}, *parts[2:]]))
enter("a_content_type_label", Code.COSE_HEADER_UNKNOWN, _signed_with(header=lambda header: header | {3: "text/plain"}))
enter(
    "no_kid", Code.COSE_HEADER_MISSING, _signed_with(header=lambda header: {k: v for k, v in header.items() if k != 4})
)
enter(
    "another_issuer_in_the_header",
    Code.COSE_HEADER_VALUE,
    _signed_with(header=lambda h: h | {15: h[15] | {1: "Other"}}),
)
enter(
    "another_media_type_in_the_header",
    Code.COSE_HEADER_VALUE,
    _signed_with(header=lambda h: h | {259: "application/vnd.kansho.audit.v1+json"}),
)
enter("true_for_the_integer_one", Code.COSE_HEADER_VALUE, _signed_with(header=lambda h: h | {1: -7}))


@attack(Code.COSE_KID_ORDER)
def one_key_signs_twice() -> Verdict:
    key = TestKey("citation")
    twice = [b64(forging.envelope(payload, key)) for payload in [Forge().public["payload"]] * 2]
    made = Forge()
    bundle = copy.deepcopy(made.bundle)
    other = b64(forging.envelope(made.public["payload"], TestKey("another")))
    ordered = sorted([twice[0], other], key=lambda text: text != twice[0])
    kids = [key.kid, TestKey("another").kid]
    bundle["public"]["signatures"] = ordered if kids[0] > kids[1] else ordered[::-1]
    return check(made, data=canonical(seal_self_hash(bundle)))


def _signed_by(name: str) -> Verdict:
    made = Forge()
    bundle = copy.deepcopy(made.bundle)
    bundle["public"] = forging.sign(made.public["payload"], [TestKey(name)])
    return check(made, data=canonical(seal_self_hash(bundle)))


def _half_signed() -> Verdict:
    made = Forge(signers={"citation": [TestKey("citation"), TestKey("second")]})
    bundle = copy.deepcopy(made.bundle)
    del bundle["public"]["signatures"][0]
    return check(made, data=canonical(seal_self_hash(bundle)))


# trust root, keys, signatures, time

enter("no_trust_root", Code.TRUST_ROOT_MISSING, lambda: check(Forge(), trust_root=None))
enter("an_expired_trust_root", Code.TRUST_ROOT_EXPIRED, lambda: check(hooked(trust_root=change(expires_at=NOW - 1))))
enter(
    "a_trust_root_that_was_replaced",
    Code.TRUST_ROOT_TOO_OLD,
    lambda: check(hooked(live=change(minimum_trust_root_version=4))),
)
enter(
    "another_issuers_trust_root",
    Code.TRUST_ROOT_ISSUER_MISMATCH,
    lambda: check(hooked(trust_root=change(issuer="Other"))),
)
enter(
    "another_corpus_trust_root",
    Code.TRUST_ROOT_CORPUS_MISMATCH,
    lambda: check(hooked(trust_root=change(corpus="f" * 32))),
)


def _roles(edit: Callable[[Any], None]) -> Callable[[], Verdict]:
    return lambda: check(hooked(trust_root=lambda payload: edit(payload["roles"])))


enter("a_threshold_nobody_reaches", Code.TRUST_ROOT_THRESHOLD, _roles(lambda roles: roles["live"].update(threshold=2)))
enter(
    "one_key_in_two_roles",
    Code.TRUST_ROOT_KEY_REPEATED,
    _roles(lambda roles: roles["audit"].update(keys=roles["citation"]["keys"])),
)
enter(
    "a_key_off_the_curve", Code.KEY_POINT, _roles(lambda r: r["live"]["keys"][0].update(public_key=b64(NOT_ON_CURVE)))
)
enter(
    "a_key_of_low_order",
    Code.KEY_LOW_ORDER,
    _roles(lambda r: r["live"]["keys"][0].update(public_key=b64(LOW_ORDER_KEY))),
)
enter("an_old_algorithm_name", Code.KEY_ALGORITHM, _signed_with(header=lambda header: header | {1: -8}))
enter("a_revoked_key", Code.KEY_REVOKED, _keyed("citation", revoked_at=NOW + 1_000))
enter("issued_before_the_key", Code.KEY_NOT_YET_VALID, _keyed("citation", not_before=NOW))
enter("issued_after_the_key", Code.KEY_EXPIRED, _keyed("citation", not_after=NOW - 200))
enter("issued_after_retirement", Code.KEY_RETIRED, _keyed("citation", retired_at=NOW - 100))
enter("retired_since", Code.KEY_RETIRED_NO_TIME, _keyed("citation", retired_at=NOW - 50))
enter(
    "a_text_changed_after_signing", Code.SIGNATURE_INVALID, _tampered(b'five business days."', b'nine business days."')
)
enter("an_unknown_key_signs", Code.SIGNATURE_KEY_UNKNOWN, lambda: _signed_by("stranger"))
enter("the_live_key_signs_citations", Code.SIGNATURE_WRONG_ROLE, lambda: _signed_by("live"))
enter("one_of_two_keys_signs", Code.SIGNATURE_THRESHOLD, _half_signed)
enter("a_bundle_from_the_future", Code.TIME_IN_FUTURE, lambda: check(Forge(), now=NOW - 100 - 301))
enter("an_old_answer", Code.TIME_TOO_OLD, lambda: check(Forge(), expected={"max_age": 99}))


# sections, request, status

enter(
    "the_audit_section_taken_away",
    Code.SECTION_AUDIT_MISSING,
    lambda: check(hooked(bundle=lambda bundle: bundle.pop("audit") and None)),
)
enter(
    "the_audit_section_of_another_answer",
    Code.SECTION_PUBLIC_HASH_MISMATCH,
    lambda: check(hooked(audit=change(public_sha256="0" * 64))),
)
enter(
    "another_generation_beside_it",
    Code.SECTION_GENERATION_HASH_MISMATCH,
    lambda: check(hooked(audit=change(generation_sha256="0" * 64))),
)
enter("sections_of_two_issuers", Code.SECTION_ISSUER_MISMATCH, lambda: check(hooked(audit=change(issuer="Other"))))
enter(
    "sections_of_two_corpora", Code.SECTION_CORPUS_MISMATCH, lambda: check(hooked(generation=change(corpus="f" * 32)))
)
enter("sections_of_two_times", Code.SECTION_TIME_MISMATCH, lambda: check(hooked(audit=change(issued_at=NOW - 99))))
enter(
    "a_request_registry_shown_as_published",
    Code.SECTION_REGISTRY_MISMATCH,
    lambda: check(hooked({"registry": "request"}, public=change(registry="published"))),
)
enter(
    "another_authorization_than_the_generations",
    Code.SECTION_AUTHORIZATION_MISMATCH,
    lambda: check(hooked(request=change(authorization_revision="auth-2"))),
)
enter("another_trace", Code.SECTION_TRACE_MISMATCH, lambda: check(hooked(public_signed=change(trace_id="0" * 64))))
enter(
    "a_commitment_to_another_request",
    Code.REQUEST_COMMITMENT_MISMATCH,
    lambda: check(hooked(public=change(request_commitment="0" * 64))),
)
enter("no_question_given", Code.REQUEST_QUESTION_MISSING, lambda: check(Forge(), expected={"question": None}))
enter(
    "served_for_another_question", Code.REQUEST_QUESTION_MISMATCH, lambda: check(Forge(), expected={"question": "Why?"})
)
enter(
    "a_question_that_is_not_canonical",
    Code.REQUEST_QUESTION_NOT_CANONICAL,
    lambda: check(Forge(question="a\r\nb"), expected={"question": None, "any_question": True}),
)
enter(
    "replayed_for_another_challenge",
    Code.REQUEST_CHALLENGE_MISMATCH,
    lambda: check(Forge(), expected={"challenge": "0" * 64}),
)
enter(
    "served_to_another_audience", Code.REQUEST_AUDIENCE_MISMATCH, lambda: check(Forge(), expected={"audience": "shop"})
)
enter("another_tenants_answer", Code.REQUEST_TENANT_MISMATCH, lambda: check(Forge(), expected={"tenant": "other"}))
enter("another_subjects_answer", Code.REQUEST_SUBJECT_MISMATCH, lambda: check(Forge(), expected={"subject": "eve"}))
enter("other_groups_answer", Code.REQUEST_GROUPS_MISMATCH, lambda: check(Forge(), expected={"groups": ("staff",)}))
enter(
    "a_failure_beside_an_answer",
    Code.STATUS_MISMATCH,
    lambda: check(hooked({"status": "insufficient_evidence"}, audit=change(failure={"code": "retrieval_unavailable"}))),
)
enter("an_answer_without_claims", Code.CLAIMS_NONE, lambda: check(Forge(status="insufficient_evidence")))

SEALED = {
    "suite": "kansho-seal-v1",
    "salt": "0" * 64,
    "commitment": "0" * 64,
    "public_sha256": forging.sha(canonical(Forge().public["payload"])),
    "recipients": [{"recipient": "0" * 64, "kem": 32, "encapsulated_key": "AA", "wrapped_key": "A" * 64}],
    "ciphertext": "AA",
}
enter(
    "a_sealed_audit_section", Code.SECTION_AUDIT_SEALED, lambda: check(hooked(bundle=change(audit={"sealed": SEALED})))
)
enter(
    "an_audit_section_sealed_for_another_answer",
    Code.SECTION_PUBLIC_HASH_MISMATCH,
    lambda: check(hooked(bundle=change(audit={"sealed": {**SEALED, "public_sha256": "0" * 64}}))),
)

# claims, evidence, policy, annotations; the artifact has a module of its own


def _claims(edit: Callable[[Any], Any]) -> Callable[[], Verdict]:
    return lambda: check(hooked(claims=edit))


enter(
    "a_claim_under_another_id",
    Code.CLAIM_ID_MISMATCH,
    _claims(lambda claims: claims[0].update(claim="clm_" + "0" * 64)),
)
enter("a_claim_twice", Code.CLAIM_DUPLICATE, _claims(lambda claims: [*claims, claims[0]]))
enter(
    "one_place_cited_twice",
    Code.CLAIM_CITATION_CONFLICT,
    lambda: check(hooked({"excerpts": ONE_EXCERPT}, citations=lambda citations: citations * 2), profile=PUBLIC),
)
enter("a_longer_span_than_the_text", Code.CLAIM_SPAN_MISMATCH, cited(char_end=60))
enter("another_hash_than_the_texts", Code.CLAIM_SPAN_MISMATCH, cited(span_sha256="0" * 64))

DECISION = {
    "path": "evidence[0].excerpt",
    "source_id": REFUND_ID,
    "excerpt_sha256": "0" * 64,
    "code": None,
    "claim": None,
}


def _decided(edit: Callable[[Any], Any]) -> Callable[[], Verdict]:
    return lambda: check(hooked({"excerpts": ONE_EXCERPT}, audit=lambda audit: edit(audit["evidence"])))


enter("decisions_without_evidence", Code.EVIDENCE_UNEXPECTED, lambda: check(hooked(audit=change(evidence=[DECISION]))))
enter(
    "a_rejected_item_in_an_answer",
    Code.EVIDENCE_DECISION_INVALID,
    _decided(lambda d: d[0].update(code="wrong_source", claim=None)),
)
enter("an_item_decided_twice", Code.EVIDENCE_DECISION_INVALID, _decided(lambda d: d.append(d[0])))
enter("an_accepted_item_without_claim", Code.EVIDENCE_DECISION_INVALID, _decided(lambda d: d[0].update(claim=None)))
enter(
    "a_proposed_text_that_claims",
    Code.EVIDENCE_DECISION_INVALID,
    _decided(lambda d: d[0].update(path="proposed_texts[0].text")),
)
enter("a_claim_from_no_decision", Code.EVIDENCE_CLAIMS_MISMATCH, _decided(lambda d: d.clear()))
enter(
    "an_excerpt_that_is_not_the_claim",
    Code.EVIDENCE_CLAIMS_MISMATCH,
    _decided(lambda d: d[0].update(excerpt_sha256="0" * 64)),
)
enter(
    "evidence_from_another_source", Code.EVIDENCE_CLAIMS_MISMATCH, _decided(lambda d: d[0].update(source_id="faq.txt"))
)
enter(
    "a_decision_for_an_absent_claim",
    Code.EVIDENCE_CLAIMS_MISMATCH,
    _decided(lambda d: d[0].update(claim="clm_" + "0" * 64)),
)


@attack(Code.EVIDENCE_DECISION_INVALID)
def a_rejection_that_rejects_nothing() -> Verdict:
    return check(Forge(status="evidence_rejected", method="evidence"))


def _policy(**members: Any) -> dict[str, Any]:
    return {**forging.POLICY, **members}


ANNOTATION = {"text": "About a week.", "claims": []}

enter("a_policy_without_evidence", Code.POLICY_UNEXPECTED, lambda: check(hooked(audit=change(policy=forging.POLICY))))
enter(
    "a_role_that_is_not_allowed",
    Code.POLICY_ROLE_NOT_ALLOWED,
    lambda: check(Forge(excerpts=ONE_EXCERPT, policy=_policy(allowed_roles=["user"]))),
)
enter(
    "annotations_nobody_asked_for",
    Code.ANNOTATION_NOT_ALLOWED,
    lambda: check(hooked(public=change(annotations_unverified=[ANNOTATION]))),
)
enter(
    "an_annotation_of_an_absent_claim",
    Code.ANNOTATION_CLAIM_UNKNOWN,
    lambda: check(
        hooked(
            {"excerpts": ONE_EXCERPT, "policy": _policy(include_unverified_annotations=True)},
            public=change(annotations_unverified=[{"text": "x", "claims": ["clm_" + "0" * 64]}]),
        )
    ),
)

# generation

enter(
    "a_generation_under_another_id",
    Code.GENERATION_ID_MISMATCH,
    lambda: check(hooked(generation=change(generation="gen_" + "0" * 64))),
)
enter(
    "a_pipeline_under_another_fingerprint",
    Code.GENERATION_FINGERPRINT_MISMATCH,
    lambda: check(hooked(fingerprint=change(pipeline_fingerprint="0" * 64))),
)
enter(
    "a_first_generation_with_a_predecessor",
    Code.GENERATION_CHAIN_INVALID,
    lambda: check(hooked(generation=change(previous_sha256=None))),
)
enter("a_request_registry_nobody_expects", Code.GENERATION_REQUEST_REGISTRY, lambda: check(Forge(registry="request")))
enter("an_expired_generation", Code.GENERATION_EXPIRED, lambda: check(hooked(generation=change(expires_at=NOW - 1))))
enter("a_superseded_generation", Code.GENERATION_SUPERSEDED, lambda: check(Forge(), **_newest(5)))
enter("a_generation_nobody_knows_yet", Code.GENERATION_NEWER_THAN_KNOWN, lambda: check(Forge(), **_newest(3)))
enter("two_generations_with_one_sequence", Code.GENERATION_FORK, lambda: check(Forge(), **_newest(4)))
enter(
    "one_statement_under_two_sequences",
    Code.GENERATION_FORK,
    lambda: check(hooked(live=lambda live: live["generation"].update(sequence=5))),
)
enter("nothing_names_the_newest", Code.GENERATION_CURRENT_UNKNOWN, lambda: check(Forge(), generation=None, live=None))
enter(
    "a_live_state_older_than_the_statement",
    Code.LIVE_OLDER_THAN_GENERATION,
    lambda: check(Forge(), generation=_newest(5)["generation"]),
)
enter("a_given_statement_that_forks", Code.GENERATION_FORK, lambda: check(Forge(), generation=_newest(4)["generation"]))


def _newest(sequence: int) -> dict[str, Any]:
    other = hooked(generation=change(sequence=sequence, previous_sha256="9" * 64), live=change())
    other.live["payload"]["generation"]["sequence"] = sequence
    live = other.signed("live", other.live["payload"])
    return {"generation": other.generation_bytes, "live": canonical(live)}


@attack(Code.GENERATION_GIVEN_MISMATCH)
def a_request_registry_given_as_the_newest() -> Verdict:
    return check(Forge(), generation=Forge(registry="request").generation_bytes)


# documents, entries, citations, selection


def _documents(edit: Callable[[Any], Any], **options: Any) -> Callable[[], Verdict]:
    return lambda: check(hooked(options, documents=edit))


def _entry(edit: Callable[[Any], Any], excerpts: Any = ONE_EXCERPT) -> Callable[[], Verdict]:
    return lambda: check(hooked({"excerpts": excerpts}, entries=edit))


SECRET = [(HIDDEN.document, "secret")]
enter("a_document_the_groups_may_not_see", Code.ACL_NOT_ALLOWED, lambda: check(Forge(excerpts=SECRET)))
enter(
    "groups_forged_into_the_acl",
    Code.DOCUMENT_PROOF_INVALID,
    lambda: check(hooked({"excerpts": SECRET}, documents=lambda d: d[0]["acl"].update(groups=["public"]))),
)
enter("a_cited_document_not_listed", Code.DOCUMENT_NOT_LISTED, _documents(lambda documents: documents[1:]))
enter("a_listed_document_not_cited", Code.DOCUMENT_NOT_CITED, lambda: _also_lists(HIDDEN.document))
enter(
    "a_media_type_without_parser",
    Code.DOCUMENT_PARSER_UNKNOWN,
    lambda: check(
        Forge(docs=(Doc(REFUND_ID, "word\n", ["word"], media_type="text/x"),), excerpts=[(REFUND_ID, "word")])
    ),
)
enter("a_sibling_changed", Code.DOCUMENT_PROOF_INVALID, _documents(lambda d: d[0]["siblings"].__setitem__(0, "0" * 64)))
enter(
    "a_document_record_of_another_event",
    Code.DOCUMENT_PROOF_INVALID,
    _documents(lambda d: d[0].update(event_sequence=8)),
)
enter(
    "a_document_missing_from_the_map",
    Code.DOCUMENT_PROOF_INVALID,
    lambda: check(hooked(records=lambda records: records[1:])),
)
enter(
    "an_entry_proof_too_short",
    Code.ENTRY_PROOF_INVALID,
    _documents(lambda d: d[1]["entries"][0]["proof"].pop() and None),
)
enter("an_entry_at_another_index", Code.ENTRY_PROOF_INVALID, _documents(lambda d: d[1]["entries"][0].update(index=2)))
enter(
    "an_entry_with_another_content",
    Code.ENTRY_PROOF_INVALID,
    _documents(lambda d: d[1]["entries"][0].update(content_sha256="0" * 64)),
)
CROSSING = [(REFUND_ID, "days.\n\n> Gift")]
enter(
    "entries_that_overlap",
    Code.ENTRY_ORDER,
    _entry(lambda e: [part.update(char_end=e[2]["char_end"]) for part in (e[1], *e[1]["elements"])] and None, CROSSING),
)
enter(
    "an_element_outside_its_entry",
    Code.ENTRY_ELEMENTS_INVALID,
    _entry(lambda e: e[1]["elements"][0].update(char_start=0, char_end=3)),
)
enter(
    "an_entry_larger_than_its_elements",
    Code.ENTRY_ELEMENTS_INVALID,
    _entry(lambda e: e[1]["elements"][0].update(char_end=e[1]["char_end"] - 1)),
)
enter(
    "elements_that_overlap",
    Code.ENTRY_ELEMENTS_INVALID,
    _entry(lambda e: e[1]["elements"].append(dict(e[1]["elements"][0], element_kind="quote"))),
)
enter("an_entry_disclosed_without_need", Code.ENTRY_DISCLOSURE_MISMATCH, lambda: _disclosing(2))
enter(
    "a_neighbour_hidden",
    Code.ENTRY_DISCLOSURE_MISMATCH,
    lambda: check(
        hooked({"excerpts": [(REFUND_ID, "\n\nRefunds are")]}, documents=lambda d: d[0]["entries"].pop(0) and None)
    ),
)
enter(
    "an_entry_left_out_of_a_crossing",
    Code.CITATION_ENTRIES_MISMATCH,
    lambda: check(hooked({"excerpts": CROSSING}, citation=lambda c: c["entries"].pop() and None)),
)
enter(
    "a_crossing_shown_as_a_gap",
    Code.CITATION_ANCHOR_MISMATCH,
    lambda: check(hooked({"excerpts": CROSSING}, citation=change(anchor="document", entries=[]))),
)
enter("a_part_shown_as_the_whole", Code.CITATION_MISMATCH, cited(partial=False))
enter("surroundings_left_out", Code.CITATION_MISMATCH, cited(surrounding_start=30))
enter("another_uri_than_the_records", Code.CITATION_MISMATCH, cited(source_uri="https://evil.example/"))
enter("another_revision_than_the_records", Code.CITATION_MISMATCH, cited(canonical_revision="can_" + "0" * 64))
enter("a_projections_level_for_a_raw_text", Code.CITATION_MISMATCH, cited(evidence_level="projection_exact"))
enter("a_selected_entry_not_cited", Code.SELECTION_MISMATCH, _claims(lambda claims: claims[:1]))
enter("claims_out_of_rank_order", Code.SELECTION_MISMATCH, _claims(lambda claims: claims[::-1]))
enter("more_selected_than_asked_for", Code.SELECTION_MISMATCH, lambda: check(hooked(request=change(top_k=1))))
enter("a_ranking_without_top_k", Code.SELECTION_MISMATCH, lambda: check(hooked(request=change(top_k=None))))
enter(
    "a_selection_under_evidence",
    Code.SELECTION_MISMATCH,
    lambda: check(hooked({"excerpts": ONE_EXCERPT}, request=change(top_k=3))),
)
enter(
    "more_matched_than_visible",
    Code.SELECTION_SUMMARY_INVALID,
    lambda: check(hooked(audit=lambda a: a["filter_summary"].update(matched_entries=99))),
)


def _also_lists(name: str) -> Verdict:
    def add(made: Forge) -> Callable[[Any], Any]:
        extra = {**made.audit_documents[name], "entries": []}
        return lambda documents: sorted([*documents, extra], key=lambda document: document["document"])

    return check(hooked(documents=add(Forge())))


def _disclosing(index: int) -> Verdict:
    extra = {key: value for key, value in Forge().entries[REFUND_ID][index].items() if key != "listing"}
    return check(hooked({"excerpts": ONE_EXCERPT}, documents=lambda documents: documents[0]["entries"].append(extra)))


# sources, text, spans

enter("no_sources_given", Code.SOURCE_NOT_GIVEN, lambda: check(Forge(), sources=None))
enter("the_source_is_not_there", Code.SOURCE_MISSING, lambda: check(Forge(), sources={"faq.txt": FAQ.raw}))
enter(
    "the_source_has_changed",
    Code.SOURCE_RAW_HASH_MISMATCH,
    lambda: check(Forge(), sources={"faq.txt": FAQ.raw, REFUND_ID: b"x"}),
)
enter("another_canonical_text_signed", Code.SOURCE_CANONICAL_HASH_MISMATCH, lambda: _source(b"word!", "word"))

PROJECTION = {
    "extractor": "pdf",
    "extractor_version": "1",
    "configuration_sha256": "0" * 64,
    "coordinate_space": "pdf-text-v1",
}
enter(
    "a_projection",
    Code.SOURCE_PROJECTION_UNSUPPORTED,
    lambda: check(
        Forge(docs=(Doc(REFUND_ID, "word\n", ["word"], projection=PROJECTION),), excerpts=[(REFUND_ID, "word")])
    ),
)
enter("a_source_in_latin_1", Code.TEXT_UTF8, lambda: _source(b"word \xe9", "word é"))
enter("a_source_with_nul", Code.TEXT_NUL, lambda: _source(b"word \0", "word \0"))
enter("a_source_with_a_noncharacter", Code.TEXT_UNASSIGNED, lambda: _source("word \uffff".encode(), "word \uffff"))
enter(
    "a_source_newer_than_the_tables",
    Code.TEXT_UNICODE_TOO_OLD,
    lambda: _source("word \u0378".encode(), "word \u0378", "99.0.0"),
)
enter(
    "a_tower_of_marks",
    Code.TEXT_NONSTARTER_RUN,
    lambda: _source(("word e" + "\u0301" * 257).encode(), "word e" + "\u0301" * 257),
)
enter(
    "an_excerpt_that_cuts_a_number",
    Code.SPAN_EXCERPT_PLACE,
    lambda: check(Forge(docs=(Doc(REFUND_ID, "2,700,000 yen\n", ["2,700,000 yen"]),), excerpts=[(REFUND_ID, "2,70")])),
)
enter("an_occurrence_left_uncounted", Code.SPAN_OCCURRENCES_MISMATCH, cited(occurrences=2))


def _public_only(edit: Callable[[Any], Any], **options: Any) -> Callable[[], Verdict]:
    """The public profile sees no document, so that step 10 alone must find it."""
    return lambda: check(hooked({"excerpts": ONE_EXCERPT, **options}, citation=edit), profile=PUBLIC)


enter("a_quote_moved_to_another_place", Code.SPAN_TEXT_MISMATCH, _public_only(change(char_start=0, char_end=13)))
enter("a_span_beyond_the_text", Code.SPAN_OUT_OF_RANGE, _public_only(change(char_start=5_000, char_end=5_013)))
enter("surroundings_beyond_the_text", Code.SPAN_SURROUNDING_MISMATCH, _public_only(change(surrounding_end=5_000)))
enter(
    "an_evidence_level_out_of_reach", Code.SPAN_EVIDENCE_LEVEL, _public_only(change(evidence_level="projection_exact"))
)
enter(
    "an_element_with_another_text",
    Code.SPAN_HASH_MISMATCH,
    _entry(lambda e: e[1]["elements"][0].update(text_sha256="0" * 64)),
)
enter("an_entry_with_another_text", Code.SPAN_HASH_MISMATCH, _entry(lambda e: e[1].update(content_sha256="0" * 64)))


@attack(Code.SPAN_SURROUNDING_MISMATCH)
def the_beginning_shown_as_the_whole_text() -> Verdict:
    start = REFUND.text[:55]
    fake = change(anchor="document", entries=[], surrounding_start=0, surrounding_end=55, partial=False)
    return check(hooked({"excerpts": [(REFUND_ID, start)]}, citation=fake, documents=lambda d: d[0].update(entries=[])))


# live state

enter("no_live_state", Code.LIVE_MISSING, lambda: check(Forge(), live=None))
enter("an_expired_live_state", Code.LIVE_EXPIRED, lambda: check(hooked(live=change(expires_at=NOW - 1))))
enter("another_corpus_live_state", Code.LIVE_CORPUS_MISMATCH, lambda: check(hooked(live=change(corpus="f" * 32))))
enter(
    "authorization_rotated",
    Code.LIVE_AUTHORIZATION_CHANGED,
    lambda: check(hooked(live=change(authorization_revision="auth-2"))),
)
KEY = Forge().key_of(REFUND_ID).hex()
enter(
    "a_deleted_document",
    Code.LIVE_DOCUMENT_DELETED,
    lambda: check(hooked(live=change(tombstones=[{"document_key": KEY, "event_sequence": 8}]))),
)
enter("a_blocked_document", Code.LIVE_DOCUMENT_BLOCKED, lambda: check(hooked(live=change(blocked=[KEY]))))

# audit, pins, not reached

enter("no_pack", Code.AUDIT_PACK_MISSING, lambda: check(Forge(), profile=AUDIT))
enter(
    "a_pin_out_of_reach",
    Code.PIN_UNAVAILABLE,
    lambda: check(Forge(), profile=PUBLIC, expected={"pins": Pins(pipeline="0" * 64)}),
)
enter(
    "another_bundle_than_pinned",
    Code.PIN_BUNDLE_MISMATCH,
    lambda: check(Forge(), expected={"pins": Pins(bundle="0" * 64)}),
)
enter(
    "another_generation_than_pinned",
    Code.PIN_GENERATION_MISMATCH,
    lambda: check(Forge(), expected={"pins": Pins(generation="0" * 64)}),
)
enter(
    "another_pipeline_than_pinned",
    Code.PIN_PIPELINE_MISMATCH,
    lambda: check(Forge(), expected={"pins": Pins(pipeline="0" * 64)}),
)
enter(
    "another_authorization_than_pinned",
    Code.PIN_AUTHORIZATION_MISMATCH,
    lambda: check(Forge(), expected={"pins": Pins(authorization="x")}),
)
enter("steps_after_a_failed_one", Code.CHECK_NOT_REACHED, lambda: check_bytes(b"{}"))

__all__ = ["ATTACKS", "Attack", "apply", "change", "hooked", "text"]
