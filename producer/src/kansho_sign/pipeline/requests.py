"""What is asked, by whom, and what comes of it: a signed bundle, or why there is none (docs/spec/bundle.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kansho_sign.bundle import Binding, Request, assemble
from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.cose import sign_statement
from kansho_sign.errors import InputError
from kansho_sign.evidence import Decision, Result
from kansho_sign.limits import LIMITS
from kansho_sign.output import write_whole
from kansho_sign.pipeline.view import View
from kansho_sign.schema import validate
from kansho_sign.selfcheck import check_payloads
from kansho_sign.text import canonical_text
from kansho_sign.workspace import Workspace

__all__ = ["Answer", "Asker", "bind", "canonical_question", "request_of", "sign", "write_bundle"]


@dataclass(frozen=True, slots=True)
class Asker:
    """What the host says of a request: who, for whom, when, and the random values (hex) that the host may fix.

    ``groups`` ascend, each once.
    """

    tenant: str
    groups: tuple[str, ...]
    subject: str | None
    audience: str | None
    now: int
    nonce: str
    challenge: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, the bundle (None when nothing was signed), and for untrusted answers what the check found."""

    status: str
    bundle: JsonObject | None
    result: Result | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One for each item of an untrusted answer."""
        return self.result.decisions if self.result else ()

    @property
    def undiagnosed(self) -> int:
        """How many near misses were not looked at."""
        return self.result.undiagnosed if self.result else 0

    @property
    def findings(self) -> Sequence[Decision]:
        """The refused items, in the answer's order."""
        return self.result.findings if self.result else ()


def bind(workspace: Workspace, view: View, asker: Asker) -> Binding:
    """What both sections say alike."""
    configuration = workspace.configuration
    registry = view.generation["payload"]["registry"]
    return Binding(configuration.issuer, configuration.corpus, asker.now, registry, asker.nonce)


def request_of(view: View, asker: Asker, question: str | None, top_k: int | None) -> Request:
    """The request as the audit section records it."""
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


def canonical_question(text: str) -> str:
    """A question in canonical form. Raises InputError ``ask.question``, ``text.*``."""
    try:
        question = canonical_text(text)
    except InputError as error:
        raise error.at("question") from None
    if not question.strip() or len(question) > LIMITS.question_code_points:
        raise InputError("ask.question", f"a question has 1 to {LIMITS.question_code_points} characters", "question")
    return question


def sign(workspace: Workspace, view: View, public: JsonObject, audit: JsonObject) -> JsonObject:
    """The signed bundle of two payloads, each checked against what the raw bytes give."""
    check_payloads(public, audit, view.generation["payload"], view.raw)
    bundle = assemble(
        sign_statement(public, [workspace.key("citation")]),
        sign_statement(audit, [workspace.key("audit")]),
        view.generation,
    )
    validate(bundle, "bundle")
    return bundle


def write_bundle(workspace: Workspace, bundle: JsonObject, path: Path) -> None:
    """The audit section first (kept in the workspace, synced), then the bundle; both 0600, for both hold it."""
    workspace.write_audit(bundle["public"]["payload"]["trace_id"], bundle["audit"])
    write_whole(path, dumps(bundle), mode=0o600)
