"""Strict CBOR: the few types an envelope needs, deterministically encoded (RFC 8949, section 4.2.1).

cbor2 does the decoding, with all forbidden that it lets one forbid. What it still lets through (non-minimal
lengths, trailing bytes, unsorted maps) is found by encoding again and comparing.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NoReturn, TypeAlias

import cbor2

from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["CborValue", "decode", "encode"]

CborValue: TypeAlias = Any
"""None, bool, int, bytes, str, list and dict (keys int or str) of such."""

_BUILT_IN_TAGS = (0, 1, 2, 3, 4, 5, 25, 28, 29, 30, 35, 36, 37, 52, 54, 100, 256, 258, 260, 261, 1004, 43000, 55799)
_IMMEDIATE = 24
_ONE_BYTE, _TWO_BYTES, _FOUR_BYTES, _EIGHT_BYTES = 2**8, 2**16, 2**32, 2**64


class _ForbiddenTagError(Exception):
    pass


def _forbid(*_: object) -> NoReturn:
    raise _ForbiddenTagError


_FORBIDDEN: dict[int, Any] = dict.fromkeys(_BUILT_IN_TAGS, _forbid)


def decode(data: bytes) -> CborValue:
    """The one item that ``data`` is.

    Raises VerifyError: ``cbor.malformed`` (not one well-formed item: trailing bytes, indefinite lengths, repeated
    keys, nesting too deep), ``cbor.type`` (tags, floats, simple values, other key types),
    ``cbor.not_deterministic`` (another encoding than the one of RFC 8949, 4.2.1).
    """
    stream = BytesIO(data)
    try:
        value = cbor2.CBORDecoder(
            stream,
            tag_hook=_forbid,
            semantic_decoders=_FORBIDDEN,
            max_depth=LIMITS.envelope_nesting,
            allow_indefinite=False,
            allow_duplicate_keys=False,
            read_size=1,
        ).decode()
    except _ForbiddenTagError as error:
        raise VerifyError(Reason(Code.CBOR_TYPE, detail="a tag inside the envelope")) from error
    except Exception as error:
        # cbor2 raises its own errors, and lets through some of Python's own for absurd lengths and keys.
        if isinstance(error.__cause__, _ForbiddenTagError):
            raise VerifyError(Reason(Code.CBOR_TYPE, detail="a tag inside the envelope")) from error
        raise VerifyError(Reason(Code.CBOR_MALFORMED, detail="not one well-formed CBOR item")) from error
    if stream.tell() != len(data):
        raise VerifyError(Reason(Code.CBOR_MALFORMED, detail=f"{len(data) - stream.tell()} bytes after the item"))
    if encode(value) != data:
        raise VerifyError(Reason(Code.CBOR_NOT_DETERMINISTIC, detail="not the deterministic encoding"))
    return value


def encode(value: CborValue) -> bytes:
    """The deterministic encoding; map keys ascend by the bytes of their encoding. Raises ``cbor.type``."""
    kind = type(value)
    if value is None:
        return b"\xf6"
    if kind is bool:
        return b"\xf5" if value else b"\xf4"
    if kind is int:
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if kind is bytes:
        return _head(2, len(value)) + bytes(value)
    if kind is str:
        text = value.encode("utf-8", "surrogatepass")
        return _head(3, len(text)) + bytes(text)
    if kind is list:
        return _head(4, len(value)) + b"".join(map(encode, value))
    if kind is dict:
        if any(type(key) not in (int, str) for key in value):
            raise VerifyError(Reason(Code.CBOR_TYPE, detail="a map key that is neither integer nor text"))
        members = sorted((encode(key), encode(item)) for key, item in value.items())
        return _head(5, len(value)) + b"".join(key + item for key, item in members)
    raise VerifyError(Reason(Code.CBOR_TYPE, detail=f"a value of type {kind.__name__[:32]}"))


def _head(major: int, number: int) -> bytes:
    if number < _IMMEDIATE:
        return bytes([major << 5 | number])
    for info, bound, width in ((24, _ONE_BYTE, 1), (25, _TWO_BYTES, 2), (26, _FOUR_BYTES, 4), (27, _EIGHT_BYTES, 8)):
        if number < bound:
            return bytes([major << 5 | info]) + number.to_bytes(width, "big")
    raise VerifyError(Reason(Code.CBOR_TYPE, detail="an integer beyond 64 bits"))
