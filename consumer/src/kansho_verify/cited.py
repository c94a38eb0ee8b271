"""Step 9 as a whole: the documents, then every citation of them, then selection and summary."""

from __future__ import annotations

from dataclasses import dataclass, field

from kansho_verify.canonical_json import JsonObject
from kansho_verify.citations import Disclosure, check_citation, check_selection, check_summary
from kansho_verify.documents import Document, rebuild_document
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["CitedDocuments", "check_documents"]


@dataclass(frozen=True, slots=True)
class CitedDocuments:
    """What step 9 made: documents by id, reasons with whole paths, and reasons by claim and citation position."""

    documents: dict[str, Document] = field(default_factory=dict)
    reasons: list[Reason] = field(default_factory=list)
    of_citations: list[tuple[int, int, Reason]] = field(default_factory=list)


def check_documents(public: JsonObject, audit: JsonObject, generation: JsonObject) -> CitedDocuments:
    """Rebuild every document and citation; payloads that passed steps 1 to 8. Raises nothing.

    Codes: ``acl.*``, ``document.*``, ``entry.*``, ``citation.*``, ``selection.*``
    (``docs/spec/bundle.md``, ``document-map.md``, ``identities.md``).
    """
    result = CitedDocuments()
    refused: dict[str, Reason] = {}
    for i, document in enumerate(audit["documents"]):
        path = f"$.audit.payload.documents[{i}]"
        name = document["document"]
        try:
            result.documents[name] = rebuild_document(
                document, request=audit["request"], generation=generation, path=path
            )
        except VerifyError as error:
            refused[name] = error.reason
            result.reasons.append(error.reason)
    disclosed = {name: Disclosure(document) for name, document in result.documents.items()}
    cited: set[str] = set()
    for i, claim in enumerate(public["claims"]):
        for j, citation in enumerate(claim["citations"]):
            cited.add(citation["document"])
            if citation["document"] not in refused:
                reason = _check_citation(citation, result.documents, disclosed)
                if reason is not None:
                    result.of_citations.append((i, j, reason))
    for i, document in enumerate(audit["documents"]):
        path = f"$.audit.payload.documents[{i}]"
        if document["document"] not in cited:
            detail = "a document is listed that no citation cites"
            result.reasons.append(Reason(Code.DOCUMENT_NOT_CITED, path, detail))
        elif document["document"] in disclosed and not result.of_citations:
            result.reasons.extend(disclosed[document["document"]].check_surplus(path))
    result.reasons.extend(check_selection(public["claims"], audit, generation, result.documents))
    result.reasons.extend(check_summary(audit, generation))
    return result


def _check_citation(
    citation: JsonObject, documents: dict[str, Document], disclosed: dict[str, Disclosure]
) -> Reason | None:
    name = citation["document"]
    if name not in documents:
        return Reason(Code.DOCUMENT_NOT_LISTED, "$.document", "the audit section does not list the cited document")
    try:
        check_citation(citation, documents[name], disclosed[name])
    except VerifyError as error:
        return error.reason
    return None
