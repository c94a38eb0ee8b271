"""Names of documents and offsets, taken from what a provider wrote: nothing here believes them."""

import re

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Hint, Reference

__all__ = ["check_role", "hint", "index", "location", "loose", "loose_index", "named", "text_of"]

# Of two characters at least: "C:" begins a path and no URI.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
LARGEST_INDEX = 2**31 - 1


def check_role(message: Node) -> None:
    """Raises InputError ``adapter.shape`` for a message that says that it is somebody else's than the model's."""
    role = message.get("role")
    if role is not None and role.string() != "assistant":
        raise role.refuse("is not the role of an answer")


def hint(start: object, end: object) -> Hint | None:
    """``[start, end)`` where both are offsets that can be; None otherwise, for a hint never decides anything."""
    if type(start) is int and type(end) is int and 0 <= start <= end:
        return Hint(start, end)
    return None


def named(by: str, node: Node | None) -> list[Reference]:
    """The reference that a member of a promised type makes; none where it is missing or empty.

    Raises InputError ``adapter.shape`` where it is no string.
    """
    return loose(by, node.string()) if node is not None else []


def index(node: Node | None) -> list[Reference]:
    """The reference by a position, counted from 0. Raises InputError ``adapter.shape`` where it can be none."""
    if node is None:
        return []
    found = loose_index(node.integer())
    if not found:
        raise node.refuse(f"must be a position from 0 to {LARGEST_INDEX}")
    return found


def loose(by: str, value: object) -> list[Reference]:
    """The reference that free metadata makes, where anything may stand; none unless it is a string with content."""
    return [Reference(by, value)] if type(value) is str and value else []


def loose_index(value: object) -> list[Reference]:
    """The reference by a position in free metadata; none unless it can be one."""
    return [Reference("index", str(value))] if type(value) is int and 0 <= value <= LARGEST_INDEX else []


def location(value: object, otherwise: str) -> list[Reference]:
    """A URI, or what stands in its place: without a scheme it is a name of the kind ``otherwise`` as well."""
    return loose("uri", value) + ([] if type(value) is str and SCHEME.match(value) else loose(otherwise, value))


def text_of(node: Node | None) -> str:
    """The text of a member, to the letter; empty where it is missing. Raises InputError ``adapter.shape``."""
    return node.string() if node is not None else ""
