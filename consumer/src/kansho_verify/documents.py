"""Step 9, first half: every document of the audit section, rebuilt from its parts and tied to the generation's map.

``docs/spec/identities.md``, ``document-map.md``, ``bundle.md`` (Document).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kansho_verify import document_map, identity
from kansho_verify.canonical_json import JsonObject
from kansho_verify.escape import shown
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.text import NORMALISER

__all__ = ["Document", "Element", "Entry", "rebuild_document"]


@dataclass(frozen=True, slots=True)
class Element:
    """An element's span in code points, and the hash of its text."""

    char_start: int
    char_end: int
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A disclosed index entry whose proof holds. ``listing`` is the object that a citation lists it by."""

    index: int
    char_start: int
    char_end: int
    content_sha256: str
    elements: tuple[Element, ...]
    listing: JsonObject


@dataclass(frozen=True, slots=True)
class Document:
    """A document that the generation holds, with everything that a citation of it must repeat.

    ``key`` is the document key in hexadecimal; ``entries`` are the disclosed ones, ascending.
    """

    parts: JsonObject
    key: str
    canonical_revision: str
    parse_revision: str
    coordinate_space: str
    entry_count: int
    event_sequence: int
    entries: tuple[Entry, ...]

    @property
    def has_projection(self) -> bool:
        """Whether the canonical text is a projection's and not the decoded file."""
        return self.parts["projection"] is not None


def rebuild_document(document: JsonObject, *, request: JsonObject, generation: JsonObject, path: str) -> Document:
    """Rebuild ``document`` of the audit section, for the request's groups and tenant, in this generation.

    ``path`` is where it stands. Raises VerifyError: ``acl.not_allowed``, ``document.parser_unknown``,
    ``document.proof_invalid``, ``entry.order``, ``entry.elements_invalid``, ``entry.proof_invalid``.
    """
    acl = document["acl"]
    if set(acl["groups"]).isdisjoint(request["groups"]):
        detail = "none of the request's groups may see this document"
        raise VerifyError(Reason(Code.ACL_NOT_ALLOWED, f"{path}.acl.groups", detail))
    acl_hash = identity.acl_hash(acl["groups"], acl["salt"])
    tenant = request["tenant"]
    canonical_revision = identity.canonical_revision_id(
        document, corpus=generation["corpus"], tenant=tenant, normaliser=NORMALISER, acl=acl_hash
    )
    parser = _parser_of(document["media_type"], generation["pipeline"], path)
    parse_revision = identity.parse_revision_id(
        canonical_revision, parser=parser["parser"], configuration_sha256=parser["configuration_sha256"]
    )
    projection = document["projection"]
    space = NORMALISER if projection is None else projection["coordinate_space"]
    key = document_map.document_key(bytes.fromhex(generation["map_salt"]), tenant=tenant, document=document["document"])
    record = {
        "document_key": key.hex(),
        "canonical_revision": canonical_revision,
        "parse_revision": parse_revision,
        "event_sequence": document["event_sequence"],
        "entry_count": document["entry_count"],
        "entry_root": document["entry_root"],
    }
    root = bytes.fromhex(generation["document_map_root"])
    siblings = [bytes.fromhex(sibling) for sibling in document["siblings"]]
    if not document_map.verify_membership(root=root, key=key, record=record, siblings=siblings):
        detail = "the generation does not hold this document as it is described here"
        raise VerifyError(Reason(Code.DOCUMENT_PROOF_INVALID, path, detail))
    _check_spans(document["entries"], f"{path}.entries")
    entries = []
    for i, entry in enumerate(document["entries"]):
        ids = _entry_ids(
            entry,
            canonical_revision=canonical_revision,
            parse_revision=parse_revision,
            space=space,
            acl=acl_hash,
            pipeline=generation["pipeline"],
        )
        _check_inclusion(entry, ids, document, f"{path}.entries[{i}]")
        entries.append(_entry(entry, ids))
    return Document(
        parts=document,
        key=key.hex(),
        canonical_revision=canonical_revision,
        parse_revision=parse_revision,
        coordinate_space=space,
        entry_count=document["entry_count"],
        event_sequence=document["event_sequence"],
        entries=tuple(entries),
    )


