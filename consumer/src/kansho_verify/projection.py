"""The public projection of a bundle, and the bundle's self-hash (``docs/spec/bundle.md``)."""

from __future__ import annotations

from kansho_verify import ordering, schema, strict_json
from kansho_verify.canonical_json import JsonObject, canonical_sha256, serialise
from kansho_verify.limits import LIMITS

__all__ = ["project", "self_hash"]

_SELF_HASH = "bundle_sha256"


def project(data: bytes) -> bytes:
    """The public projection of a bundle: the same object without ``audit``, its self-hash computed anew.

    Only the form is checked, no signature. Raises VerifyError: ``limits.*``, ``json.*``, ``schema.*``.
    """
    value: JsonObject = strict_json.parse(data, limit_bytes=LIMITS.bundle_bytes)
    schema.check("bundle", value)
    ordering.check_bundle(value)
    kept = {name: member for name, member in value.items() if name not in ("audit", _SELF_HASH)}
    return serialise(kept | {_SELF_HASH: canonical_sha256(kept)})


def self_hash(value: JsonObject) -> str:
    """``match`` or ``mismatch``: whether a bundle's self-hash is right. It proves nothing; no check reads it."""
    kept = {name: member for name, member in value.items() if name != _SELF_HASH}
    return "match" if canonical_sha256(kept) == value[_SELF_HASH] else "mismatch"
