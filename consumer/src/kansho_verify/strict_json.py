"""Strict JSON, reading: bytes to a value, or a reason (``docs/spec/canonical-json.md``, Reading).

The checks run in the order of that page. Nothing is repaired: what is signed is written again after it was read and
must be the very bytes that came in. What people write by hand passes every check but this last one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from kansho_verify.canonical_json import KEY, JsonObject, JsonValue, serialise
from kansho_verify.escape import shown
from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["parse", "parse_loose"]

_BLOCK_BYTES = 65_536
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the parsed tree where a value outside the domain was read, until its path is known."""

    code: Code
    detail: str


def parse(data: bytes, *, limit_bytes: int) -> JsonValue:
    """The value whose canonical serialisation is ``data``.

    ``limit_bytes`` is the limit for this kind of statement. Raises VerifyError with the codes ``limits.bytes``,
    ``json.bom``, ``json.utf8``, ``limits.items``, ``limits.depth``, ``json.syntax``, ``json.number``,
    ``json.integer_range``, ``json.duplicate_key``, ``json.key``, ``json.surrogate``, ``json.not_canonical``,
    ``limits.memory``; the reason names the byte offset or the JSON path. Never raises anything else.
    """
    return _parse(data, limit_bytes, is_canonical=True)


def parse_loose(data: bytes, *, limit_bytes: int) -> JsonValue:
    """As :func:`parse`, but white space, the order of members and the way that characters are escaped do not count.

    For files that nobody signed. All else is refused as there, with every code but ``json.not_canonical``.
    """
    return _parse(data, limit_bytes, is_canonical=False)


def _parse(data: bytes, limit_bytes: int, *, is_canonical: bool) -> JsonValue:
    if len(data) > limit_bytes:
        _refuse(Code.LIMITS_BYTES, f"{len(data)} bytes; the limit is {limit_bytes}")
    try:
        value = _parse_bounded(data)
        again = _serialise(value)
        if is_canonical and again != data:
            detail = f"differs from its canonical form at byte {_first_difference(again, data)}"
            _refuse(Code.JSON_NOT_CANONICAL, detail)
    except MemoryError as error:
        reason = Reason(Code.LIMITS_MEMORY, detail="not enough memory to read the input")
        raise VerifyError(reason) from error
    return value


def _parse_bounded(data: bytes) -> JsonValue:
    if data.startswith(b"\xef\xbb\xbf"):
        _refuse(Code.JSON_BOM, "a byte order mark at byte 0")
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        _refuse(Code.JSON_UTF8, f"not UTF-8 at byte {error.start}")
    _check_size(data)
    reader = _Reader()
    value = _read(text, reader)
    if reader.has_refused:
        _report(value)
    return value


def _serialise(value: JsonValue) -> bytes:
    """The canonical bytes; what has none, for a lone surrogate, is refused with its place."""
    try:
        return serialise(value)
    except VerifyError as error:
        raise VerifyError(Reason(Code.JSON_SURROGATE, _surrogate_path(value), "a lone surrogate")) from error


def _check_size(data: bytes) -> None:
    """Refuse what would become too many values, or nest too deep, in linear time, flat memory and without recursion.

    A value of three bytes takes up to a hundred in memory. Every value but the first of an array or object follows a
    comma, so that commas and opening brackets outside strings bound their number. For the depth, innermost pairs of
    brackets are collapsed once per permitted level. A pair that is left lay too deep; without pairs only unclosed
    brackets are left, and they count by themselves.
    """
    commas, brackets = _outside_strings(data)
    items = commas + brackets.count(b"[")
    if items > LIMITS.items:
        _refuse(Code.LIMITS_ITEMS, f"about {items} members and items; the limit is {LIMITS.items}")
    for _ in range(LIMITS.nesting):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets or brackets.count(b"[") > LIMITS.nesting:
        _refuse(Code.LIMITS_DEPTH, f"arrays and objects nested deeper than {LIMITS.nesting}")


