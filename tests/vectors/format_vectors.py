"""Vectors of single rules: ``identities.json``, ``trees.json``, ``signatures.json``, ``text.json``."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from kansho_sign import identity
from kansho_sign.canonical_json import dumps, sha256_hex
from kansho_sign.cose import protected_header, sign_statement, statement_sha256
from kansho_sign.derivation import pipeline
from kansho_sign.document_map import DocumentMap, EntryTree, document_key, document_record
from kansho_sign.errors import InputError
from kansho_sign.keys import thumbprint
from kansho_sign.text import canonical_text, decode, sha256_text
from tests.support.fixed_test_keys import fixed_hex, fixed_test_key

CORPUS = fixed_hex("vector corpus", 16)
SALT = fixed_hex("vector acl salt", 16)
MAP_SALT = fixed_hex("vector map salt", 32)


def _one(kind: str, members: dict[str, Any], made: str) -> dict[str, Any]:
    preimage = {"kind": kind, "scheme": "kansho.v1", **members}
    if not made.endswith(sha256_hex(preimage)):
        raise AssertionError(f"{kind}: the vector's members are not its preimage")
    return {"kind": kind, "members": members, "preimage": dumps(preimage).decode(), "identity": made}


def identities() -> dict[str, Any]:
    """One vector for each identity, each built on those before it."""
    vectors: list[dict[str, Any]] = []

    def add(kind: str, members: dict[str, Any], made: str) -> str:
        vectors.append(_one(kind, members, made))
        return made

    text = "Refunds are paid within five business days of the request."
    groups = ["finance", "public"]
    acl = add("acl", {"groups": groups, "salt": SALT}, identity.acl_hash(groups, SALT))
    revision: dict[str, Any] = {
        "corpus": CORPUS,
        "tenant": "default",
        "document": "policies/refund.md",
        "source_uri": "policies/refund.md",
        "source_version": "1",
        "role": "document",
        "media_type": "text/markdown",
        "raw_sha256": sha256_text(text),
        "raw_size": len(text.encode()),
        "canonical_sha256": sha256_text(text),
        "projection": None,
        "normaliser": "canonical-text-lf-nfc-char-v1",
        "acl": acl,
    }
    canonical = add("canonical_revision", revision, identity.canonical_revision_id(**revision))
    projection = {
        "extractor": "pdfium-text-v1",
        "extractor_version": "5.0.0",
        "configuration_sha256": sha256_hex({}),
        "coordinate_space": "pdf-text-char-v1",
    }
    projected = {**revision, "media_type": "application/pdf", "projection": projection}
    add("canonical_revision", projected, identity.canonical_revision_id(**projected))
    parse: dict[str, Any] = {
        "canonical_revision": canonical,
        "parser": "markdown-blocks-v1",
        "configuration_sha256": sha256_hex({"preset": "commonmark", "tables": True}),
    }
    parsed = add("parse_revision", parse, identity.parse_revision_id(**parse))
    element: dict[str, Any] = {
        "parse_revision": parsed,
        "element_kind": "paragraph",
        "coordinate_space": "canonical-text-lf-nfc-char-v1",
        "char_start": 0,
        "char_end": len(text),
        "text_sha256": sha256_text(text),
    }
    made = add("element", element, identity.element_id(**element))
    chunk: dict[str, Any] = {
        "canonical_revision": canonical,
        "parse_revision": parsed,
        "chunker": "block-chunks-v1",
        "elements": [made],
        "char_start": 0,
        "char_end": len(text),
        "content_sha256": sha256_text(text),
        "acl": acl,
    }
    chunked = add("chunk", chunk, identity.chunk_id(**chunk))
    entry: dict[str, Any] = {
        "chunk": chunked,
        "retrieval_text_sha256": sha256_text(f"Refunds\n{text}"),
        "index": "heading-path-v1",
        "acl": acl,
    }
    add("index_entry", entry, identity.entry_id(**entry))
    fingerprint = add("pipeline", {"pipeline": pipeline()}, identity.pipeline_fingerprint(pipeline()))
    key = document_key(bytes.fromhex(MAP_SALT), "default", "policies/refund.md")
    documents = [{"document_key": key, "canonical_revision": canonical, "event_sequence": 1}]
    snapshot_members = {"corpus": CORPUS, "documents": documents}
    snapshot = add("source_snapshot", snapshot_members, identity.snapshot_hash(CORPUS, documents))
    tombstones = [{"document_key": fixed_hex("deleted", 32), "event_sequence": 4}]
    tombstones_members = {"corpus": CORPUS, "tombstones": tombstones}
    buried = add("tombstones", tombstones_members, identity.tombstones_hash(CORPUS, tombstones))
    generation = {
        "corpus": CORPUS,
        "registry": "published",
        "source_snapshot_sha256": snapshot,
        "tombstones_sha256": buried,
        "authorization_revision": "1",
        "pipeline_fingerprint": fingerprint,
        "document_map_root": DocumentMap({}).root,
        "document_count": 0,
        "entry_count": 0,
    }
    add("generation", generation, identity.generation_id(generation))
    claim = {"text_sha256": sha256_text(text), "citations": []}
    add("claim", claim, identity.claim_id(sha256_text(text), []))
    request: dict[str, Any] = {
        "audience": None,
        "question": "When are refunds paid?",
        "challenge": fixed_hex("challenge", 32),
    }
    add("request", request, identity.request_commitment(**request))
    public = {"schema": "kansho.public.v1", "status": "insufficient_evidence", "claims": []}
    trace: dict[str, Any] = {"nonce": fixed_hex("nonce", 16), "request": sha256_hex(request), "public": public}
    add("trace", trace, identity.trace_id(nonce=trace["nonce"], request=request, public=public))
    return {"vectors": vectors}


def _record(key: str, number: int) -> dict[str, Any]:
    return document_record(
        document_key=key,
        canonical_revision=f"can_{fixed_hex(f'can {number}', 32)}",
        parse_revision=f"par_{fixed_hex(f'par {number}', 32)}",
        event_sequence=number + 1,
        entry_count=number,
        entry_root=EntryTree([bytes([i]) for i in range(number)]).root,
    )


def trees() -> dict[str, Any]:
    """Entry trees of 0 to 9 leaves with every proof; document maps with membership and absence."""
    entry_trees = []
    for size in range(10):
        leaves = [dumps({"leaf": number}) for number in range(size)]
        tree = EntryTree(leaves)
        proofs = [tree.proof(index) for index in range(size)]
        entry_trees.append({"leaves": [leaf.decode() for leaf in leaves], "root": tree.root, "proofs": proofs})
    salt = bytes.fromhex(MAP_SALT)
    names = [("default", f"document-{number}.md") for number in range(12)] + [("other", "document-0.md")]
    keys = [
        {"tenant": tenant, "document": document, "document_key": document_key(salt, tenant, document)}
        for tenant, document in names
    ]
    maps = []
    for count in (0, 1, 2, 3, 13):
        records = [_record(one["document_key"], number) for number, one in enumerate(keys[:count])]
        made = DocumentMap({record["document_key"]: sha256_hex(record) for record in records})
        absent = []
        for number in range(6):
            key = document_key(salt, "default", f"absent-{number}.md")
            proof = made.absence(key)
            other = None if proof.other is None else {"document_key": proof.other[0], "record_sha256": proof.other[1]}
            absent.append({"document_key": key, "siblings": proof.siblings, "other": other})
        maps.append(
            {
                "root": made.root,
                "present": [
                    {"record": record, "siblings": made.membership(record["document_key"])} for record in records
                ],
                "absent": absent,
            }
        )
    return {"map_salt": MAP_SALT, "document_keys": keys, "entry_trees": entry_trees, "maps": maps}


def signatures() -> dict[str, Any]:
    """Thumbprints and envelopes for fixed test keys."""
    vectors = []
    for number in range(3):
        key = fixed_test_key(f"vector {number}")
        payload = {
            "schema": "kansho.public.v1",
            "issuer": "Prüfstelle" if number else "kansho-test",
            "corpus": CORPUS,
            "issued_at": 1_790_000_000 + number,
            "body": "x" * number,
        }
        statement = sign_statement(payload, [key])
        protected = protected_header(payload, key.kid)
        digest = hashlib.sha256(dumps(payload)).digest()
        vectors.append(
            {
                "public_key": base64.urlsafe_b64encode(key.public).rstrip(b"=").decode(),
                "thumbprint": thumbprint(key.public).hex(),
                "payload": payload,
                "statement_sha256": statement_sha256(payload),
                "protected_hex": protected.hex(),
                "digest_hex": digest.hex(),
                "envelope": statement["signatures"][0],
            }
        )
    return {"vectors": vectors}


RAW_TEXTS = {
    "empty": b"",
    "crlf and lone cr": b"a\r\nb\rc\n\r\n",
    "one byte order mark": b"\xef\xbb\xbf\xef\xbb\xbfx",
    "nfd": "cafe\u0301".encode(),
    "reordered marks": "a\u0323\u0307 a\u0307\u0323".encode(),
    "line separators stay": "a\u2028b\u0085c\x0bd\x0ce".encode(),
    "private use": "\ue000\U0010fffd".encode(),
    "256 marks": ("a" + "\u0301" * 256).encode(),
    "hangul": "\u1112\u1161\u11ab".encode(),
    "nul": b"a\x00",
    "not utf-8": b"a\xff",
    "surrogate in utf-8": b"\xed\xa0\x80",
    "overlong": b"\xc0\xaf",
    "unassigned": "a\u0378".encode(),
    "noncharacter": "a\ufdd0".encode(),
    "257 marks": ("a" + "\u0301" * 257).encode(),
    "257 marks of class 0": ("a" + "\u0f73" * 257).encode(),
}


def texts() -> dict[str, Any]:
    """Raw bytes to canonical text, or the reason why there is none."""
    vectors = []
    for name, raw in RAW_TEXTS.items():
        vector: dict[str, Any] = {"name": name, "raw_base64": base64.b64encode(raw).decode()}
        try:
            text = canonical_text(decode(raw))
            vector |= {"text": text, "canonical_sha256": sha256_text(text), "code": None}
        except InputError as error:
            vector |= {"text": None, "canonical_sha256": None, "code": error.code}
        vectors.append(vector)
    return {"vectors": vectors}
