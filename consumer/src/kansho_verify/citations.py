"""Step 9, second half: every citation rebuilt and compared whole; selection and disclosure exact.

``docs/spec/bundle.md`` (Citation, Document, Selection and claims).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from kansho_verify.canonical_json import JsonObject
from kansho_verify.decisions import EVIDENCE
from kansho_verify.documents import Document, Entry
from kansho_verify.escape import shorten, shown
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["Disclosure", "check_citation", "check_selection", "check_summary"]

LEXICAL = "lexical-bm25-visible-v1"
CHUNK_ONLY = "chunk_only"

_REPEATED = ("document", "source_uri", "source_version", "media_type", "role", "raw_sha256", "raw_size")
_TAKEN_OVER = ("char_start", "char_end", "span_sha256", "occurrences", "evidence_level")
_AUDIT = "$.audit.payload"


class Disclosure:
    """Which entries of one document its citations need to show; grows while citations are checked."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._at = {entry.index: position for position, entry in enumerate(document.entries)}
        self._needed: set[int] = set()

    def need(self, index: int) -> Entry:
        """The disclosed entry with this index. Raises ``entry.disclosure_mismatch`` when it is not there."""
        position = self._at.get(index)
        if position is None:
            detail = f"entry {index} is not disclosed, though it shows that the citation lists all it crosses"
            raise VerifyError(Reason(Code.ENTRY_DISCLOSURE_MISMATCH, "$.entries", detail))
        self._needed.add(index)
        return self._document.entries[position]

    def check_surplus(self, path: str) -> Iterator[Reason]:
        """Whether nothing is disclosed that no citation needs; ``path`` is the document's."""
        surplus = [position for index, position in self._at.items() if index not in self._needed]
        if surplus:
            detail = "an entry is disclosed that no citation needs"
            yield Reason(Code.ENTRY_DISCLOSURE_MISMATCH, f"{path}.entries[{surplus[0]}]", detail)


def check_citation(citation: JsonObject, document: Document, disclosure: Disclosure) -> None:
    """Rebuild ``citation`` from the document and compare.

    What only the source's text can show (occurrences, evidence level, the text's length) is taken over and checked
    in step 10; the span's hash was checked in step 7. Raises VerifyError, with paths into the citation:
    ``citation.entries_mismatch``, ``citation.anchor_mismatch``, ``citation.mismatch``, ``entry.disclosure_mismatch``.
    """
    start, end = citation["char_start"], citation["char_end"]
    low, high = _crossed(document.entries, start, end)
    whole = citation["anchor"] == "document" and start == 0 and not citation["partial"]
    if high - low == 1 and _lies_inside(document.entries[low], start, end):
        anchor = "entry"
    else:
        anchor = "document" if whole or low == high else "entries"
    if citation["anchor"] != anchor:
        detail = "the anchor does not fit the entries that the span crosses"
        raise VerifyError(Reason(Code.CITATION_ANCHOR_MISMATCH, "$.anchor", detail, anchor, citation["anchor"]))
    expected_count = high - low if anchor != "document" else 0
    if len(citation["entries"]) != expected_count:
        detail = "the citation does not list the entries that its span crosses"
        found = str(len(citation["entries"]))
        raise VerifyError(Reason(Code.CITATION_ENTRIES_MISMATCH, "$.entries", detail, str(expected_count), found))
    listed = document.entries[low : low + expected_count]
    _show_completeness(listed, document, disclosure, start, end, whole=whole)
    if anchor == "document":
        surrounding = (0, end if whole else max(citation["surrounding_end"], end))
    else:
        surrounding = min(start, listed[0].elements[0].char_start), max(end, listed[-1].elements[-1].char_end)
    expected = {name: document.parts[name] for name in _REPEATED}
    expected |= {name: citation[name] for name in _TAKEN_OVER}
    derived = "projection_exact" if document.has_projection else "raw_exact"
    if citation["evidence_level"] != CHUNK_ONLY:
        expected["evidence_level"] = derived
    expected |= {
        "canonical_revision": document.canonical_revision,
        "parse_revision": document.parse_revision,
        "coordinate_space": document.coordinate_space,
        "anchor": anchor,
        "entries": [entry.listing for entry in listed],
        "surrounding_start": surrounding[0],
        "surrounding_end": surrounding[1],
        "partial": surrounding != (start, end),
    }
    if expected != citation:
        raise VerifyError(_difference(expected, citation))


