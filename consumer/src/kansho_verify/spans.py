"""Step 10: the consumer's own source bytes, made canonical text, against every span that is cited of them.

``docs/spec/canonical-text.md``, ``bundle.md`` (Citation), ``limits.md`` (work of counting occurrences).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kansho_verify import identity, text
from kansho_verify.artifact import source_claims
from kansho_verify.canonical_json import JsonObject
from kansho_verify.characters import cuts
from kansho_verify.documents import Document
from kansho_verify.limits import LIMITS
from kansho_verify.occurrences import count_occurrences, first_occurrence
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.sources import Sources

__all__ = ["Cited", "Finding", "check_spans", "cited_places", "source_not_given"]

_SAFE = "safe"  # the excerpt boundary that cuts neither numbers nor characters; the other one is "any"
_RAW_EXACT, _CHUNK_ONLY = "raw_exact", "chunk_only"


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation with its claim's text; ``document`` is what step 9 rebuilt, or None in the public profile.

    ``is_source`` where the claim is a source of the artifact, so that nothing of the source may be left out.
    """

    claim: int
    position: int
    text: str
    citation: JsonObject
    document: Document | None
    is_source: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """What a source said about one citation: the derived evidence level, or why there is none."""

    claim: int
    position: int
    evidence_level: str | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """The canonical text of one source, and its hash."""

    chars: str
    sha256: str


class _Work:
    """What was spent on counting and hashing, in code points."""

    def __init__(self) -> None:
        self._spent = 0

    def spend(self, chars: int) -> None:
        """Raises ``limits.work`` when the sum exceeds the limit."""
        self._spent += chars
        if self._spent > LIMITS.work_chars:
            detail = "counting and hashing all that is cited would take too much work"
            raise VerifyError(Reason(Code.LIMITS_WORK, "", detail))


def cited_places(public: JsonObject, documents: Mapping[str, Document]) -> list[Cited]:
    """Every citation of a public payload that passed step 7, with what step 9 rebuilt (nothing: an empty mapping)."""
    sources = source_claims(public)
    return [
        Cited(i, j, claim["text"], citation, documents.get(citation["document"]), claim["claim"] in sources)
        for i, claim in enumerate(public["claims"])
        for j, citation in enumerate(claim["citations"])
    ]


def check_spans(
    cited: Sequence[Cited], sources: Sources, *, unicode_version: str | None, boundary: str | None
) -> Iterator[Finding]:
    """One finding for each citation, source by source, so that one text at a time is held.

    ``unicode_version`` is that of the generation's pipeline, or None; ``boundary`` the policy's excerpt boundary where
    the citations are of excerpts, or None. Reasons have paths into the citation. Raises VerifyError (``limits.work``)
    when counting and hashing would take more work than the limit.
    """
    by_source: dict[tuple[str, int], list[Cited]] = defaultdict(list)
    for item in cited:
        by_source[item.citation["raw_sha256"], item.citation["raw_size"]].append(item)
    work = _Work()
    for (raw_sha256, raw_size), items in by_source.items():
        try:
            source = _load(items, sources, raw_sha256, raw_size, unicode_version)
        except VerifyError as error:
            yield from (Finding(item.claim, item.position, None, (error.reason,)) for item in items)
            continue
        yield from _check_source(items, source, boundary, work)


def source_not_given() -> Reason:
    """The reason for a caller who gave no sources at all."""
    hint = "--sources DIR names the folder with your own copies"
    return Reason(Code.SOURCE_NOT_GIVEN, "", "no sources were given: the wording was not compared with them", hint=hint)


def _load(
    items: Sequence[Cited], sources: Sources, raw_sha256: str, raw_size: int, unicode_version: str | None
) -> _Text:
    if any(item.citation["coordinate_space"] != text.NORMALISER for item in items):
        detail = "the text is a projection of the file, which this version cannot make"
        raise VerifyError(Reason(Code.SOURCE_PROJECTION_UNSUPPORTED, "$.coordinate_space", detail))
    raw = sources.find(raw_sha256, raw_size)
    if raw is None:
        raise VerifyError(_not_found(items, sources))
    if len(raw) != raw_size or hashlib.sha256(raw).hexdigest() != raw_sha256:
        detail = "the source that was handed over is not the one that was asked for"
        raise VerifyError(Reason(Code.SOURCE_RAW_HASH_MISMATCH, "$.raw_sha256", detail))
    try:
        chars = text.canonical_text(raw, unicode_version=unicode_version)
    except VerifyError as error:
        raise VerifyError(error.reason.under("$.raw_sha256")) from error
    return _Text(chars, identity.text_sha256(chars))


def _not_found(items: Sequence[Cited], sources: Sources) -> Reason:
    hint = "look for the version of the file that was cited"
    if any(sources.has_name(item.citation["document"]) for item in items):
        detail = "a source of this name is there, but with other bytes than the cited ones"
        return Reason(Code.SOURCE_RAW_HASH_MISMATCH, "$.raw_sha256", detail, hint=hint)
    detail = "no source with this size and hash is there"
    return Reason(Code.SOURCE_MISSING, "$.raw_sha256", detail, hint=hint)


