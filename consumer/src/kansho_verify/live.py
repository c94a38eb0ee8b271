"""Step 11: what holds now: authorization, deletion, blocking (``docs/spec/statements.md``, Live state)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kansho_verify.canonical_json import JsonObject
from kansho_verify.documents import Document
from kansho_verify.reasons import Code, Reason

__all__ = ["check_documents", "check_live", "live_missing"]


def check_live(live: JsonObject, *, authorization_revision: str, now: int) -> Iterator[Reason]:
    """Expiry and authorization revision of a verified live state of this corpus."""
    if live["expires_at"] < now:
        detail = "the live state has expired"
        yield Reason(Code.LIVE_EXPIRED, "", detail, hint="get the newest live state (--live or --published)")
    if live["authorization_revision"] != authorization_revision:
        path = "$.audit.payload.request.authorization_revision"
        detail = "authorization has changed since the answer was made"
        yield Reason(Code.LIVE_AUTHORIZATION_CHANGED, path, detail, hint="ask for a new answer")


def check_documents(
    live: JsonObject, claims: Sequence[JsonObject], documents: Mapping[str, Document]
) -> Iterator[tuple[int, int, Reason]]:
    """Which citations, by claim and position, are of a document that was deleted or blocked."""
    sequences = {document.key: document.event_sequence for document in documents.values()}
    gone: dict[str, Reason] = {}
    for key in live["blocked"]:
        if key in sequences:
            detail = "access to the cited document has changed since the generation was built"
            gone[key] = Reason(Code.LIVE_DOCUMENT_BLOCKED, "$.document", detail, hint="ask for a new answer")
    for tombstone in live["tombstones"]:
        key = tombstone["document_key"]
        if key in sequences and sequences[key] <= tombstone["event_sequence"]:
            detail = "the cited document was deleted"
            gone[key] = Reason(Code.LIVE_DOCUMENT_DELETED, "$.document", detail, hint="ask for a new answer")
    if not gone:
        return
    for i, claim in enumerate(claims):
        for j, citation in enumerate(claim["citations"]):
            document = documents.get(citation["document"])
            if document is not None and document.key in gone:
                yield i, j, gone[document.key]


def live_missing() -> Reason:
    """The reason for a caller who neither gave nor waived the live state."""
    hint = "--published DIR or --live FILE, or --no-live to waive it"
    return Reason(Code.LIVE_MISSING, "", "no live state was given: deletion and blocking are unknown", hint=hint)
