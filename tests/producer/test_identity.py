"""Derived identities, each against a computation of the test's own (docs/spec/identities.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from kansho_sign import identity
from kansho_sign.errors import InputError

SHA = {name: hashlib.sha256(name.encode()).hexdigest() for name in "abcdefgh"}


def own(prefix: str, kind: str, members: Mapping[str, Any]) -> str:
    record = {"kind": kind, "scheme": "kansho.v1", **members}
    data = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return prefix + hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Kind:
    prefix: str
    kind: str
    members: dict[str, Any]
    make: Callable[[dict[str, Any]], str]
    """From the record's members."""


CITATION = {"document": "a.md", "char_start": 0, "char_end": 4}
KINDS = [
    Kind(
        "",
        "acl",
        {"groups": ["a", "b"], "salt": "0" * 32},
        lambda m: identity.acl_hash(m["groups"], m["salt"]),
    ),
    Kind(
        "can_",
        "canonical_revision",
        {
            "corpus": "1" * 32,
            "tenant": "default",
            "document": "a/é.md",
            "source_uri": "a/%C3%A9.md",
            "source_version": "1",
            "role": "document",
            "media_type": "text/markdown",
            "raw_sha256": SHA["a"],
            "raw_size": 7,
            "canonical_sha256": SHA["b"],
            "projection": None,
            "normaliser": "canonical-text-lf-nfc-char-v1",
            "acl": SHA["c"],
        },
        lambda m: identity.canonical_revision_id(**m),
    ),
    Kind(
        "par_",
        "parse_revision",
        {"canonical_revision": "can_" + SHA["a"], "parser": "p-v1", "configuration_sha256": SHA["b"]},
        lambda m: identity.parse_revision_id(**m),
    ),
    Kind(
        "el_",
        "element",
        {
            "parse_revision": "par_" + SHA["a"],
            "element_kind": "paragraph",
            "coordinate_space": "canonical-text-lf-nfc-char-v1",
            "char_start": 3,
            "char_end": 9,
            "text_sha256": SHA["b"],
        },
        lambda m: identity.element_id(**m),
    ),
    Kind(
        "chk_",
        "chunk",
        {
            "canonical_revision": "can_" + SHA["a"],
            "parse_revision": "par_" + SHA["b"],
            "chunker": "block-chunks-v1",
            "elements": ["el_" + SHA["c"], "el_" + SHA["a"]],
            "char_start": 3,
            "char_end": 9,
            "content_sha256": SHA["d"],
            "acl": SHA["e"],
        },
        lambda m: identity.chunk_id(**m),
    ),
    Kind(
        "idx_",
        "index_entry",
        {"chunk": "chk_" + SHA["a"], "retrieval_text_sha256": SHA["b"], "index": "i-v1", "acl": SHA["c"]},
        lambda m: identity.entry_id(**m),
    ),
    Kind(
        "",
        "pipeline",
        {"pipeline": {"chunker": "c", "index": "i"}},
        lambda m: identity.pipeline_fingerprint(m["pipeline"]),
    ),
    Kind(
        "",
        "source_snapshot",
        {
            "corpus": "1" * 32,
            "documents": [
                {"document_key": SHA["b"], "canonical_revision": "can_" + SHA["a"], "event_sequence": 1},
                {"document_key": SHA["a"], "canonical_revision": "can_" + SHA["c"], "event_sequence": 2},
            ],
        },
        lambda m: identity.snapshot_hash(m["corpus"], m["documents"]),
    ),
    Kind(
        "",
        "tombstones",
        {"corpus": "1" * 32, "tombstones": [{"document_key": SHA["a"], "event_sequence": 2}]},
        lambda m: identity.tombstones_hash(m["corpus"], m["tombstones"]),
    ),
    Kind(
        "gen_",
        "generation",
        {
            "corpus": "1" * 32,
            "registry": "published",
            "source_snapshot_sha256": SHA["a"],
            "tombstones_sha256": SHA["b"],
            "authorization_revision": "1",
            "pipeline_fingerprint": SHA["c"],
            "document_map_root": SHA["d"],
            "document_count": 2,
            "entry_count": 5,
        },
        identity.generation_id,
    ),
    Kind(
        "clm_",
        "claim",
        {"text_sha256": SHA["a"], "citations": [CITATION]},
        lambda m: identity.claim_id(m["text_sha256"], m["citations"]),
    ),
    Kind(
        "",
        "request",
        {"audience": None, "question": "Why?", "challenge": SHA["a"]},
        lambda m: identity.request_commitment(**m),
    ),
]
BY_NAME = [pytest.param(kind, id=kind.kind) for kind in KINDS]