def check_selection(
    claims: Sequence[JsonObject], audit: JsonObject, generation: JsonObject, documents: Mapping[str, Document]
) -> Iterator[Reason]:
    """Whether the claims are the selected entries in rank order, and whether request, generation and method agree.

    The request is bound to the public section by the trace id, the method is not: whoever holds the audit key alone
    must not turn a ranking into something that cannot be replayed.
    """
    method, selection, top_k = audit["retrieval"]["method"], audit["selection"], audit["request"]["top_k"]
    path = f"{_AUDIT}.selection"
    if (top_k is not None) != (method == LEXICAL):
        detail = "a ranking has a top-k, and no other method has one"
        yield Reason(Code.SELECTION_MISMATCH, f"{_AUDIT}.request.top_k", detail)
        return
    if method == LEXICAL and audit["request"]["question"] is None:
        yield Reason(Code.SELECTION_MISMATCH, f"{_AUDIT}.request.question", "a ranking answers a question")
    if method == LEXICAL and generation["pipeline"]["retrieval"] != LEXICAL:
        detail = "the generation's pipeline ranks in another way"
        yield Reason(Code.SELECTION_MISMATCH, f"{_AUDIT}.retrieval.method", detail)
    if method == EVIDENCE:
        if selection:
            yield Reason(Code.SELECTION_MISMATCH, path, "nothing is selected under the method evidence")
        return
    if top_k is not None and len(selection) != min(top_k, audit["filter_summary"]["eligible_entries"]):
        detail = "a ranking selects every eligible entry, or as many as were asked for"
        yield Reason(Code.SELECTION_MISMATCH, path, detail)
    if len(claims) != len(selection):
        yield Reason(Code.SELECTION_MISMATCH, path, "there are not as many claims as selected entries")
        return
    spans = {
        entry.listing["entry"]: (entry.char_start, entry.char_end)
        for document in documents.values()
        for entry in document.entries
    }
    for i, (claim, entry) in enumerate(zip(claims, selection, strict=True)):
        citation = claim["citations"][0]
        names = [item["entry"] for item in citation["entries"]]
        whole = (citation["char_start"], citation["char_end"]) == spans.get(entry)
        if len(claim["citations"]) != 1 or citation["anchor"] != "entry" or names != [entry] or not whole:
            detail = "the claim at this rank does not cite the whole of the selected entry, and it alone"
            yield Reason(Code.SELECTION_MISMATCH, f"{path}[{i}]", detail)


def check_summary(audit: JsonObject, generation: JsonObject) -> Iterator[Reason]:
    """Whether the filter summary descends and fits the generation, the documents and the selection."""
    summary = audit["filter_summary"]
    counts = [summary[f"{name}_entries"] for name in ("visible", "matched", "eligible", "selected")]
    of_cited = sum(document["entry_count"] for document in audit["documents"])
    fits = (
        counts == sorted(counts, reverse=True)
        and counts[-1] == len(audit["selection"])
        and of_cited <= counts[0] <= generation["entry_count"]
        and (audit["retrieval"]["method"] != EVIDENCE or counts[1] == 0)
        and len(audit["documents"]) <= summary["visible_documents"] <= generation["document_count"]
    )
    if not fits:
        detail = "the counts of the filter summary contradict one another, the generation or the selection"
        yield Reason(Code.SELECTION_SUMMARY_INVALID, f"{_AUDIT}.filter_summary", detail)


def _crossed(entries: Sequence[Entry], start: int, end: int) -> tuple[int, int]:
    """From where to where in ``entries``, which ascend and do not overlap, those stand that overlap the span."""
    low = bisect_right(entries, start, key=attrgetter("char_end"))
    return low, max(low, bisect_left(entries, end, key=attrgetter("char_start")))


def _lies_inside(entry: Entry, start: int, end: int) -> bool:
    return entry.char_start <= start and end <= entry.char_end


def _show_completeness(
    listed: Sequence[Entry], document: Document, disclosure: Disclosure, start: int, end: int, *, whole: bool
) -> None:
    """Note which entries the citation needs to be disclosed, and refuse it when one of them is not."""
    count = document.entry_count
    if whole:
        if count == 1:
            disclosure.need(0)
        return
    if not listed:
        _show_gap(document, disclosure, start, end)
        return
    first, last = listed[0], listed[-1]
    if last.index - first.index != len(listed) - 1:
        detail = "the listed entries are not neighbours"
        raise VerifyError(Reason(Code.ENTRY_DISCLOSURE_MISMATCH, "$.entries", detail))
    for entry in listed:
        disclosure.need(entry.index)
    if len(listed) == 1 and _lies_inside(first, start, end):
        return
    if first.index > 0 and start < first.char_start:
        disclosure.need(first.index - 1)
    if last.index + 1 < count and end > last.char_end:
        disclosure.need(last.index + 1)


def _show_gap(document: Document, disclosure: Disclosure, start: int, end: int) -> None:
    after = bisect_right(document.entries, start, key=attrgetter("char_end"))
    before = document.entries[after - 1].index if after else -1
    if before >= 0:
        disclosure.need(before)
    if before + 1 < document.entry_count:
        following = disclosure.need(before + 1)
        if following.char_start < end:
            detail = "the span does not lie between two neighbouring entries"
            raise VerifyError(Reason(Code.ENTRY_DISCLOSURE_MISMATCH, "$.entries", detail))


def _difference(expected: JsonObject, citation: JsonObject) -> Reason:
    for name, value in expected.items():
        if citation[name] != value:
            quoted = [_quoted(member) for member in (value, citation[name])]
            detail = f"the member {name} is not what the document and its entries give"
            return Reason(Code.CITATION_MISMATCH, f"$.{name}", detail, quoted[0], quoted[1])
    return Reason(Code.CITATION_MISMATCH, "$", "the citation is not what the document and its entries give")


def _quoted(value: object) -> str | None:
    if isinstance(value, str):
        return shown(value, 80)
    return shorten(str(value), 80) if isinstance(value, int) else None
