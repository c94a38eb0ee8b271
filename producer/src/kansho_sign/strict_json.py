"""JSON (RFC 8259) from untrusted bytes, bounded before memory is spent, never repaired."""

import json
import re
from typing import Any, NoReturn

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["SURROGATE", "decode", "parse", "syntax", "unique"]

# Possessive, and content with a missing end: one pass, however hostile the text is.
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
NOT_BRACKET = re.compile(r"[^\[\]{}]+")


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


def decode(data: bytes, limit: int, depth: int) -> str:
    """The text of at most ``limit`` bytes of JSON, nested at most ``depth`` deep.

    Raises InputError ``limits.bytes``, ``json.bom``, ``json.utf8``, ``limits.items``, ``limits.depth``.
    """
    if len(data) > limit:
        raise InputError("limits.bytes", f"{len(data)} bytes, the limit is {limit}")
    if data.startswith(b"\xef\xbb\xbf"):
        raise InputError("json.bom", "begins with a byte order mark", "byte 0", "save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("json.utf8", "not strict UTF-8", f"byte {error.start}", "save it as UTF-8") from None
    unquoted = STRING.sub("", text)
    if sum(map(unquoted.count, ",[{")) > LIMITS.json_items:
        raise InputError("limits.items", f"more than {LIMITS.json_items} members and items")
    if not _depth_within(unquoted, depth):
        raise InputError("limits.depth", f"nested deeper than {depth}")
    return text


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these members. Raises InputError ``json.duplicate_key``."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InputError("json.duplicate_key", f"the member {name[:60]!a} stands twice in one object")
            seen.add(name)
    return members


def syntax(error: json.JSONDecodeError) -> InputError:
    """The refusal of what is no JSON, with its place."""
    return InputError("json.syntax", error.msg, f"line {error.lineno}, column {error.colno}")


def _no_constant(name: str) -> NoReturn:
    raise InputError("json.syntax", f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > LIMITS.json_digits:
        raise InputError("json.integer_range", f"an integer of more than {LIMITS.json_digits} digits")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise InputError("json.number", f"a number that is too great: {digits[:30]}")
    return value


def parse(data: bytes, limit: int) -> Any:
    """JSON that other programs write: any member names, numbers of any kind.

    Raises as :func:`decode`, and InputError ``json.syntax``, ``json.duplicate_key``, ``json.integer_range``,
    ``json.number``, ``json.surrogate``.
    """
    text = decode(data, limit, LIMITS.foreign_json_depth)
    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_int=_integer, parse_float=_number, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise syntax(error) from None
    if SURROGATE_ESCAPE.search(text) and SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise InputError("json.surrogate", "a string holds a lone surrogate")
    return value
