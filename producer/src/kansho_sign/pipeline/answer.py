"""From a question or an untrusted answer to a signed bundle (docs/spec/bundle.md)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kansho_sign.bundle import Binding, Request, assemble, audit_payload, decision_json, public_payload
from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.claims import Cited, cite, claim
from kansho_sign.cose import sign_statement, statement_sha256
from kansho_sign.derivation import DerivedDocument, derive
from kansho_sign.document_map import DocumentMap
from kansho_sign.errors import FaultError, InputError, StateError
from kansho_sign.evidence import Decision, RegistrySource, check_answer
from kansho_sign.limits import LIMITS
from kansho_sign.output import write_whole
from kansho_sign.pipeline.publish import export
from kansho_sign.retrieval import RETRIEVAL, Index, build_index, rank
from kansho_sign.schema import validate
from kansho_sign.selfcheck import check_payloads
from kansho_sign.store import Connection, PublishedDocument, PublishedEntry
from kansho_sign.text import canonical_text
from kansho_sign.tokens import tokenise
from kansho_sign.workspace import Workspace

__all__ = ["Answer", "Asker", "View", "ask", "attest", "open_view", "write_bundle"]


@dataclass(frozen=True, slots=True)
class Asker:
    """What the host says of a request: who, for whom, when, and the random values (hex) that the host may fix."""

    tenant: str
    groups: tuple[str, ...]
    subject: str | None
    audience: str | None
    now: int
    nonce: str
    challenge: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, the bundle (None when nothing was signed), and for untrusted answers every decision."""

    status: str
    bundle: JsonObject | None
    decisions: tuple[Decision, ...] = ()

    @property
    def findings(self) -> list[Decision]:
        """The refused items, in the answer's order."""
        return [decision for decision in self.decisions if decision.finding is not None]


class View:
    """What one subject may see of the published generation, at one moment; derives documents when they are needed."""

    def __init__(self, workspace: Workspace, c: Connection, tenant: str, groups: Sequence[str]) -> None:
        store = workspace.store
        statement = store.published_statement(c)
        if statement is None:
            raise StateError("publish.missing", "nothing is published yet", hint="kansho-sign publish")
        self._workspace, self._c = workspace, c
        self.generation = statement
        self.tenant, self.groups = tenant, tuple(sorted(set(groups)))
        self.documents: Mapping[str, PublishedDocument] = {
            one.revision.document: one for one in store.visible_documents(c, tenant, self.groups)
        }
        self.entries: list[PublishedEntry] = store.visible_entries(c, tenant, self.groups)
        self._places = {entry.entry: entry for entry in self.entries}
        self._index: Index | None = None
        self._map = DocumentMap({d.document_key: d.record_sha256 for d in store.published_documents(c)})
        self._derived: dict[str, DerivedDocument] = {}

    @property
    def index(self) -> Index:
        """The statistics of the visible entries, made when the first question comes."""
        if self._index is None:
            self._index = build_index((entry.entry, tokenise(entry.retrieval_text)) for entry in self.entries)
        return self._index

    def raw(self, sha256: str) -> bytes:
        """Raw bytes of a source."""
        return self._workspace.store.blob(self._c, sha256)

    def derived(self, document: str) -> DerivedDocument:
        """A visible document, derived from its raw bytes."""
        if document not in self._derived:
            revision = self.documents[document].revision
            self._derived[document] = derive(
                self._workspace.configuration.corpus, revision, self.raw(revision.raw_sha256)
            )
        return self._derived[document]

    def place(self, entry: str) -> PublishedEntry:
        """A visible entry by id."""
        return self._places[entry]

    def siblings(self, document: str) -> list[str]:
        """A document's membership proof."""
        return self._map.membership(self.documents[document].document_key)


