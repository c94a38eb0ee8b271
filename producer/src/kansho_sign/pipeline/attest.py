"""From an untrusted answer to a signed bundle (docs/spec/evidence.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kansho_sign.bundle import artifact_json, audit_payload, decision_json, public_payload
from kansho_sign.canonical_json import JsonObject
from kansho_sign.claims import Cited, cite, claim
from kansho_sign.cose import statement_sha256
from kansho_sign.errors import InputError
from kansho_sign.evidence import Annotation, Masking, Policy, Result, UntrustedAnswer, check
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline.requests import Answer, Asker, bind, canonical_question, request_of, sign
from kansho_sign.pipeline.view import View
from kansho_sign.workspace import Workspace

__all__ = ["Attestation", "attest", "materialise"]

NO_EVIDENCE = "an answer without evidence has nothing to attest"


@dataclass(frozen=True, slots=True)
class Attestation:
    """How an answer is to be checked and signed: ``question`` is the one that was answered, where there was one."""

    policy: Policy
    question: str | None = None
    masking: Masking | None = field(default=None, repr=False)
    sign_rejection: bool = False
    dry_run: bool = False


def attest(workspace: Workspace, view: View, answer: UntrustedAnswer, asker: Asker, attestation: Attestation) -> Answer:
    """Checks an untrusted answer and signs it when every item holds; a rejection only where that is asked for.

    Raises InputError ``evidence.none``, ``limits.work``, and as :func:`kansho_sign.evidence.check`.
    """
    if not answer.evidence:
        raise InputError("evidence.none", NO_EVIDENCE, "$.evidence", "have the model quote its sources")
    result = check(answer, view.registry, attestation.policy, masking=attestation.masking)
    status = "evidence_rejected" if result.findings else "answered"
    if attestation.dry_run or (result.findings and not attestation.sign_rejection):
        return Answer(status, None, result)
    return Answer(status, _sign(workspace, view, asker, attestation, result, annotations=answer.annotations), result)


def materialise(workspace: Workspace, view: View, asker: Asker, attestation: Attestation) -> Answer:
    """The selected sources of a policy as a signed artifact, where there is no answer to check or none was taken.

    Raises InputError ``policy.nothing_selected`` for a policy that materialises no source.
    """
    result = check(UntrustedAnswer(()), view.registry, attestation.policy)
    if result.artifact is None or not result.artifact.sources:
        raise InputError("policy.nothing_selected", "the policy materialises no source", "$.selected_ids")
    return Answer("answered", _sign(workspace, view, asker, attestation, result), result)


class _Claims:
    """Claims in order, each once, with the citations under them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.claims: dict[str, JsonObject] = {}
        self.cited: list[Cited] = []
        self._made: dict[tuple[str, int, int], str] = {}

    def claim(self, document: str, start: int, end: int) -> str:
        """The id of the claim that cites ``[start, end)`` of a document."""
        place = document, start, end
        if place not in self._made:
            one = cite(self._view.derived(document), start, end)
            made = claim(one)
            self._made[place] = made["claim"]
            self.claims[made["claim"]] = made
            self.cited.append(one)
        return self._made[place]


def _sign(
    workspace: Workspace,
    view: View,
    asker: Asker,
    attestation: Attestation,
    result: Result,
    *,
    annotations: Sequence[Annotation] = (),
) -> JsonObject:
    policy, question = attestation.policy, attestation.question
    request = request_of(view, asker, canonical_question(question) if question else None, None)
    binding, claims = bind(workspace, view, asker), _Claims(view)
    rejected = bool(result.findings)
    if not rejected:
        _check_work(view, result)
    spans = [None if rejected else decision.span for decision in result.decisions]
    made_of = [claims.claim(span.source_id, span.start, span.end) if span else None for span in spans]
    artifact: JsonObject | None = None
    if result.artifact is not None:
        evidence = [claim for claim in made_of if claim is not None]
        whole = [claims.claim(one.source_id, 0, len(one.text)) for one in result.artifact.sources]
        artifact = artifact_json(result.artifact, [claims.claims[one] for one in dict.fromkeys(evidence)], whole)
    shown = policy.include_unverified_annotations and not rejected
    public = public_payload(
        binding,
        request,
        "evidence_rejected" if rejected else "answered",
        list(claims.claims.values()),
        annotations=_annotations(annotations, made_of) if shown else [],
        artifact=artifact,
    )
    counts = {
        "visible_documents": view.document_count,
        "visible_entries": view.entry_count,
        "matched_entries": 0,
        "eligible_entries": 0,
        "selected_entries": 0,
    }
    audit = audit_payload(
        binding,
        request,
        public,
        generation_sha256=statement_sha256(view.generation["payload"]),
        method="evidence",
        cited=claims.cited,
        siblings=view.siblings,
        counts=None if rejected else counts,
        evidence=[decision_json(d, made) for d, made in zip(result.decisions, made_of, strict=True)],
        policy=policy.to_json(),
    )
    return sign(workspace, view, public, audit)


def _annotations(annotations: Sequence[Annotation], made_of: Sequence[str | None]) -> list[JsonObject]:
    """What the model wrote, tied to claims; never verified wording."""
    made = []
    for annotation in annotations:
        leans_on = dict.fromkeys(claim for number in annotation.evidence if (claim := made_of[number]) is not None)
        made.append({"text": annotation.text, "claims": list(leans_on)})
    return made


def _check_work(view: View, result: Result) -> None:
    """A bundle whose occurrences no consumer would count is not made."""
    sizes: dict[str, int] = {}
    counted = {(one.span.source_id, one.excerpt_sha256): one.span.occurrences for one in result.decisions if one.span}
    if result.artifact is not None:
        counted |= {(one.source_id, ""): 1 for one in result.artifact.sources}
    work = 0
    for (source_id, _), number in counted.items():
        if source_id not in sizes:
            sizes[source_id] = len(view.registry[source_id].text)
        work += sizes[source_id] + LIMITS.work_of_an_occurrence * number
    if work > LIMITS.occurrence_work_code_points:
        why = "so much evidence in such long sources takes a consumer more work than it does"
        raise InputError("limits.work", why, "$.evidence", "attest it in several answers")
