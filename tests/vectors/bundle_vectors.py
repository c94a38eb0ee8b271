"""Whole bundles, accepting and refusing: ``bundles/``.

Every refusing one is changed first and signed again afterwards, with all that depends on the change made anew, so that
the rule refuses it and not a broken signature; the few that are about signatures say so.
"""

from __future__ import annotations

import base64
import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kansho_sign import identity
from kansho_sign.bundle import assemble, document_json
from kansho_sign.canonical_json import dumps, sha256_hex
from kansho_sign.cose import sign_statement, statement_sha256
from kansho_sign.derivation import DerivedDocument
from kansho_sign.evidence import Policy, UntrustedAnswer
from kansho_sign.pipeline.ask import ask
from kansho_sign.pipeline.attest import Attestation, attest
from kansho_sign.pipeline.ingest import Wanted, ingest
from kansho_sign.pipeline.publish import publish
from kansho_sign.pipeline.requests import Asker
from kansho_sign.pipeline.view import open_view
from kansho_sign.text import sha256_text
from kansho_sign.workspace import create
from tests.support.fixed_test_keys import CountingRandom, fixed_hex, fixed_secrets, fixed_test_key
from tests.vectors.artifact_vectors import Artifacts

NOW = 1_790_000_000
UNANSWERABLE = "zirconium epaulettes"
QUESTION = "Within how many business days are refunds paid?"
Bundle = dict[str, Any]

EVIDENCE = [
    {"source_id": source_id, "excerpt": excerpt}
    for source_id, excerpt in (
        ("policies/refund.md", "Vouchers are not refunded."),
        ("policies/refund.md", "Refunds are paid within five business days of the request.\n\n## Exceptions"),
        ("policies/refund.md", "Exceptions"),
        ("policies/shipping.txt", "leave the same day.\n\nInternational parcels"),
        ("menu.txt", "café menu"),
        ("menu.txt", "The sky is blue."),
        ("hindi.md", "पाँच दिनों में"),
        ("hindi.md", "# वापसी\n\nरिफंड पाँच दिनों में दिया जाता है।\n"),
    )
]


def _asker(**changes: Any) -> Asker:
    standard: dict[str, Any] = {
        "tenant": "default",
        "groups": ("public",),
        "subject": None,
        "audience": None,
        "now": NOW,
        "nonce": fixed_hex("nonce", 16),
        "challenge": fixed_hex("challenge", 32),
    }
    return Asker(**{**standard, **changes})


