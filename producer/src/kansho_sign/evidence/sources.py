"""Local sources: the only content there is (docs/spec/evidence.md)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kansho_sign.canonical_json import JsonObject
from kansho_sign.errors import InputError
from kansho_sign.schema import validate
from kansho_sign.text import canonical_text

__all__ = ["Registry", "Source", "make_registry", "read_registry"]


@dataclass(frozen=True, slots=True)
class Source:
    """A local source; ``text`` is its canonical text. ``metadata``, name and value, is the host's and goes nowhere."""

    source_id: str
    role: str
    text: str
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)


Registry = Mapping[str, Source]
"""The sources that a subject may see, by id, and no others."""


def make_registry(sources: Iterable[Source]) -> Registry:
    """A registry of these sources, their texts brought into canonical form; ids and roles are made by the host.

    Raises InputError ``registry.duplicate`` for an id that stands twice, ``text.*`` for a text without canonical form.
    """
    made: dict[str, Source] = {}
    for source in sources:
        where = f"source {source.source_id[:80]!a}"
        if source.source_id in made:
            raise InputError("registry.duplicate", "the id stands twice", where, "give every source an id of its own")
        try:
            text = canonical_text(source.text)
        except InputError as error:
            raise error.at(where) from None
        made[source.source_id] = Source(source.source_id, source.role, text, source.metadata)
    return made


def read_registry(value: JsonObject) -> Registry:
    """A registry from ``kansho.registry.v1``. Raises as :func:`make_registry`, and ``schema.violation``."""
    validate(value, "registry")
    return make_registry(
        Source(
            item["source_id"],
            item["role"],
            item["text"],
            tuple((one["name"], one["value"]) for one in item.get("metadata", ())),
        )
        for item in value["sources"]
    )
