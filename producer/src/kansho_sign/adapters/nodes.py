"""Walking through JSON that providers write, so that every refusal says where it is not what its format has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kansho_sign.errors import InputError

__all__ = ["Node"]

NAMES = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "an array", dict: "an object"}


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON text, and its JSON path. Its methods raise InputError ``adapter.shape``."""

    value: Any
    path: str = "$"

    def refuse(self, why: str, hint: str = "") -> InputError:
        """The refusal of this value, to be raised."""
        return InputError("adapter.shape", why, self.path, hint)

    def get(self, *names: str) -> "Node | None":
        """The first of these members of an object that is there and not null; None without one."""
        members = self.members()
        for name in names:
            if members.get(name) is not None:
                return Node(members[name], f"{self.path}.{name}")
        return None

    def need(self, *names: str) -> "Node":
        """As :meth:`get`, for a member that must be there."""
        found = self.get(*names)
        if found is None:
            raise self.refuse(f"has no member {' or '.join(names)}")
        return found

    def members(self) -> dict[str, Any]:
        """The members of an object."""
        if type(self.value) is not dict:
            raise self._other("an object")
        return self.value

    def items(self) -> "Iterator[Node]":
        """The items of an array."""
        if type(self.value) is not list:
            raise self._other("an array")
        return (Node(item, f"{self.path}[{position}]") for position, item in enumerate(self.value))

    def string(self) -> str:
        """A string."""
        if type(self.value) is not str:
            raise self._other("a string")
        return self.value

    def integer(self) -> int:
        """An integer; ``3.0`` and ``true`` are none."""
        if type(self.value) is not int:
            raise self._other("an integer")
        return self.value

    def _other(self, wanted: str) -> InputError:
        return self.refuse(f"must be {wanted}, not {NAMES.get(type(self.value), 'null')}")