class Corpus:
    """A published workspace with fixed keys, and what the cases are made of."""

    def __init__(self, folder: Path, sources: Path) -> None:
        self.secrets = fixed_secrets("vectors")
        self.workspace = create(
            folder, issuer="kansho-test", passphrase=None, now=NOW - 1000, trust_root_days=36_500, made=self.secrets
        )
        random = CountingRandom("vectors salt")
        restricted = sources / "salaries.txt"
        opened = sorted(path for path in sources.iterdir() if path != restricted)
        for paths, group in (([p for p in opened if p.is_file()], "public"), ([restricted], "hr")):
            wanted = Wanted("default", (group,), "document")
            self._ingest(paths, wanted, random)
        self._ingest([sources / "policies"], Wanted("default", ("public",), "document", prefix="policies/"), random)
        publish(self.workspace, NOW - 500)
        self.trust_root = (folder / "trust-root.json").read_bytes()
        self.generation = (folder / "published" / "generation.json").read_bytes()
        self.live = (folder / "published" / "live.json").read_bytes()
        self.asked = self.ask(QUESTION)
        self.attested = self.attest(self.workspace.policy(), EVIDENCE)

    def _ingest(self, paths: list[Path], wanted: Wanted, random: CountingRandom) -> None:
        summary = ingest(self.workspace, paths, wanted, now=NOW - 700, random=random)
        if summary.refused:
            raise AssertionError(f"a vector source is refused: {summary.refused}")

    def ask(self, question: str, **changes: Any) -> Bundle:
        with open_view(self.workspace, "default", changes.get("groups", ("public",))) as view:
            return ask(self.workspace, view, question, _asker(**changes), top_k=3).bundle or {}

    def attest(self, policy: Bundle, evidence: list[dict[str, str]], **more: Any) -> Bundle:
        answer = {"schema": "kansho.answer.v1", "evidence": evidence, **more}
        wanted = Attestation(Policy.from_json(policy))
        with open_view(self.workspace, "default", ("public",)) as view:
            made = attest(self.workspace, view, UntrustedAnswer.from_json(answer), _asker(), wanted)
        if made.bundle is None:
            raise AssertionError(f"a vector's evidence is refused: {made.findings}")
        return made.bundle

    def asker(self) -> Asker:
        """The standard request."""
        return _asker()

    def entries(self, document: DerivedDocument, indexes: list[int]) -> list[Bundle]:
        """What the audit section discloses of these entries."""
        disclosed: list[Bundle] = document_json(document, indexes, [])["entries"]
        return disclosed

    def sign(self, payload: Bundle, role: str) -> Bundle:
        return sign_statement(payload, [self.secrets.keys[role]])

    def bound(self, bundle: Bundle, kept: frozenset[str] = frozenset()) -> Bundle:
        """The bundle with every dependent value and every signature made anew, save the values that are kept."""
        public, audit = bundle["public"]["payload"], bundle["audit"]["payload"]
        generation = bundle["audit"]["generation"]["payload"]
        if "claims" not in kept:
            renamed = {}
            for claim in public["claims"]:
                made = identity.claim_id(claim["citations"][0]["span_sha256"], claim["citations"])
                renamed[claim["claim"]] = claim["claim"] = made
            artifact = public.get("artifact", {"evidence": [], "sources": []})
            for one in [*artifact["evidence"], *artifact["sources"], *audit["evidence"]]:
                one["claim"] = renamed.get(one["claim"], one["claim"])
        if "trace" not in kept:
            public.pop("trace_id")
            public["trace_id"] = identity.trace_id(nonce=audit["nonce"], request=audit["request"], public=public)
        if "public_hash" not in kept:
            audit["public_sha256"] = sha256_hex(public)
        audit["generation_sha256"] = statement_sha256(generation)
        return assemble(self.sign(public, "citation"), self.sign(audit, "audit"), self.sign(generation, "generation"))


def _changed(path: str, value: Any) -> Callable[[Bundle], None]:
    """Sets the member at a dotted path."""
    *parents, last = path.split(".")

    def change(bundle: Bundle) -> None:
        node: Any = bundle
        for name in parents:
            node = node[int(name)] if name.isdigit() else node[name]
        node[int(last) if last.isdigit() else last] = value

    return change


CLAIM = "public.payload.claims.0"
CITATION = f"{CLAIM}.citations.0"
AUDIT = "audit.payload"
GENERATION = "audit.generation.payload"


def _remove_first_claim(bundle: Bundle) -> None:
    del bundle["public"]["payload"]["claims"][0]


def _reverse_claims(bundle: Bundle) -> None:
    bundle["public"]["payload"]["claims"].reverse()


def _reverse_selection(bundle: Bundle) -> None:
    bundle["audit"]["payload"]["selection"].reverse()


def _other_word(bundle: Bundle) -> None:
    claim = bundle["public"]["payload"]["claims"][0]
    claim["text"] = claim["text"].replace("five", "nine")


def _other_word_and_hash(bundle: Bundle) -> None:
    _other_word(bundle)
    claim = bundle["public"]["payload"]["claims"][0]
    claim["citations"][0]["span_sha256"] = sha256_text(claim["text"])


@dataclass(frozen=True)
class Forgery:
    """A change to the payloads of the answered bundle, what is not made anew after it, and the code that refuses it."""

    code: str
    change: Callable[[Bundle], None]
    kept: frozenset[str] = frozenset()


