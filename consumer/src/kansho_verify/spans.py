"""Step 10: the consumer's own source bytes, made canonical text, against every span that is cited of them.

``docs/spec/canonical-text.md``, ``bundle.md`` (Citation), ``limits.md`` (work of counting occurrences).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kansho_verify import identity, text
from kansho_verify.canonical_json import JsonObject
from kansho_verify.documents import Document
from kansho_verify.limits import LIMITS
from kansho_verify.occurrences import count_occurrences
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.sources import Sources

__all__ = ["Cited", "Finding", "check_spans", "source_not_given"]

_RAW_EXACT, _CHUNK_ONLY = "raw_exact", "chunk_only"


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation with its claim's text; ``document`` is what step 9 rebuilt, or None in the public profile."""

    claim: int
    position: int
    text: str
    citation: JsonObject
    document: Document | None


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


def check_spans(cited: Sequence[Cited], sources: Sources, unicode_version: str | None) -> Iterator[Finding]:
    """One finding for each citation, source by source, so that one text at a time is held.

    ``unicode_version`` is that of the generation's pipeline, or None. Reasons have paths into the citation. Raises
    VerifyError (``limits.work``) when counting occurrences would take more work than the limit.
    """
    by_source: dict[tuple[str, int], list[Cited]] = defaultdict(list)
    for item in cited:
        by_source[item.citation["raw_sha256"], item.citation["raw_size"]].append(item)
    work = 0
    for (raw_sha256, raw_size), items in by_source.items():
        try:
            source = _load(items, sources, raw_sha256, raw_size, unicode_version)
        except VerifyError as error:
            yield from (Finding(item.claim, item.position, None, (error.reason,)) for item in items)
            continue
        work += len({item.text for item in items}) * len(source.chars)
        if work > LIMITS.occurrence_work_chars:
            detail = "counting the occurrences of all cited texts would take too much work"
            raise VerifyError(Reason(Code.LIMITS_WORK, "", detail))
        yield from _check_source(items, source)


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


def _check_source(items: Sequence[Cited], source: _Text) -> Iterator[Finding]:
    counted: dict[str, int] = {}
    judged: dict[int, tuple[Reason, ...]] = {}
    hashed = _Spans(source.chars)
    for item in items:
        about_document: tuple[Reason, ...] = ()
        if item.document is not None:
            name = id(item.document)  # one record for each document; equal ones need not be shared
            if name not in judged:
                judged[name] = tuple(
                    islice(_check_document(item.document, source, hashed), LIMITS.reasons_of_a_citation)
                )
            about_document = judged[name]
        reasons = about_document or tuple(_check_span(item, source, counted))
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

    def __init__(self, chars: str) -> None:
        super().__init__()
        self._chars = chars

    def __missing__(self, span: tuple[int, int]) -> str:
        inside = span[1] <= len(self._chars)
        self[span] = identity.text_sha256(self._chars[span[0] : span[1]]) if inside else ""
        return self[span]


def _check_span(item: Cited, source: _Text, counted: dict[str, int]) -> Iterator[Reason]:
    citation = item.citation
    start, end, length = citation["char_start"], citation["char_end"], len(source.chars)
    if not start < end <= length:
        detail = f"the span reaches beyond the source's {length} code points"
        yield Reason(Code.SPAN_OUT_OF_RANGE, "$.char_end", detail)
        return
    if source.chars[start:end] != item.text:
        yield Reason(Code.SPAN_TEXT_MISMATCH, "$.char_start", "the source does not say this at the cited place")
        return
    if item.text not in counted:
        counted[item.text] = count_occurrences(source.chars, item.text)
    if citation["occurrences"] != counted[item.text]:
        detail = "the text stands in the source another number of times"
        found, expected = str(citation["occurrences"]), str(counted[item.text])
        yield Reason(Code.SPAN_OCCURRENCES_MISMATCH, "$.occurrences", detail, expected, found)
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
        return surrounding == whole
    if citation["anchor"] == "entries" and span == whole:
        return False
    return bool(surrounding[0] <= span[0] and span[1] <= surrounding[1] <= length)