def _check_source(items: Sequence[Cited], source: _Text, boundary: str | None, work: _Work) -> Iterator[Finding]:
    work.spend(len({item.text for item in items}) * len(source.chars))
    places = _Places(source.chars, boundary, work)
    judged: dict[int, tuple[Reason, ...]] = {}
    hashed = _Spans(source.chars, work)
    for item in items:
        about_document: tuple[Reason, ...] = ()
        if item.document is not None:
            name = id(item.document)  # one record for each document; equal ones need not be shared
            if name not in judged:
                judged[name] = tuple(
                    islice(_check_document(item.document, source, hashed), LIMITS.reasons_of_a_citation)
                )
            about_document = judged[name]
        reasons = about_document or tuple(_check_span(item, source, places))
        yield Finding(item.claim, item.position, None if reasons else _RAW_EXACT, reasons)


def _check_document(document: Document, source: _Text, hashed: _Spans) -> Iterator[Reason]:
    """The hashes that the entries of a document carry. Elements that neighbours share are hashed once."""
    if document.parts["canonical_sha256"] != source.sha256:
        detail = "the canonical text of the source is not the one that was cited"
        yield Reason(Code.SOURCE_CANONICAL_HASH_MISMATCH, "$.canonical_revision", detail)
        return
    for entry in document.entries:
        if hashed[entry.char_start, entry.char_end] != entry.content_sha256:
            yield Reason(Code.SPAN_HASH_MISMATCH, "$.entries", f"entry {entry.index} is not the slice at its span")
        for element in entry.elements:
            if hashed[element.char_start, element.char_end] != element.text_sha256:
                detail = f"an element of entry {entry.index} is not the slice at its span"
                yield Reason(Code.SPAN_HASH_MISMATCH, "$.entries", detail)


class _Spans(dict[tuple[int, int], str]):
    """Hashes of slices, each made when it is first asked for; a span beyond the text has none."""

    def __init__(self, chars: str, work: _Work) -> None:
        super().__init__()
        self._chars, self._work = chars, work

    def __missing__(self, span: tuple[int, int]) -> str:
        inside = span[1] <= len(self._chars)
        self._work.spend(span[1] - span[0] if inside else 0)
        self[span] = identity.text_sha256(self._chars[span[0] : span[1]]) if inside else ""
        return self[span]


class _Places(dict[str, tuple[int, int | None]]):
    """How often a text stands in a source, and where an excerpt is to be cited (None: nowhere)."""

    def __init__(self, chars: str, boundary: str | None, work: _Work) -> None:
        super().__init__()
        self._chars, self.boundary, self._work = chars, boundary, work

    def __missing__(self, text: str) -> tuple[int, int | None]:
        count = count_occurrences(self._chars, text)
        self._work.spend(count * LIMITS.work_of_an_occurrence_chars)
        self[text] = count, self._first(text)
        return self[text]

    def _first(self, text: str) -> int | None:
        if self.boundary == _SAFE:
            return first_occurrence(self._chars, text, lambda at: not cuts(self._chars, at, at + len(text)))
        return self._chars.find(text) if self.boundary is not None else None


def _check_span(item: Cited, source: _Text, places: _Places) -> Iterator[Reason]:
    citation = item.citation
    start, end, length = citation["char_start"], citation["char_end"], len(source.chars)
    if not start < end <= length:
        detail = f"the span reaches beyond the source's {length} code points"
        yield Reason(Code.SPAN_OUT_OF_RANGE, "$.char_end", detail)
        return
    if item.is_source and (start, end) != (0, length):
        detail = "a source of the artifact is not cited to its last code point"
        yield Reason(Code.ARTIFACT_SOURCE_SHORTENED, "$.char_end", detail, str(length), str(end))
    if source.chars[start:end] != item.text:
        yield Reason(Code.SPAN_TEXT_MISMATCH, "$.char_start", "the source does not say this at the cited place")
        return
    count, place = places[item.text]
    if citation["occurrences"] != count:
        detail = "the text stands in the source another number of times"
        yield Reason(Code.SPAN_OCCURRENCES_MISMATCH, "$.occurrences", detail, str(count), str(citation["occurrences"]))
    if places.boundary is not None and place != start:
        detail = "by the policy's excerpt boundary the excerpt is cited at its first place that cuts nothing"
        expected = "nowhere" if place is None else str(place)
        yield Reason(Code.SPAN_EXCERPT_PLACE, "$.char_start", detail, expected, str(start))
    surrounding = (citation["surrounding_start"], citation["surrounding_end"])
    if not _surrounding_fits(citation, surrounding, length):
        detail = "the surroundings, the anchor and the length of the source do not fit together"
        yield Reason(Code.SPAN_SURROUNDING_MISMATCH, "$.surrounding_end", detail)
    if citation["evidence_level"] not in (_RAW_EXACT, _CHUNK_ONLY):
        detail = "the claimed level is not reached: the text is no projection's"
        yield Reason(Code.SPAN_EVIDENCE_LEVEL, "$.evidence_level", detail, _RAW_EXACT, citation["evidence_level"])


def _surrounding_fits(citation: JsonObject, surrounding: tuple[int, int], length: int) -> bool:
    span = (citation["char_start"], citation["char_end"])
    whole = (0, length)
    if citation["partial"] != (surrounding != span):
        return False
    if citation["anchor"] == "document":
        return surrounding == whole and not citation["entries"]
    if citation["anchor"] == "entries" and span == whole:
        return False
    if not citation["entries"] or (citation["anchor"] == "entry" and len(citation["entries"]) > 1):
        return False
    return bool(surrounding[0] <= span[0] and span[1] <= surrounding[1] <= length)