REBOUND = {
    "claim-id-false": Forgery(
        "claim.id_mismatch", _changed(f"{CLAIM}.claim", f"clm_{'0' * 64}"), frozenset({"claims"})
    ),
    "claim-word-changed": Forgery("claim.span_mismatch", _other_word),
    "claim-word-and-hash-changed": Forgery("span.text_mismatch", _other_word_and_hash),
    "claim-removed": Forgery("selection.mismatch", _remove_first_claim),
    "claims-out-of-rank": Forgery("selection.mismatch", _reverse_claims),
    "selection-out-of-rank": Forgery("selection.mismatch", _reverse_selection),
    "citation-span-moved": Forgery("claim.span_mismatch", _changed(f"{CITATION}.char_start", 12)),
    "citation-occurrences-false": Forgery("span.occurrences_mismatch", _changed(f"{CITATION}.occurrences", 2)),
    "citation-uri-changed": Forgery("citation.mismatch", _changed(f"{CITATION}.source_uri", "https://example.com/x")),
    "citation-surrounding-false": Forgery("citation.mismatch", _changed(f"{CITATION}.surrounding_start", 0)),
    "citation-partial-false": Forgery("citation.mismatch", _changed(f"{CITATION}.partial", True)),
    "citation-anchor-false": Forgery("citation.anchor_mismatch", _changed(f"{CITATION}.anchor", "document")),
    "trace-id-false": Forgery(
        "section.trace_mismatch", _changed("public.payload.trace_id", "0" * 64), frozenset({"trace"})
    ),
    "nonce-changed": Forgery("section.trace_mismatch", _changed(f"{AUDIT}.nonce", "0" * 32), frozenset({"trace"})),
    "public-hash-false": Forgery(
        "section.public_hash_mismatch", _changed(f"{AUDIT}.public_sha256", "0" * 64), frozenset({"public_hash"})
    ),
    "request-question-changed": Forgery(
        "request.question_mismatch", _changed(f"{AUDIT}.request.question", "Another question?")
    ),
    "request-groups-widened": Forgery("request.groups_mismatch", _changed(f"{AUDIT}.request.groups", ["hr", "public"])),
    "request-tenant-changed": Forgery("request.tenant_mismatch", _changed(f"{AUDIT}.request.tenant", "other")),
    "request-authorization-changed": Forgery(
        "section.authorization_mismatch", _changed(f"{AUDIT}.request.authorization_revision", "2")
    ),
    "commitment-false": Forgery("request.commitment_mismatch", _changed("public.payload.request_commitment", "0" * 64)),
    "acl-widened": Forgery(
        "document.proof_invalid", _changed(f"{AUDIT}.documents.0.acl.groups", ["everyone", "public"])
    ),
    "acl-of-others": Forgery("acl.not_allowed", _changed(f"{AUDIT}.documents.0.acl.groups", ["hr"])),
    "document-sequence-changed": Forgery("document.proof_invalid", _changed(f"{AUDIT}.documents.0.event_sequence", 7)),
    "entry-count-changed": Forgery("document.proof_invalid", _changed(f"{AUDIT}.documents.0.entry_count", 1)),
    "entry-index-changed": Forgery("entry.proof_invalid", _changed(f"{AUDIT}.documents.0.entries.0.index", 1)),
    "generation-id-false": Forgery("generation.id_mismatch", _changed(f"{GENERATION}.generation", f"gen_{'0' * 64}")),
    "generation-pipeline-changed": Forgery(
        "generation.fingerprint_mismatch", _changed(f"{GENERATION}.pipeline.chunker", "other-v1")
    ),
    "generation-root-changed": Forgery("generation.id_mismatch", _changed(f"{GENERATION}.document_map_root", "0" * 64)),
    "generation-forked": Forgery("generation.fork", _changed(f"{GENERATION}.issued_at", NOW - 400)),
    "status-with-claims": Forgery("schema.violation", _changed("public.payload.status", "insufficient_evidence")),
    "registry-of-a-request": Forgery("section.registry_mismatch", _changed("public.payload.registry", "request")),
    "issued-in-future": Forgery("time.in_future", _changed("public.payload.issued_at", NOW + 90_000)),
    "summary-false": Forgery("selection.summary_invalid", _changed(f"{AUDIT}.filter_summary.selected_entries", 99)),
}


