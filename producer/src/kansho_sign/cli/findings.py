"""What a check of evidence found, in words and as JSON."""

from collections.abc import Iterator, Sequence

from kansho_sign.adapters.formats import OffsetNote
from kansho_sign.adapters.reading import Reading
from kansho_sign.canonical_json import JsonObject
from kansho_sign.cli.messages import escape
from kansho_sign.evidence import Diagnosis, Finding
from kansho_sign.pipeline.requests import Answer

__all__ = ["findings_json", "in_words", "notes_in_words"]

SHOWN_EXCERPT, SHOWN_WORDING = 60, 240
WORDING_CODE_POINTS = 1_000
FINDINGS = {
    Finding.UNKNOWN_SOURCE: "the reader sees no source of this id, which is its path in the ingested folder",
    Finding.ROLE_NOT_ALLOWED: "it stands in a source whose role the policy does not allow",
    Finding.EMPTY_EXCERPT: "there is nothing visible in it to check",
    Finding.WRONG_SOURCE: "it does not stand in the source that it names, but in another one",
    Finding.UNVERIFIED_EXCERPT: "it stands nowhere; every quotation mark, dash, Markdown sign and line break counts",
    Finding.EXCERPT_CUTS_NUMBER: "it would cut a number: quote the whole number, with its sign",
    Finding.EXCERPT_CUTS_CHARACTER: "it would cut a character that is made of several: quote all of it",
    Finding.CANONICAL_OVERWRITE: "the proposed text is not that of the source",
}


def _place(reading: Reading, position: int) -> str | None:
    """Where in the input an item of evidence came from; a proposed text's path says it already."""
    return reading.places[position] if position < len(reading.places) else None


def _closest(diagnosis: Diagnosis) -> JsonObject:
    wording = diagnosis.wording
    return {
        "char_start": diagnosis.start,
        "char_end": diagnosis.end,
        "differences": [str(one) for one in diagnosis.differences],
        "wording": wording[:WORDING_CODE_POINTS],
        "wording_is_whole": len(wording) <= WORDING_CODE_POINTS,
    }


def findings_json(answer: Answer, reading: Reading, notes: Sequence[OffsetNote], *, signed: bool) -> JsonObject:
    """What ``attest --json`` prints (docs/spec/evidence.md, Findings as JSON)."""
    findings = [
        {
            "path": decision.path,
            "at": _place(reading, position),
            "code": str(decision.finding),
            "source_id": decision.source_id,
            "diagnosis": None if decision.diagnosis is None else str(decision.diagnosis.difference),
            "closest": None if decision.diagnosis is None else _closest(decision.diagnosis),
        }
        for position, decision in enumerate(answer.decisions)
        if decision.finding is not None
    ]
    return {
        "status": answer.status,
        "signed": signed,
        "findings": findings,
        "undiagnosed": answer.undiagnosed,
        "notes": [
            {
                "path": note.path,
                "at": note.place,
                "note": "provider_offsets_differ",
                "provider": [note.provider.start, note.provider.end],
                "derived": list(note.derived),
            }
            for note in notes
        ],
    }


def in_words(answer: Answer, reading: Reading) -> Iterator[str]:
    """The findings, each with its place, and what its code means."""
    received = [item["excerpt"] for item in reading.answer["evidence"]]
    received += [item["text"] for item in reading.answer.get("proposed_texts", [])]
    for position, decision in enumerate(answer.decisions):
        if decision.finding is None:
            continue
        place = _place(reading, position)
        origin = f", from {escape(place, 80)}" if place and place != f"$.evidence[{position}]" else ""
        yield f"  {decision.path} ({escape(decision.source_id, 80)}{origin}): {decision.finding}"
        yield f"    “{escape(received[position], SHOWN_EXCERPT)}”"
        if decision.diagnosis is not None:
            near = decision.diagnosis
            yield f"    differs ({', '.join(near.differences)}) from the source at code point {near.start}:"
            yield f"    “{escape(near.wording, SHOWN_WORDING)}”"
    for finding in dict.fromkeys(decision.finding for decision in answer.findings):
        if finding is not None:
            yield f"{finding}: {FINDINGS[finding]}"
    if answer.undiagnosed:
        yield f"{answer.undiagnosed} more near misses were not looked at, for there are so many"


def notes_in_words(notes: Sequence[OffsetNote]) -> Iterator[str]:
    """Where a provider's offsets differ from the derived ones."""
    for note in notes:
        said, derived = f"{note.provider.start}-{note.provider.end}", f"{note.derived[0]}-{note.derived[1]}"
        yield f"note: {note.path}, from {escape(note.place, 80)}: the provider says {said}, it stands at {derived}"
