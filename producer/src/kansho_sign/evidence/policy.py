"""What may be cited, how strictly, and what the artifact holds (docs/spec/evidence.md, Policy)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from kansho_sign.canonical_json import JsonObject
from kansho_sign.errors import InputError
from kansho_sign.evidence.sources import Registry
from kansho_sign.schema import validate

__all__ = ["Boundary", "Coverage", "Policy"]


class Boundary(StrEnum):
    """Whether the edges of an excerpt may cut a number or a character."""

    SAFE = "safe"
    ANY = "any"


class Coverage(StrEnum):
    """What an artifact materialises."""

    ALL_SELECTED_SOURCES = "all_selected_sources"
    SELECTED_EVIDENCE = "selected_evidence"


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy, every member explicit; making one raises InputError ``schema.violation`` for what its schema forbids.

    ``selected_ids`` is the order of materialisation, ``source_order`` one of encounter; both None without coverage.
    """

    allowed_roles: tuple[str, ...]
    coverage: Coverage | None
    selected_ids: tuple[str, ...] | None
    source_order: tuple[str, ...] | None
    include_unverified_annotations: bool
    excerpt_boundary: Boundary

    def __post_init__(self) -> None:
        """Holds a policy that a program made to the same rules as one from a file."""
        validate(self.to_json(), "policy")
        # What the schema allows as a string must decide as the enum does, never pass beside it.
        object.__setattr__(self, "excerpt_boundary", Boundary(self.excerpt_boundary))
        if self.coverage is not None:
            object.__setattr__(self, "coverage", Coverage(self.coverage))

    @classmethod
    def from_json(cls, value: JsonObject) -> "Policy":
        """From ``kansho.policy.v1``."""
        validate(value, "policy")
        selected, order, coverage = value["selected_ids"], value["source_order"], value["coverage"]
        return cls(
            tuple(value["allowed_roles"]),
            None if coverage is None else Coverage(coverage),
            None if selected is None else tuple(selected),
            None if order is None else tuple(order),
            value["include_unverified_annotations"],
            Boundary(value["excerpt_boundary"]),
        )

    def to_json(self) -> JsonObject:
        """As ``kansho.policy.v1``."""
        return {
            "schema": "kansho.policy.v1",
            "allowed_roles": list(self.allowed_roles),
            "coverage": None if self.coverage is None else str(self.coverage),
            "selected_ids": None if self.selected_ids is None else list(self.selected_ids),
            "source_order": None if self.source_order is None else list(self.source_order),
            "include_unverified_annotations": self.include_unverified_annotations,
            "excerpt_boundary": str(self.excerpt_boundary),
        }

    def check_selection(self, registry: Registry) -> None:
        """Whether what is selected can be materialised, whole and in order.

        Raises InputError ``policy.selected_duplicate``, ``policy.selected_unknown``, ``policy.selected_role``,
        ``policy.selected_empty``, ``policy.order_duplicate``, ``policy.order_unknown``, ``policy.order_incomplete``.
        """
        selected, order = self.selected_ids or (), self.source_order
        _check_unique(selected, "selected_ids", "policy.selected_duplicate")
        for position, source_id in enumerate(selected):
            where = f"$.selected_ids[{position}]"
            source = registry.get(source_id)
            if source is None:
                _refuse("policy.selected_unknown", source_id, "the reader sees no source of this id", where)
            if source.role not in self.allowed_roles:
                _refuse("policy.selected_role", source_id, "its role is not allowed", where)
            if self.coverage is Coverage.ALL_SELECTED_SOURCES and not source.text:
                _refuse("policy.selected_empty", source_id, "there is nothing in it to materialise", where)
        if order is None:
            return
        _check_unique(order, "source_order", "policy.order_duplicate")
        for position, source_id in enumerate(order):
            if source_id not in registry:
                where = f"$.source_order[{position}]"
                _refuse("policy.order_unknown", source_id, "the reader sees no source of this id", where)
        ordered = frozenset(order)
        left_out = next((source_id for source_id in selected if source_id not in ordered), None)
        if left_out is not None:
            _refuse("policy.order_incomplete", left_out, "it is selected, but not in the order", "$.source_order")


def _check_unique(ids: Iterable[str], member: str, code: str) -> None:
    seen: set[str] = set()
    for position, source_id in enumerate(ids):
        if source_id in seen:
            _refuse(code, source_id, "it stands twice", f"$.{member}[{position}]")
        seen.add(source_id)


def _refuse(code: str, source_id: str, why: str, where: str) -> NoReturn:
    raise InputError(code, f"{source_id[:80]!a}: {why}", where, "mend the policy: nothing is left out in silence")
