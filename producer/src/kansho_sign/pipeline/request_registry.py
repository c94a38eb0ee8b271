"""A request's own sources as a generation of their own, never published (docs/spec/lifecycle.md)."""

import functools
import hashlib
from collections.abc import Mapping
from urllib.parse import quote

from kansho_sign import identity
from kansho_sign.canonical_json import JsonObject
from kansho_sign.cose import sign_statement
from kansho_sign.derivation import DerivedDocument, SourceRevision, derive
from kansho_sign.document_map import DocumentMap
from kansho_sign.errors import InputError
from kansho_sign.evidence import Registry, read_registry
from kansho_sign.generation import MapEntry, generation_payload, map_entry
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline.requests import Asker
from kansho_sign.schema import validate
from kansho_sign.selfcheck import check_generation
from kansho_sign.sources.names import check_document_id, check_label
from kansho_sign.workspace import DAY, Workspace

__all__ = ["RequestView"]

URI = "urn:kansho:request:"


class RequestView:
    """The view of a ``kansho.registry.v1``: its sources are all that there is, and all visible.

    The generation statement is signed when it is first asked for. Making it raises InputError (``schema.violation``,
    ``registry.duplicate``, ``name.*``, ``text.*``, ``source.media_type``).
    """

    def __init__(self, workspace: Workspace, value: JsonObject, asker: Asker) -> None:
        self._workspace, self._asker = workspace, asker
        self.registry: Registry = read_registry(value)
        self.tenant, self.groups = asker.tenant, asker.groups
        self._raw: dict[str, bytes] = {}
        self._documents: dict[str, DerivedDocument] = {}
        for position, item in enumerate(value["sources"]):
            try:
                made = self._derive(workspace.configuration.corpus, item, asker)
            except InputError as error:
                raise error.at(f"$.sources[{position}]") from None
            self._documents[made.source.document] = made
        salt = bytes.fromhex(identity.request_map_salt(asker.nonce))
        places = {name: map_entry(made, salt) for name, made in self._documents.items()}
        self._places: Mapping[str, MapEntry] = places
        self._map = DocumentMap({place.document_key: place.record_sha256 for place in places.values()})

    def _derive(self, corpus: str, item: JsonObject, asker: Asker) -> DerivedDocument:
        name = check_document_id(item["source_id"])
        raw = item["text"].encode("utf-8")
        if len(raw) > LIMITS.source_bytes:
            raise InputError("limits.bytes", f"the text is larger than {LIMITS.source_bytes} bytes", "$.text")
        digest = hashlib.sha256(raw).hexdigest()
        self._raw[digest] = raw
        revision = SourceRevision(
            tenant=asker.tenant,
            document=name,
            source_uri=URI + quote(name, safe=""),
            source_version="1",
            role=check_label(item["role"], "role"),
            media_type=item.get("media_type", "text/plain"),
            raw_sha256=digest,
            raw_size=len(raw),
            groups=asker.groups,
            salt=identity.request_acl_salt(asker.nonce, name),
            event_sequence=1,
        )
        return derive(corpus, revision, raw)

    @functools.cached_property
    def generation(self) -> JsonObject:
        """The signed statement, of kind ``request``."""
        workspace, asker = self._workspace, self._asker
        with workspace.store.read() as c:
            authorization = workspace.store.setting(c, "authorization_revision")
        configuration = workspace.configuration
        payload = generation_payload(
            issuer=configuration.issuer,
            corpus=configuration.corpus,
            registry="request",
            map_salt=identity.request_map_salt(asker.nonce),
            authorization_revision=authorization,
            entries=list(self._places.values()),
            tombstones=[],
            previous=None,
            now=asker.now,
            expires_at=asker.now + configuration.generation_days * DAY,
        )
        check_generation(payload)
        statement = sign_statement(payload, [workspace.key("generation")])
        validate(statement, "generation")
        return statement

    @property
    def document_count(self) -> int:
        """How many sources there are."""
        return len(self._documents)

    @property
    def entry_count(self) -> int:
        """How many entries they have."""
        return sum(len(made.entries) for made in self._documents.values())

    def raw(self, sha256: str) -> bytes:
        """Raw bytes of a source."""
        return self._raw[sha256]

    def derived(self, document: str) -> DerivedDocument:
        """A source as a document."""
        return self._documents[document]

    def siblings(self, document: str) -> list[str]:
        """A source's membership proof."""
        return self._map.membership(self._places[document].document_key)
