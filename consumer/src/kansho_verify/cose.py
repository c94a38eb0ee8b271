"""The closed COSE_Sign1 hash envelope of ``docs/spec/signatures.md`` (RFC 9052, section 4.2; RFC 9995).

Reading looks for the reason first; at the end the whole envelope that is expected is built and compared.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from kansho_verify import cbor
from kansho_verify.canonical_json import JsonObject
from kansho_verify.escape import shown
from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["ALG_ED25519", "ALG_EDDSA", "Envelope", "base64url", "media_type_of", "read_envelope", "verify_envelope"]

ALG_ED25519 = -19
ALG_EDDSA = -8

_ALG, _KID, _CLAIMS, _TYP, _HASH_ALG, _CONTENT_TYPE = 1, 4, 15, 16, 258, 259
_ISSUER, _SUBJECT_CORPUS, _ISSUED_AT = 1, 2, 6
_TYP_VALUE = "application/vnd.kansho.statement.v1+cose"
_SHA256 = -16
_LABELS = {
    _ALG: "alg",
    _KID: "kid",
    _CLAIMS: "CWT claims",
    _TYP: "typ",
    _HASH_ALG: "payload hash algorithm",
    _CONTENT_TYPE: "preimage content type",
}
_TAGGED_ARRAY_OF_4 = b"\xd2\x84"
_SIGNATURE_BYTES, _KID_BYTES = 64, 32
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Envelope:
    """One signature that has the closed form and speaks of its payload; not yet verified."""

    raw: bytes
    alg: int
    kid: str
    signature: bytes


def base64url(text: str) -> bytes:
    """The bytes of base64url without padding, canonical (RFC 4648, section 5). Raises ``base64url.invalid``."""
    if _BASE64URL.fullmatch(text) is not None:
        try:
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            data = None
        if data is not None and base64.urlsafe_b64encode(data).rstrip(b"=") == text.encode("ascii"):
            return data
    raise VerifyError(Reason(Code.BASE64URL_INVALID, detail=f"not canonical base64url: {shown(text, 24)}"))


def media_type_of(payload: JsonObject) -> str:
    """The statement's media type: ``kansho.NAME.v1`` is ``application/vnd.kansho.NAME.v1+json``."""
    return f"application/vnd.{payload['schema']}+json"


def read_envelope(text: str, payload: JsonObject) -> Envelope:
    """The envelope that the base64url string ``text`` is, with a header that equals what ``payload`` says.

    Raises VerifyError: ``base64url.invalid``, ``limits.bytes``, ``cbor.*``, ``cose.structure``,
    ``cose.header_unknown``, ``cose.header_missing``, ``cose.header_value``.
    """
    if len(text) > LIMITS.envelope_bytes * 2:
        _refuse(Code.LIMITS_BYTES, f"the envelope is longer than {LIMITS.envelope_bytes} bytes")
    raw = base64url(text)
    if len(raw) > LIMITS.envelope_bytes:
        _refuse(Code.LIMITS_BYTES, f"the envelope has {len(raw)} bytes; the limit is {LIMITS.envelope_bytes}")
    if not raw.startswith(_TAGGED_ARRAY_OF_4):
        _refuse(Code.COSE_STRUCTURE, "not a COSE_Sign1 with tag 18 and an array of four")
    parts = cbor.decode(raw[1:])
    protected, unprotected, payload_part, signature = parts
    if type(protected) is not bytes:
        _refuse(Code.COSE_STRUCTURE, "the protected header is no byte string")
    if type(unprotected) is not dict or unprotected:
        _refuse(Code.COSE_STRUCTURE, "the unprotected header is not empty")
    if payload_part is not None:
        _refuse(Code.COSE_STRUCTURE, "the payload is not nil")
    if type(signature) is not bytes or len(signature) != _SIGNATURE_BYTES:
        _refuse(Code.COSE_STRUCTURE, f"the signature is not {_SIGNATURE_BYTES} bytes")
    header = cbor.decode(protected)
    if type(header) is not dict:
        _refuse(Code.COSE_STRUCTURE, "the protected header is no map")
    return _check_header(raw, header, signature, payload)


def verify_envelope(envelope: Envelope, *, public_key: bytes, alg: int, payload: JsonObject, digest: bytes) -> None:
    """Check that ``envelope`` is exactly the one expected of this key for this payload, and its signature.

    ``public_key`` are 32 bytes that passed :func:`kansho_verify.ed25519.check_public_key`; ``digest`` is the SHA-256
    of the payload's canonical bytes. Raises VerifyError: ``key.algorithm``, ``signature.invalid``.
    """
    if envelope.alg != alg:
        _refuse(Code.KEY_ALGORITHM, f"signed as alg {envelope.alg}; the trust root says {alg} for this key")
    protected = cbor.encode(_expected_header(alg, bytes.fromhex(envelope.kid), payload))
    expected = b"\xd2" + cbor.encode([protected, {}, None, envelope.signature])
    if expected != envelope.raw:
        _refuse(Code.SIGNATURE_INVALID, "the envelope differs from the one that the format demands")
    signed = cbor.encode(["Signature1", protected, b"", digest])
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(envelope.signature, signed)
    except (InvalidSignature, ValueError) as error:
        detail = "the signature does not verify: the statement or the signature was changed, or another key signed"
        raise VerifyError(Reason(Code.SIGNATURE_INVALID, detail=detail)) from error


def _check_header(raw: bytes, header: dict[object, object], signature: bytes, payload: JsonObject) -> Envelope:
    unknown = [label for label in header if label not in _LABELS]
    if unknown:
        _refuse(Code.COSE_HEADER_UNKNOWN, f"protected header label {shown(str(unknown[0]), 24)} is not allowed")
    missing = [name for label, name in _LABELS.items() if label not in header]
    if missing:
        _refuse(Code.COSE_HEADER_MISSING, f"the protected header lacks {missing[0]}")
    alg, kid = header[_ALG], header[_KID]
    if type(alg) is not int or alg not in (ALG_ED25519, ALG_EDDSA):
        _refuse(Code.COSE_HEADER_VALUE, f"alg {shown(str(alg), 24)} is not Ed25519")
    if type(kid) is not bytes or len(kid) != _KID_BYTES:
        _refuse(Code.COSE_HEADER_VALUE, f"kid is not {_KID_BYTES} bytes")
    expected = _expected_header(alg, kid, payload)
    for label, name in _LABELS.items():
        if cbor.encode(header[label]) != cbor.encode(expected[label]):
            _refuse(Code.COSE_HEADER_VALUE, f"{name} is not what the payload demands")
    return Envelope(raw, alg, kid.hex(), signature)


def _expected_header(alg: int, kid: bytes, payload: JsonObject) -> dict[int, object]:
    claims = {_ISSUER: payload["issuer"], _SUBJECT_CORPUS: payload["corpus"], _ISSUED_AT: payload["issued_at"]}
    return {
        _ALG: alg,
        _KID: kid,
        _CLAIMS: claims,
        _TYP: _TYP_VALUE,
        _HASH_ALG: _SHA256,
        _CONTENT_TYPE: media_type_of(payload),
    }


def _refuse(code: Code, detail: str) -> NoReturn:
    raise VerifyError(Reason(code, detail=detail))
