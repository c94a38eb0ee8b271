"""Signing: COSE_Sign1 as a hash envelope (RFC 9052, RFC 9995; docs/spec/signatures.md)."""

import base64
import hashlib
from collections.abc import Sequence

import cbor2

from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.errors import FaultError
from kansho_sign.keys import SigningKey

__all__ = ["media_type", "protected_header", "sign_statement", "statement_sha256"]

ED25519 = -19
SHA_256 = -16
TYP = "application/vnd.kansho.statement.v1+cose"


def media_type(payload: JsonObject) -> str:
    """``application/vnd.kansho.NAME.v1+json`` for a payload whose schema is ``kansho.NAME.v1``."""
    return f"application/vnd.{payload['schema']}+json"


def statement_sha256(payload: JsonObject) -> str:
    """The statement's hash: of the canonical payload, without signatures."""
    return hashlib.sha256(dumps(payload)).hexdigest()


def protected_header(payload: JsonObject, kid: bytes) -> bytes:
    """The six members, in this order; deterministic CBOR."""
    # Plain cbor2 keeps the order of insertion, which is the bytewise order of RFC 8949, section 4.2.1.
    return cbor2.dumps(
        {
            1: ED25519,
            4: kid,
            15: {1: payload["issuer"], 2: payload["corpus"], 6: payload["issued_at"]},
            16: TYP,
            258: SHA_256,
            259: media_type(payload),
        }
    )


def _envelope(payload: JsonObject, digest: bytes, key: SigningKey) -> str:
    protected = protected_header(payload, key.kid)
    signed = cbor2.dumps(["Signature1", protected, b"", digest])
    signature = key.sign(signed)
    if not key.verifies(signature, signed):
        raise FaultError("selfcheck.failed", "a fresh signature does not verify", hint="nothing was signed")
    envelope = cbor2.dumps(cbor2.CBORTag(18, [protected, {}, None, signature]))
    return base64.urlsafe_b64encode(envelope).rstrip(b"=").decode("ascii")


def sign_statement(payload: JsonObject, keys: Sequence[SigningKey]) -> JsonObject:
    """``{payload, signatures}``, signatures ascending by kid. The caller has validated the payload.

    Each signature is verified before it is handed out. Raises FaultError ``selfcheck.failed``.
    """
    digest = hashlib.sha256(dumps(payload)).digest()
    ordered = sorted(keys, key=lambda key: key.kid)
    return {"payload": payload, "signatures": [_envelope(payload, digest, key) for key in ordered]}
