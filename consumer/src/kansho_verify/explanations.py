"""What every reason code means, and what to do about it: the source of ``explain`` and ``docs/spec/reasons.md``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kansho_verify.reasons import Code, Result

__all__ = ["EXPLANATIONS", "Explanation", "as_markdown", "result_of"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """``result`` is what a check comes to by this reason; ``meaning`` and ``action`` are one sentence each."""

    result: Result
    meaning: str
    action: str


_STALE = frozenset(
    {
        Code.TRUST_ROOT_EXPIRED,
        Code.TRUST_ROOT_TOO_OLD,
        Code.TIME_TOO_OLD,
        Code.GENERATION_EXPIRED,
        Code.GENERATION_SUPERSEDED,
        Code.LIVE_EXPIRED,
        Code.LIVE_AUTHORIZATION_CHANGED,
        Code.LIVE_DOCUMENT_DELETED,
        Code.LIVE_DOCUMENT_BLOCKED,
    }
)
_UNDECIDED = frozenset(
    {
        Code.LIMITS_MEMORY,
        Code.TRUST_ROOT_MISSING,
        Code.KEY_RETIRED_NO_TIME,
        Code.SECTION_AUDIT_MISSING,
        Code.SECTION_AUDIT_SEALED,
        Code.REQUEST_QUESTION_MISSING,
        Code.CLAIMS_NONE,
        Code.GENERATION_NEWER_THAN_KNOWN,
        Code.GENERATION_CURRENT_UNKNOWN,
        Code.LIVE_OLDER_THAN_GENERATION,
        Code.SOURCE_NOT_GIVEN,
        Code.SOURCE_MISSING,
        Code.SOURCE_RAW_HASH_MISMATCH,
        Code.SOURCE_PROJECTION_UNSUPPORTED,
        Code.TEXT_UNICODE_TOO_OLD,
        Code.LIVE_MISSING,
        Code.AUDIT_PACK_MISSING,
        Code.PIN_UNAVAILABLE,
        Code.CHECK_NOT_REACHED,
    }
)

_REFUSE = "Refuse it, and ask whoever made it."
_FETCH = "Fetch the artifact again; if it stays so, refuse it."
_TAMPERED = "Refuse it: it was changed after signing, or put together from parts."
_PRODUCER = "Refuse it: the producer signed something that does not hold. Keep it as evidence."
_NEW_ANSWER = "Ask for a new answer."
_CALLER = "Compare what you expect with what you asked; if both are right, the answer is not for you."
_TRUST = "Get the issuer's newest trust root by a way that you trust."
_KEY = "Do not use this trust root; tell the issuer."

_TABLE: dict[Code, tuple[str, str]] = {
    Code.LIMITS_BYTES: ("The input is larger than the limit for its kind.", _REFUSE),
    Code.LIMITS_ITEMS: ("The input holds more members and items than the limit.", _REFUSE),
    Code.LIMITS_DEPTH: ("Arrays and objects are nested deeper than the limit.", _REFUSE),
    Code.LIMITS_MEMORY: ("There was not enough memory to read the input.", "Check it on a machine with more memory."),
    Code.LIMITS_WORK: ("Counting and hashing all that is cited would exceed the limit of work.", _REFUSE),
    Code.JSON_BOM: ("The JSON begins with a byte order mark.", _FETCH),
    Code.JSON_UTF8: ("The JSON is not strict UTF-8.", _FETCH),
    Code.JSON_SYNTAX: ("The bytes are no JSON by RFC 8259.", _FETCH),
    Code.JSON_NUMBER: ("A number has a fraction or an exponent, is -0, or is no number at all.", _REFUSE),
    Code.JSON_INTEGER_RANGE: ("An integer lies beyond 2^53 - 1 either way.", _REFUSE),
    Code.JSON_DUPLICATE_KEY: ("An object has a member name twice.", _REFUSE),
    Code.JSON_KEY: ("A member name is outside [a-z][a-z0-9_]*.", _REFUSE),
    Code.JSON_SURROGATE: ("A string holds a lone surrogate.", _REFUSE),
    Code.JSON_NOT_CANONICAL: (
        "The bytes are not the canonical form of what they say.",
        "Fetch the original bytes: an editor or a proxy may have formatted them anew.",
    ),
    Code.SCHEMA_VIOLATION: ("A member is missing, unknown, or not of the form that the schema demands.", _REFUSE),
    Code.SCHEMA_NOT_ASCENDING: ("A list that must ascend strictly is out of order or holds an item twice.", _REFUSE),
    Code.BASE64URL_INVALID: ("A string is not canonical base64url without padding.", _REFUSE),
    Code.CBOR_MALFORMED: ("A signature's bytes are not one well-formed CBOR item.", _REFUSE),
    Code.CBOR_TYPE: ("A signature holds a CBOR type that has no place there.", _REFUSE),
    Code.CBOR_NOT_DETERMINISTIC: ("A signature is not deterministically encoded.", _REFUSE),
    Code.COSE_STRUCTURE: ("A signature is not a COSE_Sign1 of the one form that is allowed.", _REFUSE),
    Code.COSE_HEADER_UNKNOWN: ("A signature's header has a label that is not allowed.", _REFUSE),
    Code.COSE_HEADER_MISSING: ("A signature's header lacks a label.", _REFUSE),
    Code.COSE_HEADER_VALUE: ("A value in a signature's header is not the one that the payload demands.", _REFUSE),
    Code.COSE_KID_ORDER: ("Signatures do not ascend by key, or one key signed twice.", _REFUSE),
    Code.TRUST_ROOT_MISSING: ("No trust root was given.", "Give the issuer's trust root with --trust-root FILE."),
    Code.TRUST_ROOT_EXPIRED: ("The trust root has expired and decides nothing more.", _TRUST),
    Code.TRUST_ROOT_TOO_OLD: ("The live state demands a newer trust root.", _TRUST),
    Code.TRUST_ROOT_ISSUER_MISMATCH: ("The bundle is of another issuer than the trust root.", _CALLER),
    Code.TRUST_ROOT_CORPUS_MISMATCH: ("The bundle is of another corpus than the trust root.", _CALLER),
    Code.TRUST_ROOT_THRESHOLD: ("A role's threshold is above the number of its keys.", _KEY),
    Code.TRUST_ROOT_KEY_REPEATED: ("A public key stands twice in the trust root.", _KEY),
    Code.KEY_POINT: ("A public key is not the canonical encoding of a point of the curve.", _KEY),
    Code.KEY_LOW_ORDER: ("A public key's point is not of full prime order: signatures under it prove little.", _KEY),
    Code.KEY_ALGORITHM: ("The signature names another algorithm than the trust root does for the key.", _REFUSE),
    Code.KEY_REVOKED: ("The key that signed is revoked.", "Refuse it, whatever time it claims. " + _NEW_ANSWER),
    Code.KEY_NOT_YET_VALID: ("The statement claims a time before its key was valid.", _REFUSE),
    Code.KEY_EXPIRED: ("The statement claims a time after its key had expired.", _REFUSE),
    Code.KEY_RETIRED: ("The statement claims a time at or after its key's retirement.", _REFUSE),
    Code.KEY_RETIRED_NO_TIME: (
        "The key has been retired or has expired since, and nothing shows that the statement existed before.",
        "Ask for a new answer, or say --trust-claimed-time if the claimed time is good enough.",
    ),
    Code.SIGNATURE_INVALID: ("A signature does not verify.", _TAMPERED),
    Code.SIGNATURE_KEY_UNKNOWN: ("The trust root does not know a key that signed.", _TRUST),
    Code.SIGNATURE_WRONG_ROLE: ("A key signed what its role may not sign.", _REFUSE),
    Code.SIGNATURE_THRESHOLD: ("Fewer distinct keys signed than the role's threshold.", _REFUSE),
    Code.TIME_IN_FUTURE: (
        "A statement claims to be issued later than now.",
        "Compare the clocks; more than 300 seconds is refused.",
    ),
    Code.TIME_TOO_OLD: ("The answer is older than the maximum age.", _NEW_ANSWER),
    Code.SECTION_AUDIT_MISSING: (
        "The bundle has no audit section.",
        "Ask for the whole bundle, or check the public section alone with --profile public.",
    ),
    Code.SECTION_AUDIT_SEALED: (
        "The audit section is sealed.",
        "Have a recipient open it, or check the public section alone with --profile public.",
    ),
    Code.SECTION_PUBLIC_HASH_MISMATCH: ("The audit section speaks of another public section.", _TAMPERED),
    Code.SECTION_GENERATION_HASH_MISMATCH: ("The audit section speaks of another generation statement.", _TAMPERED),
    Code.SECTION_ISSUER_MISMATCH: ("The sections name different issuers.", _TAMPERED),
    Code.SECTION_CORPUS_MISMATCH: ("The sections name different corpora.", _TAMPERED),
    Code.SECTION_TIME_MISMATCH: ("The sections name different times of issue.", _TAMPERED),
    Code.SECTION_REGISTRY_MISMATCH: ("The public section and the generation name different registries.", _TAMPERED),
    Code.SECTION_AUTHORIZATION_MISMATCH: (
        "The request was answered under another authorization revision than the generation's.",
        _PRODUCER,
    ),
    Code.SECTION_TRACE_MISMATCH: ("The trace id does not tie the public section to request and nonce.", _TAMPERED),
    Code.REQUEST_COMMITMENT_MISMATCH: ("The public section commits to another request.", _CALLER),
    Code.REQUEST_QUESTION_MISSING: (
        "No question was given, so that the answer is bound to none.",
        "Give the question with --question TEXT, or waive it with --any-question.",
    ),
    Code.REQUEST_QUESTION_MISMATCH: (
        "The answer is to another question.",
        _CALLER,
    ),
    Code.REQUEST_QUESTION_NOT_CANONICAL: ("The question in the audit section is not canonical text.", _PRODUCER),
    Code.REQUEST_CHALLENGE_MISMATCH: ("The answer is to another challenge: it may be an old one.", _CALLER),
    Code.REQUEST_AUDIENCE_MISMATCH: ("The answer was made for another audience.", _CALLER),
    Code.REQUEST_TENANT_MISMATCH: ("The answer was made for another tenant.", _CALLER),
    Code.REQUEST_SUBJECT_MISMATCH: ("The answer was made for another subject.", _CALLER),
    Code.REQUEST_GROUPS_MISMATCH: ("The answer was made for other groups.", _CALLER),
    Code.STATUS_MISMATCH: ("The audit section's failure contradicts the public status.", _PRODUCER),
    Code.CLAIM_ID_MISMATCH: ("A claim's id is not that of its text and citations.", _PRODUCER),
    Code.CLAIM_DUPLICATE: ("One claim stands twice.", _PRODUCER),
    Code.CLAIM_SPAN_MISMATCH: ("A citation's span is not the claim's text, by hash or length.", _PRODUCER),
    Code.CLAIM_CITATION_CONFLICT: (
        "A claim cites one place twice, or two citations of one document contradict each other.",
        _PRODUCER,
    ),
    Code.CLAIMS_NONE: ("Nothing is claimed; the status says why.", "There is no answer to use here."),
    Code.EVIDENCE_UNEXPECTED: ("Evidence decisions stand where the method makes none.", _PRODUCER),
    Code.EVIDENCE_DECISION_INVALID: ("An evidence decision contradicts itself or the status.", _PRODUCER),
    Code.EVIDENCE_CLAIMS_MISMATCH: (
        "The claims are not those of the evidence decisions, then those of the artifact's other sources.",
        _PRODUCER,
    ),
    Code.POLICY_UNEXPECTED: ("A policy stands where the method has none, or is missing where it has one.", _PRODUCER),
    Code.POLICY_SELECTION_INVALID: (
        "The policy names a source twice, or orders its sources without one that it selects.",
        _PRODUCER,
    ),
    Code.POLICY_ROLE_NOT_ALLOWED: ("A cited source's role is not allowed by the policy.", _PRODUCER),
    Code.POLICY_ARTIFACT_MISMATCH: (
        "An artifact is missing, unasked for, or of another coverage than the policy's.",
        _PRODUCER,
    ),
    Code.ANNOTATION_NOT_ALLOWED: ("Unverified annotations stand here though no policy asks for them.", _PRODUCER),
    Code.ANNOTATION_CLAIM_UNKNOWN: ("An annotation leans on a claim that is not here.", _PRODUCER),
    Code.ARTIFACT_CLAIM_UNKNOWN: ("The artifact names a claim that is not here.", _PRODUCER),
    Code.ARTIFACT_SOURCE_MISMATCH: (
        "A source of the artifact and its claim do not match: one citation, of that document, in that role.",
        _PRODUCER,
    ),
    Code.ARTIFACT_SOURCE_SHORTENED: (
        "A source of the artifact is not cited from its first to its last code point.",
        _PRODUCER,
    ),
    Code.ARTIFACT_ORDER_MISMATCH: (
        "The artifact's sources, or its orders, contradict one another or the policy.",
        _PRODUCER,
    ),
    Code.ARTIFACT_EVIDENCE_MISMATCH: (
        "The artifact's evidence is not exactly what was decided and claimed, or tells another place.",
        _PRODUCER,
    ),
    Code.GENERATION_ID_MISMATCH: ("The generation's id is not that of its parts.", _PRODUCER),
    Code.GENERATION_FINGERPRINT_MISMATCH: ("The pipeline's fingerprint is not that of the pipeline.", _PRODUCER),
    Code.GENERATION_CHAIN_INVALID: ("Sequence and predecessor of the generation do not fit together.", _PRODUCER),
    Code.GENERATION_GIVEN_MISMATCH: (
        "The given generation statement is of another issuer, corpus or registry.",
        "Give the newest generation statement of this corpus.",
    ),
    Code.GENERATION_REQUEST_REGISTRY: (
        "The sources are a request's own and were never published.",
        "Say --allow-request-registry if you made that request and hold the same sources.",
    ),
    Code.GENERATION_EXPIRED: ("The generation has expired.", _NEW_ANSWER),
    Code.GENERATION_SUPERSEDED: ("A newer generation has been published.", _NEW_ANSWER),
    Code.GENERATION_NEWER_THAN_KNOWN: (
        "The bundle's generation is newer than the newest known here.",
        "Get the newest generation statement and live state.",
    ),
    Code.GENERATION_FORK: (
        "Two generation statements share one sequence: the issuer signed two histories.",
        "Refuse both and keep them as evidence.",
    ),
    Code.GENERATION_CURRENT_UNKNOWN: (
        "Nothing given names the newest generation.",
        "Give --published DIR, --generation FILE or --live FILE.",
    ),
    Code.ACL_NOT_ALLOWED: ("None of the request's groups may see a cited document.", _PRODUCER),
    Code.DOCUMENT_NOT_LISTED: ("A cited document is not listed in the audit section.", _PRODUCER),
    Code.DOCUMENT_NOT_CITED: ("The audit section lists a document that nothing cites.", _PRODUCER),
    Code.DOCUMENT_PARSER_UNKNOWN: ("The generation has no parser for a cited document's media type.", _PRODUCER),
    Code.DOCUMENT_PROOF_INVALID: ("The generation does not hold a cited document as described.", _TAMPERED),
    Code.ENTRY_PROOF_INVALID: ("A document does not hold a cited entry at its index.", _TAMPERED),
    Code.ENTRY_ORDER: ("Entries of a document overlap or do not ascend.", _PRODUCER),
    Code.ENTRY_ELEMENTS_INVALID: ("Elements overlap, do not ascend, or do not cover their entry.", _PRODUCER),
    Code.ENTRY_DISCLOSURE_MISMATCH: ("An entry is disclosed without need, or one that is needed is not.", _PRODUCER),
    Code.CITATION_ENTRIES_MISMATCH: ("A citation does not list the entries that its span crosses.", _PRODUCER),
    Code.CITATION_ANCHOR_MISMATCH: ("A citation's anchor does not fit the entries that its span crosses.", _PRODUCER),
    Code.CITATION_MISMATCH: ("A citation is not what its document and entries give.", _PRODUCER),
    Code.SELECTION_MISMATCH: ("The claims are not the selected entries in rank order.", _PRODUCER),
    Code.SELECTION_SUMMARY_INVALID: ("The counts of the filter summary contradict one another.", _PRODUCER),
    Code.SOURCE_NOT_GIVEN: ("No sources were given.", "Give your own copies with --sources DIR."),
    Code.SOURCE_MISSING: ("No source with the cited size and hash is there.", "Look for the version that was cited."),
    Code.SOURCE_RAW_HASH_MISMATCH: (
        "A source of the cited name is there, but its bytes are not the cited ones.",
        "Look for the version that was cited; your copy, or the producer's, has changed.",
    ),
    Code.SOURCE_CANONICAL_HASH_MISMATCH: ("The source's canonical text is not the cited one.", _PRODUCER),
    Code.SOURCE_PROJECTION_UNSUPPORTED: (
        "The cited text is a projection of the file, which this version cannot make.",
        "Use a newer verifier.",
    ),
    Code.TEXT_UTF8: ("A cited source is not strict UTF-8.", _PRODUCER),
    Code.TEXT_NUL: ("A cited source holds NUL.", _PRODUCER),
    Code.TEXT_UNASSIGNED: ("A cited source holds a code point that Unicode does not assign.", _PRODUCER),
    Code.TEXT_UNICODE_TOO_OLD: (
        "The Unicode tables here do not know a code point of the text.",
        "Update unicodedata2 and check again.",
    ),
    Code.TEXT_NONSTARTER_RUN: ("A cited source holds a run of more than 256 combining marks.", _PRODUCER),
    Code.SPAN_OUT_OF_RANGE: ("A span reaches beyond its source.", _PRODUCER),
    Code.SPAN_TEXT_MISMATCH: ("The source does not say this at the cited place.", _PRODUCER),
    Code.SPAN_HASH_MISMATCH: ("An entry or element is not the slice of the source at its span.", _PRODUCER),
    Code.SPAN_OCCURRENCES_MISMATCH: ("The text stands in the source another number of times.", _PRODUCER),
    Code.SPAN_EXCERPT_PLACE: (
        "The policy's excerpt boundary lets the excerpt be cited at another place, or at none.",
        _PRODUCER,
    ),
    Code.SPAN_SURROUNDING_MISMATCH: (
        "The surroundings do not fit the source, the anchor or the listed entries.",
        _PRODUCER,
    ),
    Code.SPAN_EVIDENCE_LEVEL: ("The claimed evidence level is not reached.", _PRODUCER),
    Code.LIVE_MISSING: (
        "No live state was given, so that deletion and blocking are unknown.",
        "Give --published DIR or --live FILE, or waive it with --no-live.",
    ),
    Code.LIVE_EXPIRED: ("The live state has expired.", "Get the newest live state."),
    Code.LIVE_CORPUS_MISMATCH: ("The live state is of another issuer or corpus.", "Give this corpus's live state."),
    Code.LIVE_AUTHORIZATION_CHANGED: ("Authorization has changed since the answer was made.", _NEW_ANSWER),
    Code.LIVE_DOCUMENT_DELETED: ("A cited document was deleted.", "Do not use the answer. " + _NEW_ANSWER),
    Code.LIVE_DOCUMENT_BLOCKED: ("Access to a cited document has changed.", "Do not use the answer. " + _NEW_ANSWER),
    Code.LIVE_OLDER_THAN_GENERATION: (
        "The given generation statement is newer than the live state.",
        "Get the newest live state.",
    ),
    Code.AUDIT_PACK_MISSING: (
        "Replaying the audit needs the pack, which this version cannot read.",
        "Use --profile boundary, or a newer verifier.",
    ),
    Code.PIN_UNAVAILABLE: (
        "What is pinned cannot be read from this bundle in this profile.",
        "Pin less, or check more.",
    ),
    Code.PIN_BUNDLE_MISMATCH: ("The bytes are not the pinned bundle.", _CALLER),
    Code.PIN_GENERATION_MISMATCH: ("The generation is not the pinned one.", _CALLER),
    Code.PIN_PIPELINE_MISMATCH: ("The pipeline is not the pinned one.", _CALLER),
    Code.PIN_AUTHORIZATION_MISMATCH: ("The authorization revision is not the pinned one.", _CALLER),
    Code.CHECK_NOT_REACHED: ("An earlier step could not be passed.", "See the reason under the earlier step."),
}


def result_of(code: Code) -> Result:
    """What a check comes to by a reason with this code: fail, stale or undecided."""
    if code in _STALE:
        return Result.STALE
    return Result.UNDECIDED if code in _UNDECIDED else Result.FAIL


EXPLANATIONS = {code: Explanation(result_of(code), *_TABLE[code]) for code in Code}
"""An explanation for every code."""


def as_markdown() -> str:
    """The page ``docs/spec/reasons.md``."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from (
        "# Reason codes",
        "",
        "Made from the consumer's table (`kansho_verify.explanations`); a test compares the two. Codes are stable:",
        "a code never changes what it means. `kansho-verify explain CODE` prints one of them. The result is what a",
        "check comes to by the code: `fail` (exit 3), `stale` (exit 5), `undecided` (exit 4).",
    )
    family = ""
    for code, explanation in EXPLANATIONS.items():
        if code.partition(".")[0] != family:
            family = code.partition(".")[0]
            yield from ("", f"## {family}", "", "| code | result | means | what to do |", "|---|---|---|---|")
        yield f"| `{code}` | {explanation.result} | {explanation.meaning} | {explanation.action} |"
