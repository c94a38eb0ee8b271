"""From raw bytes to entries, and citations of them: pure, and nothing taken on trust (docs/spec/bundle.md)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.canonical_json import dumps, sha256_hex
from kansho_sign.claims import cite, claim
from kansho_sign.derivation import DerivedDocument, SourceRevision, derive, pipeline
from kansho_sign.errors import InputError
from kansho_sign.identity import acl_hash, claim_id
from kansho_sign.schema import validate

CORPUS = "1f" * 16
TEXT = "# Head\n\nOne two.\n\n- Three.\n- Four.\n\nEnd.\n"


def revision(raw: bytes, **changes: Any) -> SourceRevision:
    made = SourceRevision(
        tenant="t",
        document="a.md",
        source_uri="a.md",
        source_version="1",
        role="document",
        media_type="text/markdown",
        raw_sha256=hashlib.sha256(raw).hexdigest(),
        raw_size=len(raw),
        groups=("public",),
        salt="0" * 32,
        event_sequence=1,
    )
    return replace(made, **changes)


def document(text: str = TEXT, **changes: Any) -> DerivedDocument:
    return derive(CORPUS, revision(text.encode(), **changes), text.encode())


def test_derivation_is_pure() -> None:
    assert document() == document()
    assert document().entry_tree().root == document().entry_tree().root
    validate(pipeline(), "common", "#/$defs/pipeline")
    assert dumps(pipeline()) == dumps(pipeline())


def test_every_fact_changes_the_ids() -> None:
    facts: dict[str, Any] = {
        "tenant": "u",
        "document": "b.md",
        "source_uri": "b",
        "source_version": "2",
        "role": "note",
        "groups": ("public", "staff"),
        "salt": "1" * 32,
    }
    made = [document(), *(document(**{name: value}) for name, value in facts.items())]
    made.append(derive("2f" * 16, revision(TEXT.encode()), TEXT.encode()))
    assert len({one.canonical_revision for one in made}) == len(facts) + 2
    for ids in zip(*(one.entries for one in made), strict=True):
        assert len({one.entry for one in ids}) == len(ids)
        assert len({one.chunk for one in ids}) == len(ids)
    assert document(event_sequence=9).canonical_revision == document().canonical_revision


def test_line_ends_change_the_revision_and_not_the_text() -> None:
    one, other = document(), document(TEXT.replace("\n", "\r\n"))
    assert one.text == other.text
    assert one.canonical_sha256 == other.canonical_sha256
    assert one.canonical_revision != other.canonical_revision


def test_equal_sentences_are_two_elements() -> None:
    made = document("Same.\n\nSame.\n")
    assert len({element.element for element in made.elements}) == 2
    assert len({element.text_sha256 for element in made.elements}) == 1


def test_retrieval_text_is_kept_apart() -> None:
    one, other = document("# A\n\nSame.\n"), document("# B\n\nSame.\n")
    assert one.entries[0].content_sha256 == other.entries[0].content_sha256
    assert one.entries[0].retrieval_text_sha256 != other.entries[0].retrieval_text_sha256


def test_hashes_are_of_what_they_say() -> None:
    made = document()
    assert made.acl == acl_hash(["public"], "0" * 32)
    for entry in made.entries:
        assert entry.content_sha256 == hashlib.sha256(made.text[entry.start : entry.end].encode()).hexdigest()
        assert entry.retrieval_text_sha256 == hashlib.sha256(entry.retrieval_text.encode()).hexdigest()
        assert entry.index == made.entries.index(entry)
        assert entry.record()["kind"] == "entry_record"
        assert len(sha256_hex(entry.record())) == 64


@pytest.mark.parametrize(
    ("raw", "changes", "code"),
    [
        (b"other", {}, "source.raw_mismatch"),
        (b"text", {"raw_size": 5}, "source.raw_mismatch"),
        (b"text", {"raw_sha256": "0" * 64}, "source.raw_mismatch"),
        (b"text", {"media_type": "application/pdf"}, "source.media_type"),
    ],
)
def test_refusals(raw: bytes, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        derive(CORPUS, revision(b"text", **changes), raw)
    assert caught.value.code == code


@pytest.mark.parametrize("raw", [b"\xff", b"\x00", "\u0378".encode(), b"\xef\xbb\xbf\x00"])
def test_sources_without_canonical_text(raw: bytes) -> None:
    with pytest.raises(InputError) as caught:
        derive(CORPUS, revision(raw), raw)
    assert caught.value.code.startswith("text.")


def test_documents_without_entries() -> None:
    for text in ("", "# Only a heading\n", "\n\n", "[a]: /b\n", "***\n"):
        made = document(text)
        assert made.entries == ()
        assert made.entry_tree().root == hashlib.sha256(b"").hexdigest()


def place(made: DerivedDocument, piece: str) -> tuple[int, int]:
    start = made.text.index(piece)
    return start, start + len(piece)


@pytest.mark.parametrize(
    ("piece", "anchor", "listed", "surrounding", "disclosed"),
    [
        ("One two.", "entry", [0], "One two.", (0,)),
        ("two", "entry", [0], "One two.", (0,)),
        ("Head", "document", [], TEXT, (0,)),
        ("# Head\n\n", "document", [], TEXT, (0,)),
        ("\n\nEnd.\n", "entries", [3], "\n\nEnd.\n", (2, 3)),
        ("two.\n\n- Three", "entries", [0, 1], "One two.\n\n- Three.", (0, 1)),
        ("\n\n- ", "document", [], TEXT, (0, 1)),
        ("\n\n- Three", "entries", [1], "\n\n- Three.", (0, 1)),
        ("Three.\n- ", "entries", [1], "Three.\n- ", (1, 2)),
        (TEXT, "document", [], TEXT, ()),
        ("Head\n\nOne two.\n\n- Three.\n- Four.\n\nEnd.", "entries", [0, 1, 2, 3], None, (0, 1, 2, 3)),
    ],
)
def test_anchors(
    piece: str, anchor: str, listed: list[int], surrounding: str | None, disclosed: tuple[int, ...]
) -> None:
    made = document()
    start, end = place(made, piece)
    cited = cite(made, start, end)
    citation = cited.citation
    assert (citation["anchor"], cited.text, cited.disclosed) == (anchor, piece, disclosed)
    assert [entry["entry"] for entry in citation["entries"]] == [made.entries[index].entry for index in listed]
    around = made.text[citation["surrounding_start"] : citation["surrounding_end"]]
    assert around == (piece if surrounding is None else surrounding)
    assert citation["partial"] == (around != piece)
    assert citation["evidence_level"] == "raw_exact"
    validate(claim(cited), "public", "#/properties/payload/properties/claims/items")


def test_a_document_of_one_entry() -> None:
    made = document("All of it.")
    assert cite(made, 0, 10).citation["anchor"] == "entry"
    made = document("All of it.\n")
    whole = cite(made, 0, 11)
    assert (whole.citation["anchor"], whole.disclosed) == ("document", (0,))


@given(st.data())
def test_any_citation(data: st.DataObject) -> None:
    made = document(TEXT + "Three. End. aa aa aaa\n")
    start = data.draw(st.integers(0, len(made.text) - 1))
    end = data.draw(st.integers(start + 1, len(made.text)))
    cited = cite(made, start, end)
    citation = cited.citation
    text = made.text[start:end]
    assert cited.text == text
    assert citation["span_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert citation["occurrences"] == sum(made.text.startswith(text, at) for at in range(len(made.text)))
    over = [entry for entry in made.entries if entry.start < end and entry.end > start]
    listed = [entry["entry"] for entry in citation["entries"]]
    assert listed in ([], [entry.entry for entry in over])
    inside = len(over) == 1 and over[0].start <= start and end <= over[0].end
    assert (citation["anchor"] == "entry") == inside
    assert citation["surrounding_start"] <= start < end <= citation["surrounding_end"]
    assert claim(cited)["claim"] == claim_id(citation["span_sha256"], [citation])