def _outside_strings(data: bytes) -> tuple[int, bytes]:
    """How many commas stand outside strings, and the brackets there, curly ones as square ones."""
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    commas, brackets, inside = 0, bytearray(), False
    for start in range(0, len(unescaped), _BLOCK_BYTES):
        pieces = unescaped[start : start + _BLOCK_BYTES].split(b'"')
        outside = b"".join(pieces[inside::2])
        commas += outside.count(b",")
        brackets += outside.translate(_ONE_KIND, _NOT_BRACKETS)
        inside ^= len(pieces) % 2 == 0
    return commas, bytes(brackets)


class _Reader:
    """The hooks of the standard library's reader; every value outside the domain is marked in the tree."""

    def __init__(self) -> None:
        self.has_refused = False

    def integer(self, digits: str) -> int | _Refused:
        """An integer of the domain; the digits are counted before they are turned into a number."""
        if digits == "-0":
            return self._refused(Code.JSON_NUMBER, "-0 is outside the domain")
        if len(digits) <= LIMITS.integer_digits + 1:
            number = int(digits)
            if -LIMITS.integer <= number <= LIMITS.integer:
                return number
        return self._refused(Code.JSON_INTEGER_RANGE, f"integer {shown(digits, 24)} is beyond 2^53 - 1")

    def not_integer(self, digits: str) -> _Refused:
        """A fraction, an exponent, NaN or an infinity."""
        return self._refused(Code.JSON_NUMBER, f"{shown(digits, 24)} is no integer")

    def members(self, pairs: list[tuple[str, JsonValue]]) -> JsonObject | _Refused:
        """An object whose names match the pattern and differ."""
        names = dict(pairs)
        if len(names) != len(pairs):
            return self._refused(Code.JSON_DUPLICATE_KEY, f"member {shown(_first_repeated(pairs))} stands twice")
        for name in names:
            if KEY.fullmatch(name) is None:
                return self._refused(Code.JSON_KEY, f"member name {shown(name)} is outside [a-z][a-z0-9_]*")
        return names

    def _refused(self, code: Code, detail: str) -> _Refused:
        self.has_refused = True
        return _Refused(code, detail)


def _read(text: str, reader: _Reader) -> JsonValue:
    try:
        return json.loads(
            text,
            parse_int=reader.integer,
            parse_float=reader.not_integer,
            parse_constant=reader.not_integer,
            object_pairs_hook=reader.members,
        )
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode("utf-8"))
        _refuse(Code.JSON_SYNTAX, f"{error.msg} at byte {offset}")
    except RecursionError:
        # Not reachable at the permitted depth on a fresh stack; a caller may be deep in its own.
        _refuse(Code.LIMITS_DEPTH, "nesting deeper than the stack allows")


def _report(root: JsonValue) -> NoReturn:
    """Raise for the first value, in reading order, that was marked as outside the domain."""
    for value, steps in _walk(root):
        if isinstance(value, _Refused):
            raise VerifyError(Reason(value.code, _path(steps), value.detail))
    # A mark is lost only inside an object that is itself marked, so that this is not reached.
    raise VerifyError(Reason(Code.JSON_SYNTAX, "$", "a value outside the domain"))


def _surrogate_path(root: JsonValue) -> str:
    for value, steps in _walk(root):
        if isinstance(value, str) and _SURROGATE.search(value) is not None:
            return _path(steps)
    return "$"


def _walk(root: JsonValue) -> Iterator[tuple[JsonValue, list[str | int]]]:
    """Every value in reading order, with the steps to it in a list that goes on changing; holds one path, no more."""
    yield root, []
    steps: list[str | int] = []
    open_values = [_members(root)]
    while open_values:
        step, value = next(open_values[-1], (None, None))
        if step is None:
            open_values.pop()
            steps = steps[:-1]
            continue
        yield value, [*steps, step]
        if isinstance(value, dict | list):
            steps = [*steps, step]
            open_values.append(_members(value))


def _members(value: JsonValue) -> Iterator[tuple[str | int, JsonValue]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else iter(())


def _path(steps: list[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _first_repeated(pairs: list[tuple[str, JsonValue]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _first_difference(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _refuse(code: Code, detail: str) -> NoReturn:
    raise VerifyError(Reason(code, detail=detail))
