"""A request's own registry, read as sources (``docs/spec/lifecycle.md``, A request's own registry)."""

from __future__ import annotations

from kansho_verify import schema, strict_json
from kansho_verify.canonical_json import JsonObject
from kansho_verify.escape import shown
from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["read_registry"]


def read_registry(data: bytes) -> dict[str, bytes]:
    """The raw bytes of every source in a ``kansho.registry.v1`` document, by source id: the UTF-8 bytes of its text.

    ``data`` is strict JSON, not necessarily canonical. Roles and metadata decide nothing here: what a citation says
    of its document is proved by the bundle. Raises VerifyError: ``limits.*``, ``json.*`` (a lone surrogate in a text
    has no UTF-8 bytes: ``json.surrogate``), ``schema.violation`` (also for a source id that stands twice: one of the
    two texts would be lost).
    """
    value: JsonObject = strict_json.parse_loose(data, limit_bytes=LIMITS.registry_bytes)
    schema.check("registry", value)
    sources: dict[str, bytes] = {}
    for i, source in enumerate(value["sources"]):
        name, path = source["source_id"], f"$.sources[{i}]"
        if name in sources:
            detail = f"the source {shown(name, 64)} stands twice"
            raise VerifyError(Reason(Code.SCHEMA_VIOLATION, f"{path}.source_id", detail))
        raw = source["text"].encode("utf-8")
        if len(raw) > LIMITS.raw_source_bytes:
            detail = f"{len(raw)} bytes of text; the limit for one source is {LIMITS.raw_source_bytes}"
            raise VerifyError(Reason(Code.LIMITS_BYTES, f"{path}.text", detail))
        sources[name] = raw
    return sources
