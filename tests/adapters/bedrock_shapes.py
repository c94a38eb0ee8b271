"""The service models of Bedrock, as botocore ships them, as the measure of test inputs."""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.loaders import Loader  # type: ignore[import-untyped]  # it ships no types
from botocore.model import (  # type: ignore[import-untyped]  # it ships no types
    ListShape,
    MapShape,
    ServiceModel,
    Shape,
    StringShape,
    StructureShape,
)

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "long": int,
    "boolean": bool,
    "double": (int, float),
    "float": (int, float),
}


@cache
def service(name: str) -> ServiceModel:
    return ServiceModel(Loader().load_service_model(name, "service-2"))


def real(name: str, shape: str, value: dict[str, Any]) -> dict[str, Any]:
    """The value, of which the service's model says that it can be. Raises AssertionError where it cannot."""
    _check(service(name).shape_for(shape), value, shape)
    return value


def real_output(name: str, operation: str, value: dict[str, Any]) -> dict[str, Any]:
    """The value, which can be what an operation answers."""
    shape = service(name).operation_model(operation).output_shape
    if shape is None:
        raise AssertionError(f"{operation} answers nothing")
    _check(shape, value, operation)
    return value


def _check(shape: Shape, value: Any, path: str) -> None:
    if isinstance(shape, StructureShape):
        _check_structure(shape, value, path)
    elif isinstance(shape, ListShape):
        _type(value, list, path)
        for position, item in enumerate(value):
            _check(shape.member, item, f"{path}[{position}]")
    elif isinstance(shape, MapShape):
        _type(value, dict, path)
        for name, item in value.items():
            _check(shape.value, item, f"{path}.{name}")
    else:
        _type(value, TYPES[shape.type_name], path)
        if isinstance(shape, StringShape) and shape.enum and value not in shape.enum:
            raise AssertionError(f"{path}: {value!r} is not one of {shape.enum}")


def _check_structure(shape: StructureShape, value: Any, path: str) -> None:
    if shape.is_document_type:
        return
    _type(value, dict, path)
    if unknown := value.keys() - shape.members.keys():
        raise AssertionError(f"{path} has no member {unknown}")
    if missing := set(shape.required_members) - value.keys():
        raise AssertionError(f"{path} must have {missing}")
    if shape.is_tagged_union and len(value) != 1:
        raise AssertionError(f"{path} is a union and has {len(value)} members")
    for name, item in value.items():
        _check(shape.members[name], item, f"{path}.{name}")


def _type(value: object, wanted: type | tuple[type, ...], path: str) -> None:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise AssertionError(f"{path} is a {type(value).__name__}")
