"""Canonical JSON, writing: RFC 8785 over the restricted domain of ``docs/spec/canonical-json.md``."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, TypeAlias

from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["KEY", "JsonObject", "JsonValue", "canonical", "canonical_sha256", "serialise"]

JsonValue: TypeAlias = Any
"""A value of the domain: None, bool, int, str, list and dict of such. ``Any``, for Python has no closed JSON type."""

JsonObject: TypeAlias = dict[str, Any]

KEY = re.compile(r"[a-z][a-z0-9_]*")
"""What the whole name of a member must match."""

_write = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def serialise(value: JsonValue) -> bytes:
    """The canonical bytes of a value that is known to lie in the domain, because strict reading made its parts.

    Sorting by code point is the order of RFC 8785 here, for names are ASCII; the standard library's writer escapes
    exactly as RFC 8785 asks. Raises VerifyError (``json.surrogate``) for a lone surrogate.
    """
    try:
        return _write(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise VerifyError(Reason(Code.JSON_SURROGATE, detail="a string holds a lone surrogate")) from error


def canonical(value: JsonValue) -> bytes:
    """The canonical bytes of any value, after a check of the domain.

    Raises VerifyError: ``json.number``, ``json.integer_range``, ``json.key``, ``json.surrogate``, ``limits.depth``,
    each with its path.
    """
    _check_domain(value)
    return serialise(value)


def canonical_sha256(value: JsonValue) -> str:
    """SHA-256 of ``serialise(value)``, in hexadecimal."""
    return hashlib.sha256(serialise(value)).hexdigest()


def _check_domain(root: JsonValue) -> None:
    pending: list[tuple[JsonValue, str, int]] = [(root, "$", 0)]
    while pending:
        value, path, depth = pending.pop()
        kind = type(value)
        if value is None or kind is bool:
            continue
        if kind is str:
            if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
                raise VerifyError(Reason(Code.JSON_SURROGATE, path, "a lone surrogate"))
        elif kind is int:
            if abs(value) > LIMITS.integer:
                raise VerifyError(Reason(Code.JSON_INTEGER_RANGE, path, "an integer beyond 2^53 - 1"))
        elif kind is list or kind is dict:
            if depth >= LIMITS.nesting:
                raise VerifyError(Reason(Code.LIMITS_DEPTH, path, f"nesting deeper than {LIMITS.nesting}"))
            if kind is list:
                pending.extend((item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))
                continue
            for name, item in value.items():
                if type(name) is not str or KEY.fullmatch(name) is None:
                    raise VerifyError(Reason(Code.JSON_KEY, path, "a member name outside [a-z][a-z0-9_]*"))
                pending.append((item, f"{path}.{name}", depth + 1))
        else:
            raise VerifyError(Reason(Code.JSON_NUMBER, path, f"{kind.__name__} is outside the domain"))
