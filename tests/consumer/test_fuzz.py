"""Arbitrary damage to the bytes of every file: a verdict, never an exception, never accepted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kansho_verify import Expectations, schema, to_document, verify
from tests.support.forge import NOW, QUESTION, Forge

FORGE = Forge()
GIVEN: dict[str, bytes] = {
    "data": FORGE.bundle_bytes,
    "trust_root": FORGE.trust_root_bytes,
    "generation": FORGE.generation_bytes,
    "live": FORGE.live_bytes,
}
DAMAGE = st.lists(
    st.tuples(st.floats(0, 0.999), st.sampled_from(["replace", "insert", "cut", "copy"]), st.binary(max_size=4)),
    min_size=1,
    max_size=3,
)


def damaged(data: bytes, damage: list[tuple[float, str, bytes]]) -> bytes:
    for place, kind, piece in damage:
        at = int(place * len(data))
        match kind:
            case "replace":
                data = data[:at] + piece + data[at + len(piece) :]
            case "insert":
                data = data[:at] + piece + data[at:]
            case "cut":
                data = data[:at] + data[at + 1 + len(piece) :]
            case _:
                data = data[:at] + data[at // 2 :]
    return data


@pytest.mark.parametrize("name", GIVEN)
@settings(max_examples=150)
@given(damage=DAMAGE)
def test_damage_is_never_accepted(name: str, damage: list[tuple[float, str, bytes]]) -> None:
    changed = damaged(GIVEN[name], damage)
    if changed == GIVEN[name]:
        return
    arguments: dict[str, Any] = GIVEN | {name: changed}
    verdict = verify(
        arguments.pop("data"), expected=Expectations(question=QUESTION), now=NOW, sources=FORGE.sources, **arguments
    )
    # A changed self-hash decides nothing; whatever else changed must not be accepted.
    assert verdict.exit_code in (3, 4, 5) or (name == "data" and verdict.self_hash == "mismatch")
    schema.check("check", to_document(verdict))


@given(st.binary(max_size=200))
def test_any_bytes_are_no_bundle(data: bytes) -> None:
    verdict = verify(data, trust_root=data, expected=Expectations(), now=NOW, generation=data, live=data, sources={})
    assert verdict.exit_code == 3
    schema.check("check", to_document(verdict))
