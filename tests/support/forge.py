"""A forger: makes valid trust roots, generations, live states and bundles from nothing but ``docs/spec``.

It shares no code with either package. A test hands in *hooks* that change any part while it is being made; whatever
is derived from that part afterwards (ids, hashes, roots, signatures) is made from the changed part. So a refusal
comes from the rule that was broken, and never from a signature that no longer fits.

The keys are test keys: their seeds stand in this file.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOW = 1_800_000_000
ISSUER = "Test issuer"
CORPUS = "00112233445566778899aabbccddeeff"
QUESTION = "How long do refunds take?"
CHALLENGE = "c0" * 32
NONCE = "0f" * 16
SCHEME = "kansho.v1"
NORMALISER = "canonical-text-lf-nfc-char-v1"
ROLES = {
    "root": ["trust-root"],
    "generation": ["absence", "generation"],
    "citation": ["public"],
    "audit": ["audit", "evaluation"],
    "live": ["live"],
}
ROLE_OF = {name: role for role, names in ROLES.items() for name in names}
PIPELINE: dict[str, Any] = {
    "normaliser": NORMALISER,
    "unicode_version": "15.0.0",
    "parsers": [
        {"media_type": "text/markdown", "parser": "markdown-blocks-v1", "configuration_sha256": "1" * 64},
        {"media_type": "text/plain", "parser": "plain-paragraphs-v1", "configuration_sha256": "2" * 64},
    ],
    "chunker": "block-chunks-v1",
    "index": "heading-path-v1",
    "retrieval": "lexical-bm25-visible-v1",
}
POLICY: dict[str, Any] = {
    "schema": "kansho.policy.v1",
    "allowed_roles": ["document"],
    "coverage": None,
    "selected_ids": None,
    "source_order": None,
    "include_unverified_annotations": False,
    "excerpt_boundary": "safe",
}
ALL_SOURCES, EVIDENCE_ALONE = "all_selected_sources", "selected_evidence"

Json = dict[str, Any]
Hook = Callable[[Any], Any]


def canonical(value: Any) -> bytes:
    """Canonical JSON of a value that lies in the domain (or, for hostile tests, nearly)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")


