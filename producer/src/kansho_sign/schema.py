"""The closed schemas of the contract, as this package ships them."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
from referencing import Registry, Resource

from kansho_sign.errors import InputError

__all__ = ["validate"]


@cache
def _registry() -> "Registry[Any]":
    folder = files("kansho_sign") / "schemas"
    schemas = [json.loads(f.read_text("utf-8")) for f in folder.iterdir() if f.name.endswith(".schema.json")]
    # A plain Registry retrieves nothing: an unknown reference is an error, never a request over the network.
    return Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in schemas)


@cache
def _validator(name: str, pointer: str) -> jsonschema.Draft202012Validator:
    reference = f"urn:kansho:schema:{name}:v1{pointer}"
    return jsonschema.Draft202012Validator({"$ref": reference}, registry=_registry())


def _short(text: str, length: int = 200) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def validate(value: object, name: str, pointer: str = "") -> None:
    """Checks ``value`` against ``schemas/NAME.v1.schema.json`` (or the part at ``#/…``).

    Raises InputError ``schema.invalid`` with the JSON path of the most relevant fault.
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
    raise InputError("schema.invalid", _short(ascii(why)[1:-1]), error.json_path, f"see schemas/{name}.v1.schema.json")
