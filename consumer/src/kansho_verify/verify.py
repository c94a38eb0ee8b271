"""The numbered checklist of ``docs/spec/verification.md``: the only module that calls several stages.

The core does no input or output: bytes, expectations and the time come in, a verdict goes out. Each step takes only
what the steps before it have made; a step that cannot run is ``check.not_reached``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from kansho_verify import bindings, cited, decisions, generation, live, ordering, schema, spans, strict_json
from kansho_verify.canonical_json import JsonObject
from kansho_verify.checklist import Checklist, Step
from kansho_verify.conclusion import Given, make_verdict
from kansho_verify.documents import Document
from kansho_verify.expectations import Expectations, Profile
from kansho_verify.limits import LIMITS
from kansho_verify.opening import Bundle, open_bundle
from kansho_verify.profiles import is_expected_request, is_live_waived, required_steps
from kansho_verify.projection import self_hash
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.sources import MappingSources, Sources
from kansho_verify.statement import Statement, read_statement
from kansho_verify.trust import Moment, TrustRoot, check_signatures, check_trust_root, load_trust_root
from kansho_verify.verdict import Verdict

__all__ = ["verify"]


def verify(
    data: bytes,
    *,
    trust_root: bytes | None,
    expected: Expectations,
    now: int,
    profile: Profile = Profile.BOUNDARY,
    generation: bytes | None = None,
    live: bytes | None = None,
    sources: Sources | Mapping[str, bytes] | None = None,
    time_source: str = "given",
) -> Verdict:
    """Check a bundle and say everything that was found (``docs/spec/verification.md``).

    ``data`` is the bundle. ``trust_root``, ``generation`` and ``live`` are the bytes of the consumer's own files, or
    None; ``sources`` are its own copies of the sources, in memory by name or behind
    :class:`~kansho_verify.sources.Sources`. ``now`` is in seconds since 1970; ``time_source``, ``"clock"`` or
    ``"given"``, says where it is from. Does no input or output itself, opens no socket, and raises nothing for what
    the bytes hold: refusals are in the verdict.
    """
    run = _Run(data, Given(trust_root, expected, profile, generation, live, _sources(sources), now, time_source))
    run.check()
    return run.verdict()


def _sources(sources: Sources | Mapping[str, bytes] | None) -> Sources | None:
    return MappingSources(sources) if isinstance(sources, Mapping) else sources


class _Run:
    """One verification: the steps in order, and what they have made so far."""

    def __init__(self, data: bytes, given: Given) -> None:
        self._data = data
        self._given = given
        self._expected = given.expected
        self._is_public = given.profile is Profile.PUBLIC
        self._list = Checklist(required_steps(given.profile, given.expected))
        self._moment = Moment(given.now, given.expected.trust_claimed_time)
        self._value: JsonObject | None = None
        self._bundle: Bundle | None = None
        self._trust: TrustRoot | None = None
        self._live: Statement | None = None
        self._documents: dict[str, Document] = {}
        self._bound = False
        self._live_waived = is_live_waived(given.profile, given.expected)
        self._of_request = False

    def check(self) -> None:
        """Run every step that can be run."""
        self._check_form()
        if self._bundle is not None:
            self._check_trust(self._bundle)
            if self._trust is not None and not self._list.failed(Step.TRUST_ROOT):
                self._check_content(self._bundle, self._trust)
        self._name_missing()

    def verdict(self) -> Verdict:
        """The verdict, when every step that can be run was."""
        bundle = self._bundle
        return make_verdict(
            self._data,
            self._given,
            self._list,
            value=self._value,
            self_hash="unknown" if self._value is None else self_hash(self._value),
            trust_root=self._trust,
            generation=None if bundle is None else bundle.generation,
            bound_to_question=self._bound,
        )

    def _check_form(self) -> None:
        """Steps 1 to 4."""
        with self._list.step(Step.LIMITS):
            if len(self._data) > LIMITS.bundle_bytes:
                detail = f"{len(self._data)} bytes; the limit is {LIMITS.bundle_bytes}"
                raise VerifyError(Reason(Code.LIMITS_BYTES, "", detail))
            pin = self._expected.pins.bundle
            if pin is not None and hashlib.sha256(self._data).hexdigest() != pin:
                raise VerifyError(Reason(Code.PIN_BUNDLE_MISMATCH, "", "these bytes are not the pinned bundle"))
        if self._list.failed(Step.LIMITS):
            return
        value: JsonObject | None = None
        with self._list.step(Step.CANONICAL):
            value = strict_json.parse(self._data, limit_bytes=LIMITS.bundle_bytes)
        if value is None:
            return
        with self._list.step(Step.SCHEMA):
            schema.check("bundle", value)
            if value is not None:
                ordering.check_bundle(value)
                self._value = value
        if self._value is None:
            return
        # The registry is not verified yet. Where it is false, step 6, 7 or 8 fails, so that nothing is waived by it.
        self._of_request = is_expected_request(self._value["public"]["payload"]["registry"], self._expected)
        if self._of_request and self._given.live is None:
            self._list.waive(Step.LIVE)
        with self._list.step(Step.ENVELOPE):
            self._bundle = open_bundle(self._value, public_only=self._is_public)

    def _check_trust(self, bundle: Bundle) -> None:
        """Step 5, and the reading of the live state, which may demand a newer trust root."""
        with self._list.step(Step.TRUST_ROOT):
            if self._given.trust_root is None:
                detail, hint = "no trust root was given", "--trust-root FILE names the issuer's trust root"
                raise VerifyError(Reason(Code.TRUST_ROOT_MISSING, "", detail, hint=hint))
            try:
                trust = load_trust_root(self._given.trust_root, self._moment)
            except VerifyError as error:
                raise VerifyError(error.reason.under("", "trust root")) from error
            self._trust = trust
            self._list.add(Step.TRUST_ROOT, *(doubt.under("", "trust root") for doubt in trust.doubts))
            self._read_live(trust)
            state = None if self._live is None else self._live.payload
            reasons = check_trust_root(trust, bundle.public.payload, live=state, now=self._given.now)
            self._list.add(Step.TRUST_ROOT, *reasons)

    def _read_live(self, trust: TrustRoot) -> None:
        if self._given.live is None or self._is_public or self._live_waived:
            return
        with self._list.early(Step.LIVE):
            statement = self._read_own("live", self._given.live, LIMITS.live_bytes, trust, Step.LIVE)
            if (statement.payload["issuer"], statement.payload["corpus"]) != (trust.issuer, trust.corpus):
                detail = "the live state is of another issuer or corpus"
                raise VerifyError(Reason(Code.LIVE_CORPUS_MISMATCH, "", detail, hint="--live names the wrong file"))
            self._live = statement

    def _read_own(self, name: str, data: bytes, limit: int, trust: TrustRoot, step: Step) -> Statement:
        """A statement from a file of the consumer's own: steps 1 to 6 for it, its reasons under ``step``."""
        about = f"{name} statement"
        try:
            statement = read_statement(name, data, limit)
            doubts = check_signatures(statement, trust, self._moment)
        except VerifyError as error:
            raise VerifyError(error.reason.under("", about)) from error
        self._list.add(step, *(doubt.under("", about) for doubt in doubts))
        return statement

    def _check_content(self, bundle: Bundle, trust: TrustRoot) -> None:
        """Steps 6 to 12."""
        with self._list.step(Step.SIGNATURES):
            self._check_bundle_signatures(bundle, trust)
        if self._list.failed(Step.SIGNATURES):
            return
        with self._list.step(Step.BINDINGS):
            self._check_bindings(bundle)
        if self._list.failed(Step.BINDINGS):
            return
        if bundle.audit is not None and bundle.generation is not None:
            with self._list.step(Step.GENERATION):
                self._check_generation(bundle.generation, trust)
            if self._list.failed(Step.GENERATION):
                return
            with self._list.step(Step.DOCUMENTS):
                self._check_documents(bundle.public.payload, bundle.audit.payload, bundle.generation.payload)
            if self._list.failed(Step.DOCUMENTS):
                return
        elif not self._is_public:
            return
        with self._list.step(Step.SOURCES):
            self._check_sources(bundle)
        if bundle.audit is not None:
            self._check_live(bundle.public.payload, bundle.audit.payload)
        if self._given.profile is Profile.AUDIT:
            with self._list.step(Step.AUDIT):
                detail = "replaying the audit needs the pack, which this version cannot read"
                hint = "a later version takes the pack; until then the profile boundary is the most that passes"
                raise VerifyError(Reason(Code.AUDIT_PACK_MISSING, "", detail, hint=hint))

    def _check_bundle_signatures(self, bundle: Bundle, trust: TrustRoot) -> None:
        for statement, path in bundle.statements():
            try:
                doubts = check_signatures(statement, trust, self._moment)
            except VerifyError as error:
                self._list.add(Step.SIGNATURES, error.reason.under(path))
                continue
            self._list.add(Step.SIGNATURES, *(doubt.under(path) for doubt in doubts))
        max_age = self._expected.max_age
        if max_age is not None and self._given.now - bundle.public.payload["issued_at"] > max_age:
            detail = f"the answer is older than {max_age} seconds"
            self._list.add(Step.SIGNATURES, Reason(Code.TIME_TOO_OLD, "$.public.payload.issued_at", detail))

    def _check_bindings(self, bundle: Bundle) -> None:
        public = bundle.public.payload
        self._list.add(Step.BINDINGS, *bindings.check_public(public))
        if bundle.audit is None or bundle.generation is None:
            self._list.add(Step.BINDINGS, *bindings.check_agreement(public["claims"]))
            self._list.add(Step.BINDINGS, *bindings.check_request_commitment(public, self._expected))
            self._bound = bindings.commits(self._expected) and not self._list.failed(Step.BINDINGS)
            if not self._is_public:
                self._list.add(Step.BINDINGS, *bindings.check_sealed(bundle.sealed_for, bundle.public.sha256))
                self._list.add(Step.BINDINGS, bundle.audit_absent())
            return
        audit = bundle.audit.payload
        self._list.add(Step.BINDINGS, *bindings.check_audit_bindings(bundle.public, bundle.audit, bundle.generation))
        self._list.add(Step.BINDINGS, *bindings.check_request(audit["request"], self._expected))
        self._list.add(Step.BINDINGS, *decisions.check_decisions(public, audit))
        self._list.add(Step.BINDINGS, *decisions.check_policy(public, audit))
        self._bound = self._expected.question is not None and not self._list.failed(Step.BINDINGS)

    def _check_generation(self, embedded: Statement, trust: TrustRoot) -> None:
        given: Statement | None = None
        self._list.add(Step.GENERATION, *generation.check_pins(embedded.payload, embedded.sha256, self._expected.pins))
        if self._given.generation is not None and embedded.payload["registry"] == "published":
            data = self._given.generation
            given = self._read_own("generation", data, LIMITS.generation_bytes, trust, Step.GENERATION)
            mismatches = list(generation.check_given(given, embedded.payload))
            if mismatches:
                self._list.add(Step.GENERATION, *mismatches)
                return
        reasons = generation.check_generation(
            embedded, expected=self._expected, given=given, live=self._live, now=self._given.now
        )
        self._list.add(Step.GENERATION, *reasons)

    def _check_documents(self, public: JsonObject, audit: JsonObject, holder: JsonObject) -> None:
        made = cited.check_documents(public, audit, holder)
        self._documents = made.documents
        self._list.add(Step.DOCUMENTS, *made.reasons)
        for claim, position, reason in made.of_citations:
            self._list.add_to_citation(Step.DOCUMENTS, claim, position, reason)

    def _check_sources(self, bundle: Bundle) -> None:
        if not bundle.public.payload["claims"]:
            return
        if self._given.sources is None:
            reason = spans.source_not_given()
            self._list.leave_open(reason)
            raise VerifyError(reason)
        places = spans.cited_places(bundle.public.payload, self._documents)
        version = boundary = None
        if bundle.generation is not None:
            version = bundle.generation.payload["pipeline"]["unicode_version"]
        if bundle.audit is not None and bundle.audit.payload["policy"] is not None:
            boundary = bundle.audit.payload["policy"]["excerpt_boundary"]
        try:
            for finding in spans.check_spans(places, self._given.sources, unicode_version=version, boundary=boundary):
                self._list.set_level(finding.claim, finding.position, finding.evidence_level)
                for reason in finding.reasons:
                    self._list.add_to_citation(Step.SOURCES, finding.claim, finding.position, reason)
        except VerifyError as error:  # it stopped in the middle: what was not looked at must not pass
            self._list.leave_open(error.reason)
            raise

    def _check_live(self, public: JsonObject, audit: JsonObject) -> None:
        if self._live_waived or (self._of_request and self._given.live is None):
            return
        with self._list.step(Step.LIVE):
            if self._live is None:
                if self._given.live is None:
                    raise VerifyError(live.live_missing())
                return
            state = self._live.payload
            revision = audit["request"]["authorization_revision"]
            reasons = live.check_live(state, authorization_revision=revision, now=self._given.now)
            self._list.add(Step.LIVE, *reasons)
            if self._of_request:  # what is deleted and blocked there is of another map
                return
            for claim, position, reason in live.check_documents(state, public["claims"], self._documents):
                self._list.add_to_citation(Step.LIVE, claim, position, reason)

    def _name_missing(self) -> None:
        """Where a step was not reached, still say what the caller did not give, so that it is learnt at once."""
        if self._expected.pins.of_generation and not self._list.reached(Step.GENERATION):
            detail = "the pinned values stand in the audit section, which was not read"
            self._list.add(Step.GENERATION, Reason(Code.PIN_UNAVAILABLE, "", detail))
        if self._list.failed_anywhere():
            return
        if not self._list.reached(Step.SOURCES) and self._given.sources is None:
            self._list.add(Step.SOURCES, spans.source_not_given())
        if self._is_public:
            return
        if (
            not self._list.reached(Step.BINDINGS)
            and self._expected.question is None
            and not self._expected.any_question
        ):
            self._list.add(Step.BINDINGS, bindings.question_missing())
        if self._of_request:
            return
        if not self._list.reached(Step.GENERATION) and self._given.generation is None and self._given.live is None:
            self._list.add(Step.GENERATION, generation.current_unknown())
        if not self._list.reached(Step.LIVE) and self._given.live is None and not self._live_waived:
            self._list.add(Step.LIVE, live.live_missing())
