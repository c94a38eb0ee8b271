"""Canonical JSON: RFC 8785 over a restricted domain (docs/spec/canonical-json.md)."""

import hashlib
import json
import re
from typing import Any, NoReturn

from kansho_sign import strict_json
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["JsonObject", "dumps", "loads", "sha256_hex"]

JsonObject = dict[str, Any]

MAX_INTEGER = 2**53 - 1
MAX_DIGITS = 17
NAME = re.compile(r"[a-z][a-z0-9_]*")


def _refuse(code: str, why: str, where: str = "", hint: str = "") -> NoReturn:
    raise InputError(code, why, where, hint)


def _check(value: object, path: str, depth: int) -> None:
    if depth > LIMITS.json_depth or (depth == LIMITS.json_depth and type(value) in (dict, list)):
        _refuse("limits.depth", f"nested deeper than {LIMITS.json_depth}", path)
    if value is None or value is True or value is False:
        return
    if type(value) is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            _refuse("json.integer_range", "an integer outside ±(2^53 - 1)", path)
    elif type(value) is str:
        if not value.isascii() and strict_json.SURROGATE.search(value):
            _refuse("json.surrogate", "a string holds a lone surrogate", path)
    elif type(value) is dict:
        for name, member in value.items():
            if type(name) is not str or NAME.fullmatch(name) is None:
                _refuse("json.key", f"a member name outside [a-z][a-z0-9_]*: {str(name)[:40]!a}", path)
            _check(member, f"{path}.{name}", depth + 1)
    elif type(value) is list:
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", depth + 1)
    else:
        _refuse("json.type", f"{type(value).__name__} is outside the domain", path)


def dumps(value: object) -> bytes:
    """The canonical bytes of a value.

    Raises InputError (``json.*``, ``limits.depth``) with the JSON path for anything outside the domain: floats, tuples,
    subclasses, integers beyond ±(2^53 - 1), member names outside ``[a-z][a-z0-9_]*``, lone surrogates.
    """
    _check(value, "$", 0)
    # Names are ASCII, so sorting by code point is the UTF-16 order of RFC 8785, section 3.2.3.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def sha256_hex(value: object) -> str:
    """SHA-256 of ``dumps(value)``, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(dumps(value)).hexdigest()


def _integer(digits: str) -> int:
    if digits == "-0":
        _refuse("json.number", "-0 is outside the domain", "", "write 0")
    if len(digits) > MAX_DIGITS:
        _refuse("json.integer_range", "an integer outside ±(2^53 - 1)")
    return int(digits)


def _no_float(digits: str) -> NoReturn:
    _refuse("json.number", f"a number with fraction or exponent: {digits[:30]}", "", "write integers, or a string")


def _no_constant(name: str) -> NoReturn:
    _refuse("json.syntax", f"{name} is not JSON")


def loads(data: bytes, limit: int, *, canonical: bool) -> Any:
    """The value of strict JSON in the domain; with ``canonical`` the bytes must be exactly ``dumps(value)``.

    ``limit`` is the greatest number of bytes. Raises InputError (``json.*``, ``limits.*``), with the place where one is
    known. Never repairs, never lets the last of two equal members win.
    """
    text = strict_json.decode(data, limit, LIMITS.json_depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=strict_json.unique,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise strict_json.syntax(error) from None
    _check(value, "$", 0)
    if canonical and dumps(value) != data:
        _refuse("json.not_canonical", "these are not the canonical bytes of this value")
    return value
