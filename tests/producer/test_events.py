"""Source events: reading them, and every row of the table in docs/spec/lifecycle.md."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.sources.events import Effect, SourceEvent, apply, check_facts, parse_event
from kansho_sign.store import DocumentRow
from tests.support.workspaces import event_line

SALTS = [f"{number:032x}" for number in range(9)]
UPSERT = SourceEvent(
    event_id="e",
    connector="c",
    tenant="t",
    document="d.txt",
    sequence=5,
    source_uri="d.txt",
    source_version="1",
    role="document",
    media_type="text/plain",
    groups=("a", "b"),
    raw=b"text",
    private_locator="s3://bucket/key",
    origin="folder",
)
DELETE = SourceEvent(event_id="x", connector="c", tenant="t", document="d.txt", sequence=5)


def after(*events: SourceEvent) -> DocumentRow:
    """The state that these events leave, in their order; event n draws salt n."""
    row: DocumentRow | None = None
    for number, event in enumerate(events):
        row = apply(row, event, SALTS[number]).row or row
    assert row is not None
    return row


def at(sequence: int, event: SourceEvent = UPSERT, **changes: Any) -> SourceEvent:
    return replace(event, sequence=sequence, **changes)


STATE_CHANGES: list[dict[str, Any]] = [
    {"raw": b"other"},
    {"raw": b""},
    {"source_uri": "e.txt"},
    {"source_version": "2"},
    {"role": "note"},
    {"media_type": "text/markdown"},
    {"private_locator": None},
    {"private_locator": "elsewhere"},
]


def test_first_upsert() -> None:
    outcome = apply(None, UPSERT, SALTS[0])
    assert outcome.effect is Effect.NEW
    row = outcome.row
    assert row is not None
    assert row.revision is not None
    assert (row.deleted, row.sequence, row.tombstone_sequence) == (False, 5, None)
    assert (row.origin, row.private_locator) == ("folder", "s3://bucket/key")
    assert (row.revision.salt, row.revision.groups, row.revision.event_sequence) == (SALTS[0], ("a", "b"), 5)
    assert (row.revision.raw_sha256, row.revision.raw_size) == (hashlib.sha256(b"text").hexdigest(), 4)


def test_higher_sequence_same_state() -> None:
    row = after(UPSERT)
    outcome = apply(row, at(9), SALTS[1])
    assert outcome.effect is Effect.UNCHANGED
    assert outcome.row == replace(row, sequence=9)


@pytest.mark.parametrize("change", STATE_CHANGES, ids=str)
def test_content_or_metadata_changed(change: dict[str, Any]) -> None:
    """The ACL state, and so its salt, stays."""
    row = after(UPSERT)
    outcome = apply(row, at(6, **change), SALTS[1])
    assert outcome.effect is Effect.CHANGED
    assert outcome.row is not None
    assert outcome.row.revision is not None
    assert (outcome.row.revision.salt, outcome.row.revision.event_sequence) == (SALTS[0], 6)


@pytest.mark.parametrize("groups", [("a",), ("a", "b", "c"), ("c",), ("b",)], ids="-".join)
@pytest.mark.parametrize("raw", [b"text", b"other"])
def test_groups_changed(groups: tuple[str, ...], raw: bytes) -> None:
    outcome = apply(after(UPSERT), at(6, groups=groups, raw=raw), SALTS[1])
    assert outcome.effect is Effect.ACCESS_CHANGED
    assert outcome.row is not None
    assert outcome.row.revision is not None
    assert (outcome.row.revision.groups, outcome.row.revision.salt) == (groups, SALTS[1])


def test_groups_changed_there_and_back_is_a_new_state() -> None:
    row = after(UPSERT, at(6, groups=("c",)), at(7))
    assert row.revision is not None
    assert row.revision.salt == SALTS[2]


def test_delete() -> None:
    outcome = apply(after(UPSERT), at(6, DELETE), SALTS[1])
    assert outcome.effect is Effect.DELETED
    row = outcome.row
    assert row is not None
    assert (row.deleted, row.sequence, row.tombstone_sequence, row.revision) == (True, 6, 6, None)
    assert row.private_locator is None


def test_delete_of_an_unknown_document() -> None:
    outcome = apply(None, DELETE, SALTS[0])
    assert outcome.effect is Effect.DELETED
    assert outcome.row is not None
    assert outcome.row.tombstone_sequence == 5


def test_delete_again() -> None:
    row = after(UPSERT, at(6, DELETE))
    outcome = apply(row, at(8, DELETE), SALTS[1])
    assert outcome.effect is Effect.UNCHANGED
    assert outcome.row == replace(row, sequence=8, tombstone_sequence=8)


def test_upsert_after_delete() -> None:
    row = after(UPSERT, at(6, DELETE))
    outcome = apply(row, at(7), SALTS[2])
    assert outcome.effect is Effect.RESTORED
    assert outcome.row is not None
    assert outcome.row.revision is not None
    assert (outcome.row.deleted, outcome.row.tombstone_sequence) == (False, 6)
    assert outcome.row.revision.salt == SALTS[2], "a document that comes back is a new ACL state"


@pytest.mark.parametrize("event", [UPSERT, DELETE], ids=["upsert", "delete"])
def test_equal_sequence_same_state(event: SourceEvent) -> None:
    outcome = apply(after(event), replace(event, event_id="other"), SALTS[1])
    assert (outcome.effect, outcome.row) == (Effect.REPEATED, None)


@pytest.mark.parametrize(
    ("before", "event"),
    [
        *((UPSERT, at(5, **change)) for change in STATE_CHANGES),
        (UPSERT, at(5, groups=("a",))),
        (UPSERT, DELETE),
        (DELETE, UPSERT),
    ],
)
def test_equal_sequence_other_state(before: SourceEvent, event: SourceEvent) -> None:
    with pytest.raises(InputError) as caught:
        apply(after(before), event, SALTS[1])
    assert caught.value.code == "event.sequence_conflict"


@pytest.mark.parametrize("sequence", [6, 99])
def test_a_document_has_one_connector_until_it_is_deleted(sequence: int) -> None:
    for event in (at(sequence), replace(DELETE, sequence=sequence)):
        with pytest.raises(InputError) as caught:
            apply(after(UPSERT), replace(event, connector="another"), SALTS[1])
        assert caught.value.code == "event.connector_conflict"
    adopted = apply(after(DELETE), replace(at(sequence), connector="another"), SALTS[1])
    assert adopted.row is not None
    assert adopted.row.connector == "another"


@pytest.mark.parametrize("before", [UPSERT, DELETE], ids=["upsert", "delete"])
@pytest.mark.parametrize("event", [at(4), at(4, raw=b"x"), at(4, groups=("z",)), at(4, DELETE), at(1)])
def test_lower_sequence_is_stale(before: SourceEvent, event: SourceEvent) -> None:
    outcome = apply(after(before), event, SALTS[1])
    assert (outcome.effect, outcome.row) == (Effect.STALE, None)


EVENTS = st.builds(
    lambda delete, sequence, raw, groups: at(sequence, DELETE) if delete else at(sequence, raw=raw, groups=groups),
    st.booleans(),
    st.integers(1, 6),
    st.sampled_from([b"1", b"2"]),
    st.sampled_from([("a",), ("b",)]),
)


@given(st.lists(EVENTS, max_size=9))
def test_any_order_of_events(events: list[SourceEvent]) -> None:
    """Sequences only rise, a deleted document has no content, a tombstone is never forgotten or lowered."""
    row: DocumentRow | None = None
    for number, event in enumerate(events):
        before = row
        try:
            outcome = apply(row, event, SALTS[number])
        except InputError:
            continue
        row = outcome.row or row
        assert row is not None
        assert row.deleted == (row.revision is None)
        if before is not None:
            assert row.sequence >= before.sequence
            assert (row.tombstone_sequence or 0) >= (before.tombstone_sequence or 0)
            kept = before.revision is not None and row.revision is not None
            if kept and row.revision.groups != before.revision.groups:  # type: ignore[union-attr]  # checked above
                assert row.revision.salt != before.revision.salt  # type: ignore[union-attr]  # checked above
        if row.tombstone_sequence is not None and row.revision is not None:
            assert row.revision.event_sequence > row.tombstone_sequence


@pytest.mark.parametrize(
    "change",
    [*STATE_CHANGES, {"groups": ("a",)}, {"sequence": 6}, {"tenant": "u"}, {"document": "e"}, {"connector": "d"}],
    ids=str,
)
def test_every_part_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    assert replace(UPSERT, **change).fingerprint() != UPSERT.fingerprint()


def test_the_fingerprint_leaves_out_what_is_not_said() -> None:
    assert replace(UPSERT, origin="elsewhere").fingerprint() == UPSERT.fingerprint()
    assert DELETE.fingerprint() != replace(DELETE, raw=b"").fingerprint()


def code_of(line: bytes) -> str | None:
    try:
        parse_event(line)
    except InputError as error:
        return error.code
    return None


def test_a_good_upsert() -> None:
    event = parse_event(event_line(private_locator="x", groups=["a", "b"]))
    assert event.raw == b"Refunds take ten days.\n"
    assert (event.groups, event.sequence, event.private_locator, event.origin) == (("a", "b"), 1, "x", None)
    assert not event.is_delete


def test_a_good_delete() -> None:
    event = parse_event(event_line(kind="delete"))
    assert event.is_delete
    assert event.groups == ()


def test_content_in_base64() -> None:
    raw = b"\xff\x00bytes"
    event = parse_event(
        event_line(
            content=None,
            content_base64=base64.b64encode(raw).decode(),
            raw_sha256=hashlib.sha256(raw).hexdigest(),
        )
    )
    assert event.raw == raw
    assert parse_event(event_line(content="")).raw == b""


MEMBERS = sorted(json.loads(event_line()))


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_missing(member: str) -> None:
    value = json.loads(event_line())
    del value[member]
    assert code_of(json.dumps(value).encode()) == "schema.violation"


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("value", [None, True, 0, -1, [], {}, [1], "", 10**15 * 10])
def test_a_member_of_the_wrong_type(member: str, value: Any) -> None:
    changed = {**json.loads(event_line()), member: value}
    if member == "content" and value == "":
        assert code_of(json.dumps(changed).encode()) == "event.raw_sha256"
    else:
        assert code_of(json.dumps(changed).encode()) in ("schema.violation", "json.integer_range")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"extra": 1}, "schema.violation"),
        ({"schema": "kansho.source-event.v2"}, "schema.violation"),
        ({"kind": "replace"}, "schema.violation"),
        ({"content_base64": "QQ=="}, "schema.violation"),
        ({"raw_sha256": "0" * 64}, "event.raw_sha256"),
        ({"raw_sha256": "A" * 64}, "schema.violation"),
        ({"groups": ["b", "a"]}, "event.groups"),
        ({"groups": ["a", "a"]}, "schema.violation"),
        ({"groups": [f"{n:03}" for n in range(257)]}, "schema.violation"),
        ({"groups": ["e\u0301"]}, "name.label"),
        ({"groups": ["a\n"]}, "schema.violation"),
        ({"event_id": "a\u0378"}, "name.label"),
        ({"tenant": "a\n"}, "schema.violation"),
        ({"connector": "\u3000"}, "name.label"),
        ({"role": "e\u0301"}, "name.label"),
        ({"source_version": "1\n"}, "schema.violation"),
        ({"document": "../a"}, "name.document"),
        ({"document": "a\n"}, "schema.violation"),
        ({"document": "x" * 513}, "schema.violation"),
        ({"source_uri": "https://u@h/"}, "name.source_uri"),
        ({"source_uri": "https://h/?q"}, "name.source_uri"),
        ({"source_uri": "https://h/\n"}, "schema.violation"),
        ({"source_uri": "https://h/?q", "source_uri_public": False}, "name.source_uri"),
        ({"source_uri": "https://h/?q", "source_uri_public": True}, None),
        ({"source_uri": "https://h/\n", "source_uri_public": True}, "schema.violation"),
        ({"source_uri_public": 1}, "schema.violation"),
        ({"sequence": 1.0}, "json.number"),
        ({"sequence": 2**53}, "json.integer_range"),
        ({"content": "\ud800", "raw_sha256": "0" * 64}, "json.surrogate"),
        ({"private_locator": ""}, "schema.violation"),
        ({"private_locator": "x" * 4_097}, "schema.violation"),
    ],
)
def test_hostile_upserts(changes: dict[str, Any], code: str | None) -> None:
    assert code_of(event_line(**changes)) == code


@pytest.mark.parametrize("member", ["content", "groups", "role", "raw_sha256", "source_uri", "private_locator"])
def test_a_delete_with_content_or_acl(member: str) -> None:
    value = {**json.loads(event_line(kind="delete")), member: json.loads(event_line()).get(member, "x")}
    assert code_of(json.dumps(value).encode()) == "schema.violation"


@pytest.mark.parametrize("document", ["a\n", "CON", "../x", "a\u200b"])
def test_a_delete_of_a_name_that_cannot_be(document: str) -> None:
    assert code_of(event_line(kind="delete", document=document)) in ("name.document", "schema.violation")


@pytest.mark.parametrize("text", ["QQ", "QQ=", "Q", "QR==", "Q Q=", "QQ==\n", "QQ==QQ==", "=", "_-8=", "QUI=="])
def test_what_is_no_base64(text: str) -> None:
    for digest in (hashlib.sha256(b"A").hexdigest(), "0" * 64):
        line = event_line(content=None, content_base64=text, raw_sha256=digest)
        assert code_of(line) in ("event.base64", "schema.violation")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "json.syntax"),
        (b"null", "schema.violation"),
        (b"[]", "schema.violation"),
        (b"{}", "schema.violation"),
        (b'{"kind":"delete","kind":"upsert"}', "json.duplicate_key"),
        (b"{" * 100_000, "limits.depth"),
        (b"\xff\xfe", "json.utf8"),
        (b"\xef\xbb\xbf{}", "json.bom"),
        (event_line()[:-1], "json.syntax"),
        (event_line() + event_line(), "json.syntax"),
    ],
)
def test_hostile_lines(line: bytes, code: str) -> None:
    assert code_of(line) == code


def test_limits() -> None:
    raw = b"x" * (LIMITS.source_bytes + 1)
    line = event_line(
        content=None, content_base64=base64.b64encode(raw).decode(), raw_sha256=hashlib.sha256(raw).hexdigest()
    )
    assert code_of(line) in ("limits.bytes", "schema.violation")
    text = "é" * (LIMITS.source_bytes // 2 + 1)
    assert code_of(event_line(content=text)) in ("limits.bytes", "json.not_canonical")
    assert code_of(b'"' + b"x" * LIMITS.event_line_bytes + b'"') == "limits.bytes"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"groups": ()}, "event.groups"),
        ({"groups": ("b", "a")}, "event.groups"),
        ({"groups": ("a", "a")}, "event.groups"),
        ({"groups": tuple(f"{n:03}" for n in range(257))}, "event.groups"),
        ({"groups": ("a\u00a0b",)}, "name.label"),
        ({"tenant": "\ud800"}, "name.label"),
        ({"document": "\udcff"}, "name.document"),
        ({"source_uri": "x" * 2_049}, "name.source_uri"),
        ({"role": ""}, "name.label"),
    ],
)
def test_facts_that_no_statement_could_hold(change: dict[str, Any], code: str) -> None:
    """Events that a connector makes itself pass the same door."""
    check_facts(UPSERT)
    with pytest.raises(InputError) as caught:
        check_facts(replace(UPSERT, **change))
    assert caught.value.code == code