class _LazyRegistry(Mapping[str, RegistrySource]):
    """The visible documents as evidence sees them; texts are made when they are looked at."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._made: dict[str, RegistrySource] = {}

    def __getitem__(self, source_id: str) -> RegistrySource:
        if source_id not in self._made:
            made = self._view.derived(source_id)
            self._made[source_id] = RegistrySource(source_id, made.source.role, made.text)
        return self._made[source_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._view.documents)

    def __len__(self) -> int:
        return len(self._view.documents)


def _binding(workspace: Workspace, asker: Asker) -> Binding:
    configuration = workspace.configuration
    return Binding(configuration.issuer, configuration.corpus, asker.now, "published", asker.nonce)


def _request(view: View, asker: Asker, question: str | None, top_k: int | None) -> Request:
    return Request(
        tenant=asker.tenant,
        groups=view.groups,
        subject=asker.subject,
        audience=asker.audience,
        question=question,
        challenge=asker.challenge,
        authorization_revision=view.generation["payload"]["authorization_revision"],
        top_k=top_k,
    )


def _sign(workspace: Workspace, view: View, public: JsonObject, audit: JsonObject) -> JsonObject:
    check_payloads(public, audit, view.generation["payload"], view.raw)
    bundle = assemble(
        sign_statement(public, [workspace.key("citation")]),
        sign_statement(audit, [workspace.key("audit")]),
        view.generation,
    )
    validate(bundle, "bundle")
    return bundle


def _question(text: str) -> str:
    try:
        question = canonical_text(text)
    except InputError as error:
        raise error.at("question") from None
    if not question.strip() or len(question) > LIMITS.question_code_points:
        raise InputError("ask.question", f"a question has 1 to {LIMITS.question_code_points} characters", "question")
    return question


def ask(workspace: Workspace, view: View, question: str, asker: Asker, *, top_k: int) -> Answer:
    """Answers with the highest-ranked entries, each a claim, or with ``insufficient_evidence``."""
    question = _question(question)
    ranking = rank(view.index, question, top_k)
    request = _request(view, asker, question, top_k)
    cited: list[Cited] = []
    for scored in ranking.entries:
        place = view.place(scored.entry_id)
        document = view.derived(place.document)
        entry = document.entries[place.position]
        if entry.entry != place.entry:
            raise FaultError("store.damaged", "a stored entry is not what its source derives", place.document)
        cited.append(cite(document, entry.start, entry.end))
    status = "answered" if cited else "insufficient_evidence"
    binding = _binding(workspace, asker)
    public = public_payload(binding, request, status, [claim(one) for one in cited])
    counts = {
        "visible_documents": len(view.documents),
        "visible_entries": len(view.entries),
        "matched_entries": ranking.matched,
        "eligible_entries": ranking.eligible,
        "selected_entries": len(cited),
    }
    audit = audit_payload(
        binding,
        request,
        public,
        generation_sha256=statement_sha256(view.generation["payload"]),
        method=RETRIEVAL,
        cited=cited,
        siblings=view.siblings,
        selection=[scored.entry_id for scored in ranking.entries],
        counts=counts if cited else None,
    )
    return Answer(status, _sign(workspace, view, public, audit))


def attest(
    workspace: Workspace,
    view: View,
    answer: JsonObject,
    policy: JsonObject,
    asker: Asker,
    *,
    question: str | None = None,
) -> Answer:
    """Checks an untrusted answer (valid under its schema) under a policy; signs only when every item holds."""
    if policy["coverage"] is not None:
        hint = "set coverage to null"
        raise InputError("policy.coverage", "artifacts are not made by this version", "$.coverage", hint)
    if not answer["evidence"]:
        raise InputError(
            "evidence.none",
            "an answer without evidence has nothing to attest",
            "$.evidence",
            "have the model quote its sources",
        )
    asked = _question(question) if question else None
    decisions = check_answer(answer, policy, _LazyRegistry(view))
    if any(decision.finding for decision in decisions):
        return Answer("evidence_rejected", None, tuple(decisions))
    _check_work(view, decisions)
    claims: dict[str, JsonObject] = {}
    cited: list[Cited] = []
    made_of: list[str | None] = []
    for decision in decisions:
        if decision.span is None:
            made_of.append(None)
            continue
        one = cite(view.derived(decision.source_id), decision.span.start, decision.span.end)
        made = claim(one)
        made_of.append(made["claim"])
        if made["claim"] not in claims:
            claims[made["claim"]] = made
            cited.append(one)
    annotations = _annotations(answer, policy, made_of)
    request, binding = _request(view, asker, asked, None), _binding(workspace, asker)
    public = public_payload(binding, request, "answered", list(claims.values()), annotations)
    audit = audit_payload(
        binding,
        request,
        public,
        generation_sha256=statement_sha256(view.generation["payload"]),
        method="evidence",
        cited=cited,
        siblings=view.siblings,
        counts={
            "visible_documents": len(view.documents),
            "visible_entries": len(view.entries),
            "matched_entries": 0,
            "eligible_entries": 0,
            "selected_entries": 0,
        },
        evidence=[decision_json(d, made) for d, made in zip(decisions, made_of, strict=True)],
        policy=policy,
    )
    return Answer("answered", _sign(workspace, view, public, audit), tuple(decisions))


def _check_work(view: View, decisions: Sequence[Decision]) -> None:
    """A bundle whose occurrences no consumer would count is not made."""
    counted = {(one.span.source_id, one.excerpt_sha256): one.span.occurrences for one in decisions if one.span}
    work = sum(
        len(view.derived(source_id).text) + LIMITS.work_of_an_occurrence * number
        for (source_id, _), number in counted.items()
    )
    if work > LIMITS.occurrence_work_code_points:
        why = "so much evidence in such long sources takes a consumer more work than it does"
        raise InputError("limits.work", why, "$.evidence", "attest it in several answers")


def _annotations(answer: JsonObject, policy: JsonObject, made_of: Sequence[str | None]) -> list[JsonObject]:
    """What the model wrote, tied to claims: only if the policy asks, never verified wording."""
    if not policy["include_unverified_annotations"]:
        return []
    made = []
    count = len(answer["evidence"])
    for position, annotation in enumerate(answer.get("annotations", [])):
        numbers: list[int] = annotation["evidence"]
        beyond = next((number for number in numbers if number >= count), None)
        if beyond is not None:
            where = f"$.annotations[{position}].evidence"
            raise InputError("annotation.evidence", f"there is no evidence[{beyond}]", where)
        leans_on = dict.fromkeys(claim for number in numbers if (claim := made_of[number]) is not None)
        made.append({"text": annotation["text"], "claims": list(leans_on)})
    return made


def write_bundle(workspace: Workspace, bundle: JsonObject, path: Path) -> None:
    """The audit section first (kept in the workspace, synced), then the bundle; both 0600, for both hold it."""
    workspace.write_audit(bundle["public"]["payload"]["trace_id"], bundle["audit"])
    write_whole(path, dumps(bundle), mode=0o600)


@contextmanager
def open_view(workspace: Workspace, tenant: str, groups: Sequence[str]) -> Iterator[View]:
    """The subject's view, consistent for as long as it is open. Raises StateError ``publish.missing``.

    What consumers read is brought up to date first, should a command have been killed before it wrote that.
    """
    export(workspace)
    with workspace.store.read() as connection:
        yield View(workspace, connection, tenant, groups)
