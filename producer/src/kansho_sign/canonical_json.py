"""Canonical JSON: RFC 8785 over a restricted domain (docs/spec/canonical-json.md)."""

import hashlib
import json
import re
from typing import Any, NoReturn

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["JsonObject", "dumps", "loads", "sha256_hex"]

JsonObject = dict[str, Any]

MAX_INTEGER = 2**53 - 1
MAX_DIGITS = 17
NAME = re.compile(r"[a-z][a-z0-9_]*")
# Possessive, and content with a missing end: one pass, however hostile the text is.
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")
NOT_BRACKET = re.compile(r"[^\[\]{}]+")


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
        if not value.isascii() and SURROGATE.search(value):
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


def _depth_within(unquoted: str, limit: int) -> bool:
    """Whether nothing nests deeper, also where brackets do not match: what is wrong then, the parser says."""
    brackets = NOT_BRACKET.sub("", unquoted)
    removed = 0
    while removed < limit and len(rest := brackets.replace("[]", "").replace("{}", "")) < len(brackets):
        brackets, removed = rest, removed + 1
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in "[{" else -1
        if depth + removed > limit:
            return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                _refuse("json.duplicate_key", f"the member {name[:60]!a} stands twice in one object")
            seen.add(name)
    return members


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
    if len(data) > limit:
        _refuse("limits.bytes", f"{len(data)} bytes, the limit is {limit}")
    if data.startswith(b"\xef\xbb\xbf"):
        _refuse("json.bom", "begins with a byte order mark", "byte 0", "save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("json.utf8", "not strict UTF-8", f"byte {error.start}", "save it as UTF-8") from None
    unquoted = STRING.sub("", text)
    if sum(map(unquoted.count, ",[{")) > LIMITS.json_items:
        _refuse("limits.items", f"more than {LIMITS.json_items} members and items")
    if not _depth_within(unquoted, LIMITS.json_depth):
        _refuse("limits.depth", f"nested deeper than {LIMITS.json_depth}")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise InputError("json.syntax", error.msg, f"line {error.lineno}, column {error.colno}") from None
    _check(value, "$", 0)
    if canonical and dumps(value) != data:
        _refuse("json.not_canonical", "these are not the canonical bytes of this value")
    return value