def changed(value: Any) -> Any:
    match value:
        case None:
            return "x"
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "0"
        case dict():
            return {**value, "more": 1}
        case _:
            return [*value, *value[:1]] if isinstance(value[0], dict) else [*value, "z"]


def in_record_order(kind: Kind) -> dict[str, Any]:
    """The members as the record has them: lists that the page calls ascending are."""
    members = dict(kind.members)
    for name in ("documents", "tombstones"):
        if name in members:
            members[name] = sorted(members[name], key=lambda item: str(item["document_key"]))
    return members


@pytest.mark.parametrize("kind", BY_NAME)
def test_id_is_the_hash_of_the_record(kind: Kind) -> None:
    assert kind.make(kind.members) == own(kind.prefix, kind.kind, in_record_order(kind))


@pytest.mark.parametrize("kind", BY_NAME)
def test_every_member_changes_the_id(kind: Kind) -> None:
    made = {kind.make(kind.members)}
    for name, value in kind.members.items():
        made.add(kind.make({**kind.members, name: changed(value)}))
    assert len(made) == len(kind.members) + 1


@pytest.mark.parametrize("kind", BY_NAME)
def test_a_float_in_any_member_is_refused(kind: Kind) -> None:
    for name, value in kind.members.items():
        if not isinstance(value, list):
            with pytest.raises(InputError):
                kind.make({**kind.members, name: 1.0})


def test_no_two_kinds_share_a_preimage() -> None:
    others = {"trace", "document", "document_record", "entry_record"}
    assert len({kind.kind for kind in KINDS} | others) == len(KINDS) + len(others)
    digests = {kind.make(kind.members).rsplit("_", 1)[-1] for kind in KINDS}
    assert len(digests) == len(KINDS)


def test_groups_are_a_set_and_lists_are_sorted() -> None:
    assert identity.acl_hash(["b", "a"], "0" * 32) == identity.acl_hash(["a", "b"], "0" * 32)
    documents: list[dict[str, Any]] = KINDS[7].members["documents"]
    assert identity.snapshot_hash("c", documents) == identity.snapshot_hash("c", documents[::-1])


def test_order_of_elements_and_citations_counts() -> None:
    chunk = KINDS[4].members
    assert identity.chunk_id(**chunk) != identity.chunk_id(**{**chunk, "elements": chunk["elements"][::-1]})
    other = {**CITATION, "document": "b.md"}
    assert identity.claim_id(SHA["a"], [CITATION, other]) != identity.claim_id(SHA["a"], [other, CITATION])


def test_trace() -> None:
    request, public = {"question": "Why?"}, {"claims": [], "status": "answered"}
    hashed = hashlib.sha256(json.dumps(request, separators=(",", ":")).encode()).hexdigest()
    expected = own("", "trace", {"nonce": "0" * 32, "request": hashed, "public": public})
    assert identity.trace_id(nonce="0" * 32, request=request, public=public) == expected
    others = (
        identity.trace_id(nonce="1" * 32, request=request, public=public),
        identity.trace_id(nonce="0" * 32, request={}, public=public),
        identity.trace_id(nonce="0" * 32, request=request, public={}),
    )
    assert expected not in others
    assert len(set(others)) == 3


def test_generation_reads_its_members_and_no_others() -> None:
    members = KINDS[9].members
    assert identity.generation_id({**members, "issued_at": 5, "map_salt": SHA["a"]}) == identity.generation_id(members)
    for name in members:
        with pytest.raises(KeyError):
            identity.generation_id({key: value for key, value in members.items() if key != name})
