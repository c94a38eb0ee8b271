"""Arbitrary damage to the bytes of every file: a verdict, never an exception, never accepted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kansho_verify import Expectations, schema, to_document, verify
from tests.support.forge import ALL_SOURCES, NOW, QUESTION, REFUND, Forge, covering

RANKED = Forge()
WITH_ARTIFACT = Forge(
    excerpts=[(REFUND.document, "five business")], policy=covering(ALL_SOURCES, "faq.txt", REFUND.document)
)
NAMES = ("data", "trust_root", "generation", "live")


def given_with(forge: Forge) -> dict[str, bytes]:
    values = (forge.bundle_bytes, forge.trust_root_bytes, forge.generation_bytes, forge.live_bytes)
    return dict(zip(NAMES, values, strict=True))


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


@pytest.mark.parametrize(("forge", "name"), [*((RANKED, name) for name in NAMES), (WITH_ARTIFACT, "data")])
@settings(max_examples=150)
@given(damage=DAMAGE)
def test_damage_is_never_accepted(forge: Forge, name: str, damage: list[tuple[float, str, bytes]]) -> None:
    whole = given_with(forge)
    changed = damaged(whole[name], damage)
    if changed == whole[name]:
        return
    arguments: dict[str, Any] = whole | {name: changed}
    verdict = verify(
        arguments.pop("data"), expected=Expectations(question=QUESTION), now=NOW, sources=forge.sources, **arguments
    )
    # A changed self-hash decides nothing; whatever else changed must not be accepted.
    assert verdict.exit_code in (3, 4, 5) or (name == "data" and verdict.self_hash == "mismatch")
    schema.check("check", to_document(verdict))


@given(st.binary(max_size=200))
def test_any_bytes_are_no_bundle(data: bytes) -> None:
    verdict = verify(data, trust_root=data, expected=Expectations(), now=NOW, generation=data, live=data, sources={})
    assert verdict.exit_code == 3
    schema.check("check", to_document(verdict))