def _unsigned(corpus: Corpus) -> dict[str, tuple[str, Bundle]]:
    """Changes that an attacker without the keys can make, and the code that must refuse each."""
    flipped = bytearray(base64.urlsafe_b64decode(corpus.asked["public"]["signatures"][0] + "=="))
    flipped[-1] ^= 1
    other_word = copy.deepcopy(corpus.asked)
    _other_word(other_word)
    payload = corpus.asked["public"]["payload"]

    def public(**members: Any) -> Bundle:
        return {**corpus.asked, "public": {**corpus.asked["public"], **members}}

    signatures = corpus.asked["public"]["signatures"]
    made = {
        "unsigned-word-changed": ("signature.invalid", other_word),
        "audit-of-another-answer": (
            "section.public_hash_mismatch",
            {**corpus.asked, "audit": corpus.attested["audit"]},
        ),
        "signature-doubled": ("schema.violation", public(signatures=[*signatures, *signatures])),
        "signature-of-another-answer": (
            "signature.invalid",
            public(signatures=corpus.attested["public"]["signatures"]),
        ),
        "signature-of-a-stranger": (
            "signature.key_unknown",
            public(**sign_statement(payload, [fixed_test_key("a stranger")])),
        ),
        "signature-surplus": (
            "signature.key_unknown",
            public(**sign_statement(payload, [corpus.secrets.keys["citation"], fixed_test_key("a stranger")])),
        ),
        "signature-of-another-role": (
            "signature.wrong_role",
            public(**sign_statement(payload, [corpus.secrets.keys["audit"]])),
        ),
        "signature-bit-flipped": (
            "signature.invalid",
            public(signatures=[base64.urlsafe_b64encode(flipped).rstrip(b"=").decode()]),
        ),
    }
    return {name: (code, _self_hashed(bundle)) for name, (code, bundle) in made.items()}


def _self_hashed(bundle: Bundle) -> Bundle:
    bare = {name: value for name, value in bundle.items() if name != "bundle_sha256"}
    return {**bare, "bundle_sha256": sha256_hex(bare)}


CALLS: dict[str, tuple[Bundle, tuple[int, list[str]]]] = {
    "call-other-question": ({"question": "Something else?"}, (3, ["request.question_mismatch"])),
    "call-no-question": ({"question": None}, (4, ["request.question_missing"])),
    "call-other-audience": ({"audience": "another service"}, (3, ["request.audience_mismatch"])),
    "call-other-tenant": ({"tenant": "other"}, (3, ["request.tenant_mismatch"])),
    "call-other-groups": ({"groups": ["hr"]}, (3, ["request.groups_mismatch"])),
    "call-other-subject": ({"subject": "user 18"}, (3, ["request.subject_mismatch"])),
    "call-other-challenge": ({"challenge": "0" * 64}, (3, ["request.challenge_mismatch"])),
    "call-no-trust-root": ({"trust_root": None}, (4, ["trust_root.missing"])),
    "call-no-live": ({"live": None}, (4, ["live.missing"])),
    "call-no-generation": ({"generation": None, "live": None}, (4, ["generation.current_unknown"])),
    "call-no-sources": ({"sources": False}, (4, ["source.not_given"])),
    "call-generation-as-live": ({"live": "generation.json"}, (3, ["schema.violation"])),
    "call-after-expiry": ({"at": NOW + 8 * 86_400}, (5, ["live.expired"])),
    "call-long-after": ({"at": NOW + 91 * 86_400}, (5, ["generation.expired"])),
}


