"""The closed schemas of the contract, as this package ships them."""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from kansho_sign.errors import InputError

__all__ = ["validate"]


@cache
def _registry() -> "Registry[Any]":
    folder = files("kansho_sign") / "schemas"
    schemas = [json.loads(f.read_text("utf-8")) for f in folder.iterdir() if f.name.endswith(".schema.json")]
    # Without its "$schema" a resource keeps the validator that refers to it, with the stricter patterns below.
    resources = ((s["$id"], {name: s[name] for name in s if name != "$schema"}) for s in schemas)
    # A plain Registry retrieves nothing: an unknown reference is an error, never a request over the network.
    return Registry().with_resources((name, DRAFT202012.create_resource(content)) for name, content in resources)


def _pattern(
    validator: Any, pattern: str, instance: object, _schema: object
) -> Iterator[jsonschema.exceptions.ValidationError]:
    # In the regular expressions of JSON Schema (ECMA-262) "$" is the very end; Python's also matches before a last LF.
    strict = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    if validator.is_type(instance, "string") and re.search(strict, str(instance)) is None:
        yield jsonschema.exceptions.ValidationError(f"does not match {pattern}")


_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]  # its stubs give it no types
    jsonschema.Draft202012Validator, {"pattern": _pattern}
)


@cache
def _validator(name: str, pointer: str) -> Any:
    reference = f"urn:kansho:schema:{name}:v1{pointer}"
    return _Validator({"$ref": reference}, registry=_registry())


def _short(text: str, length: int = 200) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def validate(value: object, name: str, pointer: str = "") -> None:
    """Checks ``value`` against ``schemas/NAME.v1.schema.json`` (or the part at ``#/…``).

    Raises InputError ``schema.violation`` with the JSON path of the most relevant fault.
    """
    error = jsonschema.exceptions.best_match(_validator(name, pointer).iter_errors(value))
    if error is None:
        return
    shown = ascii(error.instance) if not isinstance(error.instance, (dict, list)) else type(error.instance).__name__
    match error.validator:
        case "additionalProperties" | "required":
            why = error.message
        case "enum" | "const":
            why = f"{_short(shown, 60)} is not one of the values of kansho.{name}.v1"
        case "type":
            why = f"must be of type {error.validator_value}, is {_short(shown, 60)}"
        case _:
            why = f"{_short(shown, 60)} breaks {error.validator}: {_short(str(error.validator_value), 80)}"
    raise InputError(
        "schema.violation", _short(ascii(why)[1:-1]), error.json_path, f"see schemas/{name}.v1.schema.json"
    )
