"""A short cut for the schema check: scalars that plainly satisfy their schema need not be walked by the validator.

Only a plain yes counts here. Whatever a test does not say yes to goes to the validator, which decides and words the
reason. So a mistake here that says no costs time; the tests compare every yes with the validator.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from kansho_verify.canonical_json import JsonObject

__all__ = ["Test", "plain_test"]

Test: TypeAlias = Callable[[Any], bool]
"""True for a value that satisfies the schema for certain."""

_STRING = frozenset({"type", "minLength", "maxLength", "pattern"})
_INTEGER = frozenset({"type", "minimum", "maximum"})


def plain_test(schema: Any) -> Test | None:
    """A test for a schema of strings, integers or booleans, or of one of several strings; None for any other."""
    if not isinstance(schema, dict):
        return None
    keys = schema.keys()
    if schema.get("type") == "string" and keys <= _STRING:
        return _string_test(schema)
    if schema.get("type") == "integer" and keys == _INTEGER:
        low, high = schema["minimum"], schema["maximum"]
        return lambda value: type(value) is int and low <= value <= high
    if schema == {"type": "boolean"}:
        return lambda value: type(value) is bool
    if keys in ({"enum"}, {"const"}):
        allowed = schema.get("enum", [schema.get("const")])
        if all(type(value) is str for value in allowed):
            names = frozenset(allowed)
            return lambda value: type(value) is str and value in names
    return None


def _string_test(schema: JsonObject) -> Test:
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if high is None:
        return lambda _: False
    if "pattern" not in schema:
        return lambda value: type(value) is str and low <= len(value) <= high
    search = re.compile(schema["pattern"]).search
    return lambda value: type(value) is str and low <= len(value) <= high and search(value) is not None