def _parser_of(media_type: str, pipeline: JsonObject, path: str) -> JsonObject:
    for parser in pipeline["parsers"]:
        if parser["media_type"] == media_type:
            found: JsonObject = parser
            return found
    detail = f"the generation's pipeline has no parser for {shown(media_type, 64)}"
    raise VerifyError(Reason(Code.DOCUMENT_PARSER_UNKNOWN, f"{path}.media_type", detail))


def _check_spans(entries: Sequence[JsonObject], path: str) -> None:
    """Entries do not overlap; elements ascend, overlap their entry and cover it; neighbours share at most one."""
    end = 0
    last: tuple[int, int, str, str] | None = None
    for i, entry in enumerate(entries):
        if not end <= entry["char_start"] < entry["char_end"]:
            detail = "entries of a document are not empty, ascend and do not overlap"
            raise VerifyError(Reason(Code.ENTRY_ORDER, f"{path}[{i}]", detail))
        end = entry["char_end"]
        for j, element in enumerate(entry["elements"]):
            this = (element["char_start"], element["char_end"], element["element_kind"], element["text_sha256"])
            shared = j == 0 and this == last
            follows = last is None or last[1] <= this[0]
            overlaps = this[0] < min(this[1], entry["char_end"]) and entry["char_start"] < this[1]
            if not (shared or follows) or not overlaps:
                detail = "elements ascend, do not overlap one another, and each overlaps its entry"
                raise VerifyError(Reason(Code.ENTRY_ELEMENTS_INVALID, f"{path}[{i}].elements[{j}]", detail))
            last = this
        inside = entry["elements"][0]["char_start"] <= entry["char_start"] and end <= entry["elements"][-1]["char_end"]
        if not inside:
            detail = "the entry does not lie within its elements"
            raise VerifyError(Reason(Code.ENTRY_ELEMENTS_INVALID, f"{path}[{i}].elements", detail))


def _entry_ids(
    entry: JsonObject, *, canonical_revision: str, parse_revision: str, space: str, acl: str, pipeline: JsonObject
) -> JsonObject:
    elements = [
        identity.element_id(element, parse_revision=parse_revision, coordinate_space=space)
        for element in entry["elements"]
    ]
    chunk = identity.chunk_id(
        entry,
        elements=elements,
        canonical_revision=canonical_revision,
        parse_revision=parse_revision,
        chunker=pipeline["chunker"],
        acl=acl,
    )
    retrieval_text = entry["retrieval_text_sha256"]
    name = identity.entry_id(chunk, retrieval_text_sha256=retrieval_text, index=pipeline["index"], acl=acl)
    return {"entry": name, "chunk": chunk, "elements": elements}


def _check_inclusion(entry: JsonObject, ids: JsonObject, document: JsonObject, path: str) -> None:
    record = ids | {name: entry[name] for name in ("char_start", "char_end", "content_sha256", "retrieval_text_sha256")}
    holds = document_map.verify_inclusion(
        index=entry["index"],
        size=document["entry_count"],
        leaf=document_map.entry_leaf(record),
        proof=[bytes.fromhex(sibling) for sibling in entry["proof"]],
        root=bytes.fromhex(document["entry_root"]),
    )
    if not holds:
        raise VerifyError(Reason(Code.ENTRY_PROOF_INVALID, path, "the document does not hold this entry at its index"))


def _entry(entry: JsonObject, ids: JsonObject) -> Entry:
    elements = tuple(
        Element(element["char_start"], element["char_end"], element["text_sha256"]) for element in entry["elements"]
    )
    return Entry(entry["index"], entry["char_start"], entry["char_end"], entry["content_sha256"], elements, ids)
