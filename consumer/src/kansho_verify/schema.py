"""The closed schemas in ``kansho_verify/schemas``: a value is valid, or the first violation is the reason.

References between the schemas are resolved when a schema is loaded, from these files and nothing else: the registry
that the validator gets is empty, so that nothing is ever fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry

from kansho_verify.canonical_json import JsonObject, JsonValue
from kansho_verify.escape import shorten, shown
from kansho_verify.leaves import Test, plain_test
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["check", "load_schema"]

_URN = "urn:kansho:schema:"
_ANNOTATIONS = frozenset({"$schema", "$id", "title", "description", "$defs"})
_PATH_CHARS = 512
_NULL = {"type": "null"}
_CHEAP = ("type", "minItems", "maxItems")
_MISMATCH = {
    "type": "is of another type than the schema allows",
    "required": "a required member is missing",
    "additionalProperties": "a member that the schema does not know",
    "const": "differs from the one value that is allowed",
    "enum": "is none of the allowed values",
    "pattern": "does not have the form that is allowed",
    "minLength": "is too short",
    "maxLength": "is too long",
    "minItems": "has too few items",
    "maxItems": "has too many items",
    "uniqueItems": "holds an item twice",
    "minimum": "is too small",
    "maximum": "is too large",
}


def check(name: str, value: JsonValue) -> None:
    """Check ``value``, made by strict reading, against the schema ``NAME.v1.schema.json``.

    Raises VerifyError (``schema.violation``) with the JSON path of the first violation.
    """
    error = next(_validator(name).iter_errors(value), None)
    if error is not None:
        raise VerifyError(_reason(error))


@cache
def load_schema(name: str) -> JsonObject:
    """The schema document ``NAME.v1.schema.json`` as it lies in the package."""
    text = resources.files("kansho_verify").joinpath("schemas").joinpath(f"{name}.v1.schema.json").read_text("utf-8")
    document: JsonObject = json.loads(text)
    return document


@cache
def _validator(name: str) -> Any:
    return _Validator(_expanded(name), registry=Registry())


@cache
def _expanded(name: str) -> Any:
    """The schema without references; cached for good, for :data:`_tests` knows its parts by identity."""
    return _expand(load_schema(name), name)


def _expand(node: Any, home: str) -> Any:
    """``node`` of the schema ``home`` with every reference replaced by what it refers to (the schemas have no cycle).

    ``anyOf: [S, null]`` becomes ``if not null then S``: the same meaning, but the first violation inside S is found,
    and found without collecting all of them. The length of a list is looked at before its items. A pattern's last
    ``$`` becomes ``\\Z``: the schemas mean the end of the string, and Python's ``$`` lets a line feed follow.
    """
    if isinstance(node, list):
        return [_expand(item, home) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _expand(*_resolve(node["$ref"], home))
    options = node.get("anyOf")
    if options is not None and options[1:] == [_NULL]:
        return {"if": _NULL, "else": _expand(options[0], home)}
    keys = [key for key in _CHEAP if key in node] + [key for key in node if key not in _CHEAP]
    return {key: _expand_member(key, node[key], home) for key in keys if key not in _ANNOTATIONS}


def _expand_member(key: str, item: Any, home: str) -> Any:
    if key in ("const", "enum", "required"):
        return item
    if key == "properties":
        return {name: _expand(member, home) for name, member in item.items()}
    if key == "pattern" and item.endswith("$"):
        return item[:-1] + r"\Z"
    return _expand(item, home)


def _resolve(reference: str, home: str) -> tuple[Any, str]:
    urn, _, pointer = reference.partition("#")
    if urn:
        home = urn.removeprefix(_URN).partition(":")[0]
    node: Any = load_schema(home)
    for step in pointer.split("/")[1:]:
        node = node[step]
    return node, home


def _reason(error: Any) -> Reason:
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    keyword = str(error.validator)
    detail = _MISMATCH.get(keyword, "is not allowed here")
    found = None
    if keyword == "required":
        absent = [name for name in error.validator_value if name not in error.instance]
        detail = f"the member {absent[0]} is missing"
    elif keyword == "additionalProperties":
        known = error.schema.get("properties", {})
        surplus = [name for name in error.instance if name not in known]
        detail = f"the member {shown(surplus[0], 64)} is not known here"
    elif isinstance(error.instance, str):
        found = shown(error.instance, 48)
    elif isinstance(error.instance, bool | int):
        found = str(error.instance)
    return Reason(Code.SCHEMA_VIOLATION, shorten(path, _PATH_CHARS), detail, found=found)


class _Tests(dict[int, Test | None]):
    """The plain test of each subschema, by identity: the schemas live as long as the program."""

    def of(self, schema: Any) -> Test | None:
        """The test of a schema, made when it is first asked for."""
        name = id(schema)
        if name not in self:
            self[name] = plain_test(schema)
        return self[name]


_tests = _Tests()


def _properties(validator: Any, properties: JsonObject, instance: Any, _schema: JsonObject) -> Iterator[Any]:
    if type(instance) is not dict:
        return
    for name, subschema in properties.items():
        if name in instance:
            value, test = instance[name], _tests.of(subschema)
            if test is None or not test(value):
                yield from validator.descend(value, subschema, path=name, schema_path=name)


def _items(validator: Any, items: Any, instance: Any, _schema: JsonObject) -> Iterator[Any]:
    if type(instance) is not list:
        return
    test = _tests.of(items)
    for index, value in enumerate(instance):
        if test is None or not test(value):
            yield from validator.descend(value, items, path=index)


_Validator: Any = extend(  # type: ignore[no-untyped-call]  # its stubs give it no types
    Draft202012Validator, {"properties": _properties, "items": _items}
)
