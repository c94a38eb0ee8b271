"""Hygiene of Ed25519 public keys (RFC 8032, section 5.1; ``docs/spec/signatures.md``, Keys).

Libraries verify under keys whose point is encoded oddly, is the identity or has a component of small order; under
such a key one signature may verify for many messages. Such keys are refused when a trust root is loaded. The
arithmetic is on public data only, so that it need not run in constant time.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TypeAlias

from kansho_verify import cbor
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["PUBLIC_KEY_BYTES", "check_public_key", "thumbprint"]

PUBLIC_KEY_BYTES = 32

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)
_SIGN_BIT = 255

_Point: TypeAlias = tuple[int, int, int, int]
_IDENTITY: _Point = (0, 1, 1, 0)


def thumbprint(public_key: bytes) -> str:
    """The RFC 9679 thumbprint of an Ed25519 public key of 32 bytes, in hexadecimal."""
    return hashlib.sha256(cbor.encode({1: 1, -1: 6, -2: public_key})).hexdigest()


@lru_cache(maxsize=256)
def check_public_key(public_key: bytes) -> None:
    """Refuse every encoding and point but those of a full-order key.

    Raises VerifyError: ``key.point`` (wrong length, y not below p, sign bit on x = 0, not on the curve),
    ``key.low_order`` (the identity, or a point outside the subgroup of prime order).
    """
    if len(public_key) != PUBLIC_KEY_BYTES:
        raise VerifyError(Reason(Code.KEY_POINT, detail=f"a public key has {PUBLIC_KEY_BYTES} bytes"))
    number = int.from_bytes(public_key, "little")
    y, sign = number & ((1 << _SIGN_BIT) - 1), number >> _SIGN_BIT
    if y >= _P:
        raise VerifyError(Reason(Code.KEY_POINT, detail="the encoding of the key is not canonical"))
    x = _recover_x(y, sign)
    point = (x, y, 1, x * y % _P)
    if _is_identity(point) or not _is_identity(_multiply(_L, point)):
        raise VerifyError(Reason(Code.KEY_LOW_ORDER, detail="the key's point is not of full prime order"))


def _recover_x(y: int, sign: int) -> int:
    numerator = (y * y - 1) % _P
    denominator = (_D * y * y + 1) % _P
    x_squared = numerator * pow(denominator, -1, _P) % _P
    x = pow(x_squared, (_P + 3) // 8, _P)
    if x * x % _P != x_squared:
        x = x * _SQRT_MINUS_1 % _P
    if x * x % _P != x_squared:
        raise VerifyError(Reason(Code.KEY_POINT, detail="the key is not a point of the curve"))
    if x == 0 and sign:
        raise VerifyError(Reason(Code.KEY_POINT, detail="the encoding of the key is not canonical"))
    return _P - x if x & 1 != sign else x


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(scalar: int, point: _Point) -> _Point:
    result = _IDENTITY
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _is_identity(point: _Point) -> bool:
    x, y, z, _ = point
    return x % _P == 0 and (y - z) % _P == 0