def _case(bundle: str, expected: tuple[int, list[str]], **changes: Any) -> Bundle:
    case: Bundle = {
        "bundle": bundle,
        "trust_root": "trust-root.json",
        "generation": "generation.json",
        "live": "live.json",
        "sources": True,
        "profile": "boundary",
        "question": QUESTION,
        "any_question": False,
        "allow_request_registry": False,
        "tenant": "default",
        "groups": ["public"],
        "audience": None,
        "subject": None,
        "challenge": None,
        "at": NOW + 60,
        "exit_code": expected[0],
        "codes": expected[1],
    }
    return {**case, **changes}


def files(sources: Path) -> dict[str, bytes]:
    """Every file of ``bundles/`` by its path in ``tests/vectors``."""
    with tempfile.TemporaryDirectory() as name:
        corpus = Corpus(Path(name) / "workspace", sources)
        try:
            return _files(corpus, Artifacts(corpus, sources))
        finally:
            corpus.workspace.close()


def _accepting(corpus: Corpus) -> dict[str, tuple[Bundle, dict[str, Any]]]:
    policy = {**corpus.workspace.policy(), "include_unverified_annotations": True}
    annotations = [{"text": "Refunds take a week.", "evidence": [0, 1]}]
    annotated = corpus.attest(policy, EVIDENCE[:2], annotations=annotations)
    projection = _self_hashed({name: value for name, value in corpus.asked.items() if name != "audit"})
    understated = copy.deepcopy(corpus.asked)
    _changed(f"{CITATION}.evidence_level", "chunk_only")(understated)
    with_audience = corpus.ask(QUESTION, audience="help desk", subject="user 17", groups=("hr", "public"))
    return {
        "asked": (corpus.asked, {}),
        "attested": (corpus.attested, {"question": ""}),
        "annotated": (annotated, {"question": None, "any_question": True}),
        "projection": (projection, {"profile": "public", "question": None}),
        "asked-for-somebody": (
            with_audience,
            {
                "audience": "help desk",
                "subject": "user 17",
                "groups": ["hr", "public"],
                "challenge": fixed_hex("challenge", 32),
            },
        ),
        # The consumer derives the level itself; a claim below it is modest, not false.
        "level-understated": (corpus.bound(understated), {}),
    }


def _files(corpus: Corpus, artifacts: Artifacts) -> dict[str, bytes]:
    built: dict[str, bytes] = {
        "bundles/trust-root.json": corpus.trust_root,
        "bundles/generation.json": corpus.generation,
        "bundles/live.json": corpus.live,
    }
    cases: dict[str, Bundle] = {}
    for name, (bundle, changes) in (_accepting(corpus) | artifacts.accepting()).items():
        built[f"bundles/{name}.json"] = dumps(bundle)
        cases[name] = _case(f"{name}.json", (0, []), **changes)
    unanswered = corpus.ask(UNANSWERABLE)
    built["bundles/insufficient.json"] = dumps(unanswered)
    cases["insufficient"] = _case("insufficient.json", (4, ["claims.none"]), question=UNANSWERABLE)
    for name, (bundle, expected, changes) in artifacts.refused().items():
        if bundle != artifacts.request:
            built[f"bundles/{name}.json"] = dumps(bundle)
        file = "request-registry" if bundle == artifacts.request else name
        cases[name] = _case(f"{file}.json", expected, **changes)
    for name, forgery in REBOUND.items():
        bundle = copy.deepcopy(corpus.asked)
        forgery.change(bundle)
        built[f"bundles/{name}.json"] = dumps(corpus.bound(bundle, forgery.kept))
        cases[name] = _case(f"{name}.json", (3, [forgery.code]))
    for name, (code, bundle) in _unsigned(corpus).items():
        built[f"bundles/{name}.json"] = dumps(bundle)
        cases[name] = _case(f"{name}.json", (3, [code]))
    for name, (changes, expected) in CALLS.items():
        cases[name] = _case("asked.json", expected, **changes)
    built["bundles/cases.json"] = dumps({"cases": [{"name": name, **case} for name, case in cases.items()]})
    return built
