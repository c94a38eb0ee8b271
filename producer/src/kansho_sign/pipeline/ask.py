"""From a question to a signed bundle (docs/spec/retrieval.md)."""

from kansho_sign.bundle import audit_payload, public_payload
from kansho_sign.claims import Cited, cite, claim
from kansho_sign.cose import statement_sha256
from kansho_sign.errors import FaultError
from kansho_sign.pipeline.requests import Answer, Asker, bind, canonical_question, request_of, sign
from kansho_sign.pipeline.view import PublishedView
from kansho_sign.retrieval import RETRIEVAL, rank
from kansho_sign.workspace import Workspace

__all__ = ["ask"]


def ask(workspace: Workspace, view: PublishedView, question: str, asker: Asker, *, top_k: int) -> Answer:
    """Answers with the highest-ranked entries, each a claim, or with ``insufficient_evidence``."""
    question = canonical_question(question)
    ranking = rank(view.index, question, top_k)
    request = request_of(view, asker, question, top_k)
    cited: list[Cited] = []
    for scored in ranking.entries:
        place = view.entries[scored.entry_id]
        document = view.derived(place.document)
        entry = document.entries[place.position]
        if entry.entry != place.entry:
            raise FaultError("store.damaged", "a stored entry is not what its source derives", place.document)
        cited.append(cite(document, entry.start, entry.end))
    status = "answered" if cited else "insufficient_evidence"
    binding = bind(workspace, view, asker)
    public = public_payload(binding, request, status, [claim(one) for one in cited])
    counts = {
        "visible_documents": view.document_count,
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
    return Answer(status, sign(workspace, view, public, audit))