def sha(data: bytes | str) -> str:
    """SHA-256 in hexadecimal; text is hashed as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def derive(prefix: str, kind: str, **members: Any) -> str:
    """An identity of ``identities.md``."""
    return prefix + sha(canonical({"kind": kind, "scheme": SCHEME, **members}))


def cbor(value: Any) -> bytes:  # noqa: C901 - one case for each type
    """Deterministic CBOR of the few types that an envelope has; a tuple is (tag, value), bytearray is taken raw."""

    def head(major: int, number: int) -> bytes:
        for bound, info, width in ((24, number, 0), (2**8, 24, 1), (2**16, 25, 2), (2**32, 26, 4), (2**64, 27, 8)):
            if number < bound:
                return bytes([major << 5 | info]) + (number.to_bytes(width, "big") if width else b"")
        raise OverflowError(number)

    match value:
        case None:
            return b"\xf6"
        case bool():
            return b"\xf5" if value else b"\xf4"
        case int():
            return head(0, value) if value >= 0 else head(1, -1 - value)
        case bytearray():
            return bytes(value)
        case bytes():
            return head(2, len(value)) + value
        case str():
            return head(3, len(value.encode())) + value.encode()
        case list():
            return head(4, len(value)) + b"".join(map(cbor, value))
        case dict():
            pairs = sorted((cbor(key), cbor(item)) for key, item in value.items())
            return head(5, len(pairs)) + b"".join(key + item for key, item in pairs)
        case (tag, item):
            return head(6, tag) + cbor(item)
        case _:
            raise TypeError(type(value).__name__)


def covering(coverage: str, *selected: str, source_order: Sequence[str] | None = None, **members: Any) -> Json:
    """A policy that asks for an artifact of these sources."""
    order = None if source_order is None else list(source_order)
    return {**POLICY, "coverage": coverage, "selected_ids": list(selected), "source_order": order, **members}


@dataclass(frozen=True)
class TestKey:
    """A key whose seed anybody can compute. Never use it for anything but tests."""

    __test__ = False
    name: str

    @property
    def private(self) -> Ed25519PrivateKey:
        """The private key."""
        seed = hashlib.sha256(b"kansho TEST KEY, public, never use: " + self.name.encode()).digest()
        return Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        return self.private.public_key().public_bytes_raw()

    @property
    def kid(self) -> bytes:
        """The thumbprint (RFC 9679)."""
        return thumbprint(self.public)


def thumbprint(public: bytes) -> bytes:
    """RFC 9679 thumbprint of an Ed25519 public key."""
    return hashlib.sha256(bytes.fromhex("a301012006215820") + public).digest()


def b64(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def envelope(payload: Json, key: TestKey, *, alg: int = -19, hooks: Mapping[str, Hook] | None = None) -> bytes:
    """A COSE_Sign1 over a payload. Hooks: ``header`` (map), ``protected`` (bytes), ``cose`` (the list of four)."""
    hooks = hooks or {}
    header = {
        1: alg,
        4: key.kid,
        15: {1: payload["issuer"], 2: payload["corpus"], 6: payload["issued_at"]},
        16: "application/vnd.kansho.statement.v1+cose",
        258: -16,
        259: f"application/vnd.{payload['schema']}+json",
    }
    protected = apply(hooks, "protected", cbor(apply(hooks, "header", header)))
    digest = hashlib.sha256(canonical(payload)).digest()
    signature = key.private.sign(cbor(["Signature1", protected, b"", digest]))
    return apply(hooks, "envelope", cbor((18, apply(hooks, "cose", [protected, {}, None, signature]))))


def apply(hooks: Mapping[str, Hook], name: str, value: Any) -> Any:
    """What the hook of this name makes of the value (None: it changed the value in place); without one, the value."""
    hook = hooks.get(name)
    if hook is None:
        return value
    changed = hook(value)
    return value if changed is None else changed


def sign(payload: Json, keys: Sequence[TestKey], *, alg: int = -19, hooks: Mapping[str, Hook] | None = None) -> Json:
    """A statement signed by all keys, ascending."""
    ordered = sorted(keys, key=lambda key: key.kid)
    return {"payload": payload, "signatures": [b64(envelope(payload, key, alg=alg, hooks=hooks)) for key in ordered]}


@dataclass
class Doc:
    """A document: raw text and the slices that are its elements, one chunk and entry each."""

    document: str
    text: str
    parts: Sequence[str]
    groups: Sequence[str] = ("public",)
    role: str = "document"
    media_type: str = "text/markdown"
    projection: Json | None = None
    event_sequence: int = 7
    raw: bytes = b""
    spans: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.raw = self.raw or self.text.encode()
        position = 0
        for part in self.parts if not self.spans else ():
            start = self.text.index(part, position)
            position = start + len(part)
            self.spans.append((start, position))


REFUND = Doc(
    "policies/refund.md",
    "# Refunds\n\nRefunds are paid within five business days.\n\n"
    "> Gift cards are never refunded.\n\nRefunds are paid to the card.\n",
    [
        "Refunds",
        "Refunds are paid within five business days.",
        "Gift cards are never refunded.",
        "Refunds are paid to the card.",
    ],
)
FAQ = Doc(
    "faq.txt",
    "Only one paragraph — here.\n",
    ["Only one paragraph — here."],
    ("public", "staff"),
    media_type="text/plain",
)
HIDDEN = Doc("hidden.md", "The secret is out.\n", ["The secret is out."], ("secret",))
BLANK = Doc("blank.txt", "   \n", [], media_type="text/plain")
DOCS = (REFUND, FAQ, HIDDEN, BLANK)


def node(left: bytes, right: bytes) -> bytes:
    """An inner node of an entry tree."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree(leaves: Sequence[bytes]) -> bytes:
    """The root of an entry tree, by the recursive definition of RFC 9162."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256().digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node(tree(leaves[:split]), tree(leaves[split:]))


def tree_proof(leaves: Sequence[bytes], index: int) -> list[str]:
    """The inclusion proof, by the recursive definition of RFC 9162."""
    if len(leaves) == 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if index < split:
        return [*tree_proof(leaves[:split], index), tree(leaves[split:]).hex()]
    return [*tree_proof(leaves[split:], index - split), tree(leaves[:split]).hex()]


def trie(records: Sequence[tuple[bytes, bytes]], depth: int = 0) -> bytes:
    """The hash of a subtree of the document map; records are (key, record hash)."""
    if not records:
        return bytes(32)
    if len(records) == 1:
        return hashlib.sha256(b"\x02" + records[0][0] + records[0][1]).digest()
    halves = _halves(records, depth)
    return hashlib.sha256(b"\x03" + trie(halves[0], depth + 1) + trie(halves[1], depth + 1)).digest()


def trie_siblings(records: Sequence[tuple[bytes, bytes]], key: bytes, depth: int = 0) -> list[str]:
    """The siblings on the path to ``key``, from the root downwards."""
    if len(records) <= 1:
        return []
    halves = _halves(records, depth)
    side = _bit(key, depth)
    return [trie(halves[1 - side], depth + 1).hex(), *trie_siblings(halves[side], key, depth + 1)]


def _bit(key: bytes, depth: int) -> int:
    return key[depth // 8] >> (7 - depth % 8) & 1


def _halves(records: Sequence[tuple[bytes, bytes]], depth: int) -> list[list[tuple[bytes, bytes]]]:
    return [[record for record in records if _bit(record[0], depth) == side] for side in (0, 1)]


class Forge:
    """One corpus and one bundle of it. With ``excerpts`` the method is ``evidence``, else a ranking of ``selected``.

    Parameters choose what is made, hooks change it while it is made. A policy with coverage gives an artifact; a
    source that ``materialised`` names is cited over that span in place of the whole text, and rightly but for that.
    With the registry ``request`` the documents are as ``lifecycle.md`` makes them (A request's own registry).

    Hooks, in the order in which they run: ``trust_root`` (payload), ``entries`` (all entries of a document, before
    ids), ``records`` (list of records, before the map), ``generation_parts`` (before id and fingerprint),
    ``generation`` (payload), ``documents`` (audit documents), ``citation`` (each, before claim ids), ``citations``
    (those of one claim), ``claims``, ``artifact``, ``request`` (the audit's), ``public`` (before the trace id),
    ``public_signed`` (after it), ``audit`` (payload), ``live`` (payload), ``bundle`` (before its self-hash);
    ``sign:NAME`` holds a mapping of :func:`envelope`'s hooks.
    """

    def __init__(
        self,
        *,
        docs: Sequence[Doc] = DOCS,
        excerpts: Sequence[tuple[str, str]] | None = None,
        selected: Sequence[tuple[str, int]] = (("policies/refund.md", 1), ("faq.txt", 0)),
        materialised: Mapping[str, tuple[int, int]] | None = None,
        status: str = "answered",
        method: str | None = None,
        policy: Json | None = None,
        question: str | None = QUESTION,
        registry: str = "published",
        now: int = NOW,
        signers: Mapping[str, Sequence[TestKey]] | None = None,
        keys: Mapping[str, Json] | None = None,
        hooks: Mapping[str, Any] | None = None,
    ) -> None:
        self.hooks = dict(hooks or {})
        self.now, self.registry, self.status = now, registry, status
        self.docs = {doc.document: doc for doc in docs}
        self.method = method or ("evidence" if excerpts is not None else "lexical-bm25-visible-v1")
        self.policy = policy or POLICY
        self.materialised = dict(materialised or {})
        self.question = question
        self.signers = {role: list((signers or {}).get(role, [TestKey(role)])) for role in ROLES}
        self.key_settings = dict(keys or {})
        self.map_salt = hashlib.sha256(b"map salt").digest()
        if registry == "request":
            self.map_salt = self._salt("request_map_salt")
        self.tenant = "default"
        self._make_trust_root()
        self._make_corpus()
        self._make_generation()
        self._make_bundle(excerpts, selected)
        self._make_live()

    def signed(self, name: str, payload: Json) -> Json:
        """The payload as a statement, signed by the keys of its role."""
        hooks = self.hooks.get(f"sign:{name}")
        role = ROLE_OF[name]
        alg = self.key_settings.get(role, {}).get("alg", -19)
        return apply(self.hooks, f"statement:{name}", sign(payload, self.signers[role], alg=alg, hooks=hooks))

    @property
    def registry_document(self) -> Json:
        """The ``kansho.registry.v1`` document of the same sources."""
        sources = [
            {"source_id": doc.document, "role": doc.role, "text": doc.raw.decode(), "media_type": doc.media_type}
            for doc in self.docs.values()
        ]
        return {"schema": "kansho.registry.v1", "sources": sources}

    def _salt(self, kind: str, **members: str) -> bytes:
        message = canonical({"kind": kind, "scheme": SCHEME, **members})
        return hmac.digest(bytes.fromhex(NONCE), message, "sha256")

    def _described(self, doc: Doc) -> tuple[str, str, Sequence[str], int]:
        """Uri, ACL salt, groups and event sequence of a document."""
        if self.registry != "request":
            return doc.document, sha("salt" + doc.document)[:32], sorted(doc.groups), doc.event_sequence
        salt = self._salt("request_acl_salt", document=doc.document)[:16].hex()
        return f"urn:kansho:request:{quote(doc.document, safe='')}", salt, ["public"], 1

    @property
    def sources(self) -> dict[str, bytes]:
        """The raw bytes of every document, by id."""
        return {name: doc.raw for name, doc in self.docs.items()}

    @property
    def bundle_bytes(self) -> bytes:
        """The bundle, canonical."""
        return canonical(self.bundle)

    @property
    def trust_root_bytes(self) -> bytes:
        """The trust root, canonical."""
        return canonical(self.trust_root)

    @property
    def generation_bytes(self) -> bytes:
        """The generation statement, canonical."""
        return canonical(self.generation)

    @property
    def live_bytes(self) -> bytes:
        """The live state, canonical."""
        return canonical(self.live)

    def _make_trust_root(self) -> None:
        roles: Json = {}
        for role, names in ROLES.items():
            settings = {"alg": -19, "not_before": 0, "not_after": None, "retired_at": None, "revoked_at": None}
            settings |= self.key_settings.get(role, {})
            keys = [
                {"public_key": b64(key.public), **settings} for key in sorted(self.signers[role], key=lambda k: k.kid)
            ]
            types = [f"application/vnd.kansho.{name}.v1+json" for name in names]
            roles[role] = {"threshold": len(keys), "media_types": types, "keys": keys}
        payload = self._head("trust-root") | {
            "expires_at": self.now + 10_000,
            "version": 3,
            "previous_sha256": "a" * 64,
            "roles": roles,
        }
        self.trust_root = self.signed("trust-root", apply(self.hooks, "trust_root", payload))

    def _make_corpus(self) -> None:
        self.audit_documents: dict[str, Json] = {}
        self.entries: dict[str, list[Json]] = {}
        self.names: dict[str, Json] = {}
        records: list[Json] = []
        leaves: dict[str, list[bytes]] = {}
        for doc in self.docs.values():
            uri, salt, groups, event_sequence = self._described(doc)
            acl = derive("", "acl", groups=groups, salt=salt)
            shown = {
                "document": doc.document, "source_uri": uri, "source_version": "1", "role": doc.role,
                "media_type": doc.media_type, "raw_sha256": sha(doc.raw), "raw_size": len(doc.raw),
                "canonical_sha256": sha(doc.text), "projection": doc.projection,
            }  # fmt: skip
            revision = derive(
                "can_", "canonical_revision", corpus=CORPUS, tenant=self.tenant, normaliser=NORMALISER, acl=acl, **shown
            )
            parser = next((p for p in PIPELINE["parsers"] if p["media_type"] == doc.media_type), PIPELINE["parsers"][0])
            parsed = derive(
                "par_", "parse_revision", canonical_revision=revision, parser=parser["parser"],
                configuration_sha256=parser["configuration_sha256"],
            )  # fmt: skip
            space = doc.projection["coordinate_space"] if doc.projection else NORMALISER
            entries: list[Json] = [
                {
                    "index": i, "char_start": start, "char_end": end, "content_sha256": sha(doc.text[start:end]),
                    "retrieval_text_sha256": sha(doc.text[start:end]),
                    "elements": [
                        {"element_kind": "paragraph", "char_start": start, "char_end": end,
                         "text_sha256": sha(doc.text[start:end])}
                    ],
                }
                for i, (start, end) in enumerate(doc.spans)
            ]  # fmt: skip
            entries = apply(self.hooks, "entries", entries) if doc.document == REFUND.document else entries
            leaves[doc.document] = []
            for entry in entries:
                elements = [
                    derive("el_", "element", parse_revision=parsed, coordinate_space=space, **element)
                    for element in entry["elements"]
                ]
                span = {name: entry[name] for name in ("char_start", "char_end", "content_sha256")}
                chunk = derive(
                    "chk_", "chunk", canonical_revision=revision, parse_revision=parsed, chunker=PIPELINE["chunker"],
                    elements=elements, acl=acl, **span,
                )  # fmt: skip
                name = derive(
                    "idx_", "index_entry", chunk=chunk, retrieval_text_sha256=entry["retrieval_text_sha256"],
                    index=PIPELINE["index"], acl=acl,
                )  # fmt: skip
                entry["listing"] = {"entry": name, "chunk": chunk, "elements": elements}
                record = {
                    "kind": "entry_record", "scheme": SCHEME, "retrieval_text_sha256": entry["retrieval_text_sha256"],
                    **span, **entry["listing"],
                }  # fmt: skip
                leaves[doc.document].append(hashlib.sha256(b"\x00" + canonical(record)).digest())
            for entry in entries:
                entry["proof"] = tree_proof(leaves[doc.document], entry["index"])
            key = self.key_of(doc.document)
            records.append(
                {
                    "kind": "document_record", "scheme": SCHEME, "document_key": key.hex(),
                    "canonical_revision": revision,
                    "parse_revision": parsed, "event_sequence": event_sequence, "entry_count": len(entries),
                    "entry_root": tree(leaves[doc.document]).hex(),
                }
            )  # fmt: skip
            self.entries[doc.document] = entries
            self.names[doc.document] = {
                "canonical_revision": revision,
                "parse_revision": parsed,
                "coordinate_space": space,
            }
            self.audit_documents[doc.document] = shown | {
                "acl": {"groups": groups, "salt": salt}, "event_sequence": event_sequence,
                "entry_count": len(entries), "entry_root": records[-1]["entry_root"],
            }  # fmt: skip
        self.records = apply(self.hooks, "records", records)
        self.hashed = [
            (bytes.fromhex(record["document_key"]), hashlib.sha256(canonical(record)).digest())
            for record in self.records
        ]
        for name, document in self.audit_documents.items():
            document["siblings"] = trie_siblings(self.hashed, self.key_of(name))

    def key_of(self, document: str) -> bytes:
        """The document key."""
        message = canonical({"kind": "document", "scheme": SCHEME, "tenant": self.tenant, "document": document})
        return hmac.digest(self.map_salt, message, "sha256")

    def _head(self, name: str) -> Json:
        return {"schema": f"kansho.{name}.v1", "issuer": ISSUER, "corpus": CORPUS, "issued_at": self.now - 100}

    def _make_generation(self) -> None:
        request = self.registry == "request"
        payload = self._head("generation") | {
            "expires_at": self.now + 5_000, "registry": self.registry, "sequence": 1 if request else 4,
            "previous_sha256": None if request else "b" * 64, "source_snapshot_sha256": "c" * 64,
            "tombstones_sha256": "d" * 64, "authorization_revision": "auth-1", "map_salt": self.map_salt.hex(),
            "pipeline": json.loads(json.dumps(PIPELINE)), "document_map_root": trie(self.hashed).hex(),
            "document_count": len(self.docs), "entry_count": sum(map(len, self.entries.values())),
        }  # fmt: skip
        payload = apply(self.hooks, "generation_parts", payload)
        payload["pipeline_fingerprint"] = derive("", "pipeline", pipeline=payload["pipeline"])
        payload = apply(self.hooks, "fingerprint", payload)
        parts = (
            "corpus", "registry", "source_snapshot_sha256", "tombstones_sha256", "authorization_revision",
            "pipeline_fingerprint", "document_map_root", "document_count", "entry_count",
        )  # fmt: skip
        payload["generation"] = derive("gen_", "generation", **{name: payload[name] for name in parts})
        self.generation = self.signed("generation", apply(self.hooks, "generation", payload))

    def cite(self, document: str, start: int, end: int) -> Json:
        """A right citation, by the rules of ``bundle.md``, and the indexes that must be disclosed for it."""
        doc, entries = self.docs[document], self.entries[document]
        crossed = [entry for entry in entries if entry["char_start"] < end and entry["char_end"] > start]
        whole = (start, end) == (0, len(doc.text))
        inside = len(crossed) == 1 and crossed[0]["char_start"] <= start and end <= crossed[0]["char_end"]
        needed: set[int] = set()
        if inside:
            anchor, needed = "entry", {crossed[0]["index"]}
        elif whole:
            anchor, crossed = "document", []
            needed = {0} if len(entries) == 1 else set()
        elif crossed:
            anchor = "entries"
            first, last = crossed[0], crossed[-1]
            needed = {entry["index"] for entry in crossed}
            needed |= {first["index"] - 1} if start < first["char_start"] else set()
            needed |= {last["index"] + 1} if end > last["char_end"] else set()
        else:
            anchor = "document"
            before = sum(entry["char_end"] <= start for entry in entries)
            needed = {before - 1, before}
        self.needed[document] |= {index for index in needed if 0 <= index < len(entries)}
        elements = [element for entry in crossed for element in entry["elements"]]
        around = (0, len(doc.text))
        if anchor != "document":
            around = (
                min([start, *(e["char_start"] for e in elements)]), max([end, *(e["char_end"] for e in elements)])
            )  # fmt: skip
        text = doc.text[start:end]
        shown = {
            name: self.audit_documents[document][name]
            for name in ("document", "source_uri", "source_version", "media_type", "role", "raw_sha256", "raw_size")
        }
        return shown | self.names[document] | {
            "char_start": start, "char_end": end, "span_sha256": sha(text),
            "occurrences": sum(doc.text.startswith(text, i) for i in range(len(doc.text))) if len(text) < 10_000 else 1,
            "anchor": anchor, "entries": [entry["listing"] for entry in crossed], "surrounding_start": around[0],
            "surrounding_end": around[1], "partial": around != (start, end),
            "evidence_level": "projection_exact" if doc.projection else "raw_exact",
        }  # fmt: skip

    def _make_bundle(self, excerpts: Sequence[tuple[str, str]] | None, selected: Sequence[tuple[str, int]]) -> None:
        self.needed: dict[str, set[int]] = {name: set() for name in self.docs}
        answered = self.status == "answered"
        chosen = [(name, self.entries[name][i]) for name, i in selected] if excerpts is None and answered else []
        places = [(name, entry["char_start"], entry["char_end"]) for name, entry in chosen]
        if excerpts is not None and answered:
            at = [(name, self.docs[name].text.index(text), len(text)) for name, text in excerpts]
            places = [(name, start, start + length) for name, start, length in at]
        covered = self.policy["coverage"] == ALL_SOURCES and excerpts is not None and answered
        whole = [(name, *self._materialised(name)) for name in self.policy["selected_ids"]] if covered else []
        claims: dict[str, Json] = {}
        made: dict[tuple[str, int, int], str] = {}
        for place in [*places, *whole]:
            name, start, end = place
            text = self.docs[name].text[start:end]
            citation = apply(self.hooks, "citation", self.cite(name, start, end))
            citations = apply(self.hooks, "citations", [citation])
            made[place] = derive("clm_", "claim", text_sha256=sha(text), citations=citations)
            claims.setdefault(made[place], {"claim": made[place], "text": text, "citations": citations})
        listed = apply(self.hooks, "claims", list(claims.values()))
        request = {
            "audience": None, "challenge": CHALLENGE, "question": self.question, "tenant": self.tenant, "subject": None,
            "groups": ["public"], "authorization_revision": "auth-1",
            "top_k": 10 if self.method.startswith("lex") else None,
        }  # fmt: skip
        request = apply(self.hooks, "request", request)
        public = self._head("public") | {
            "registry": self.registry, "status": self.status, "claims": listed,
            "request_commitment": derive(
                "", "request", audience=request["audience"], question=request["question"],
                challenge=request["challenge"],
            ),
        }  # fmt: skip
        if answered and excerpts is not None and self.policy["coverage"] is not None:
            evidence = [claims[name] for name in dict.fromkeys(made[place] for place in places)]
            public["artifact"] = apply(self.hooks, "artifact", self._artifact(evidence, [made[p] for p in whole]))
        public = apply(self.hooks, "public", public)
        public["trace_id"] = derive("", "trace", nonce=NONCE, request=sha(canonical(request)), public=dict(public))
        self.public = self.signed("public", apply(self.hooks, "public_signed", public))
        documents = [
            self.audit_documents[name] | {"entries": [self._disclosed(name, i) for i in sorted(self.needed[name])]}
            for name in sorted({name for name, _, _ in [*places, *whole]})
        ]
        decisions = [
            {"path": f"evidence[{i}].excerpt", "source_id": name, "excerpt_sha256": sha(text), "code": None,
             "claim": made[places[i]] if answered else None}
            for i, (name, text) in enumerate(excerpts or ())
        ]  # fmt: skip
        seen = [name for name in self.docs if "public" in self.audit_documents[name]["acl"]["groups"]]
        visible = sum(len(self.entries[name]) for name in seen)
        audit = self._head("audit") | {
            "public_sha256": sha(canonical(self.public["payload"])),
            "generation_sha256": sha(canonical(self.generation["payload"])), "request": request, "nonce": NONCE,
            "documents": apply(self.hooks, "documents", documents),
            "selection": [entry["listing"]["entry"] for _, entry in chosen],
            "filter_summary": {
                "visible_documents": len(seen) if answered else 0,
                "visible_entries": visible if answered else 0, "matched_entries": len(chosen),
                "eligible_entries": len(chosen), "selected_entries": len(chosen),
            },
            "retrieval": {"method": self.method}, "evidence": decisions,
            "policy": self.policy if self.method == "evidence" else None,
            "failure": None if answered else {"code": self.status},
        }  # fmt: skip
        self.audit = self.signed("audit", apply(self.hooks, "audit", audit))
        bundle = {
            "media_type": "application/vnd.kansho.bundle.v1+json",
            "public": self.public,
            "audit": {"generation": self.generation, **self.audit},
        }
        bundle = apply(self.hooks, "bundle", bundle)
        self.bundle = bundle | {"bundle_sha256": sha(canonical(bundle))}

    def _materialised(self, name: str) -> tuple[int, int]:
        return self.materialised.get(name, (0, len(self.docs[name].text)))

    def _artifact(self, evidence: Sequence[Json], sources: Sequence[str]) -> Json:
        """The artifact: ``evidence`` are the claims that decisions name, ``sources`` the ids of whole sources."""
        order, encountered = self.policy["selected_ids"], self.policy["source_order"]
        cited = [(claim["claim"], claim["citations"][0]) for claim in evidence]
        return {
            "kind": "verified_artifact", "coverage": self.policy["coverage"], "order": list(order),
            "source_order": list(order if encountered is None else encountered),
            "sources": [
                {"source_id": order[i], "role": self.docs[order[i]].role, "claim": claim}
                for i, claim in enumerate(sources)
            ],
            "evidence": [
                {"source_id": citation["document"], "claim": name}
                | {member: citation[member] for member in ("char_start", "char_end", "span_sha256")}
                for name, citation in cited
            ],
        }  # fmt: skip

    def _disclosed(self, name: str, index: int) -> Json:
        return {key: value for key, value in self.entries[name][index].items() if key != "listing"}

    def _make_live(self) -> None:
        payload = self._head("live") | {
            "expires_at": self.now + 500, "sequence": 9, "previous_sha256": "e" * 64, "minimum_trust_root_version": 2,
            "generation": {"sequence": 4, "statement_sha256": sha(canonical(self.generation["payload"]))},
            "authorization_revision": "auth-1", "tombstones": [], "blocked": [],
        }  # fmt: skip
        self.live = self.signed("live", apply(self.hooks, "live", payload))


def seal_self_hash(bundle: Json) -> Json:
    """The bundle with its self-hash made anew."""
    rest = {name: member for name, member in bundle.items() if name != "bundle_sha256"}
    return rest | {"bundle_sha256": sha(canonical(rest))}
