"""Every leaf, member and item of a valid bundle, changed in every simple way: never accepted, never an exception.

After each change the bundle is canonical again and its self-hash right, but nothing is signed again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kansho_verify import Expectations, verify
from tests.support.forge import NOW, QUESTION, REFUND, Forge, canonical, seal_self_hash

FORGES = {
    "ranked": Forge(),
    "evidence": Forge(excerpts=[(REFUND.document, "days.\n\n> Gift"), (REFUND.document, "\n\n> ")]),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below the top."""
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


def others(value: Any) -> list[Any]:
    """Other values to put in the place of one."""
    if isinstance(value, bool):
        return [not value, None, 1 if value else 0]
    if isinstance(value, int):
        return [value + 1, value - 1, -value or 1, str(value), None]
    if isinstance(value, str):
        flipped = chr(ord(value[0]) ^ 1) + value[1:] if value else "x"
        return [flipped, value + "0", value[:-1], value.upper() + " ", None, 0, [value]]
    if value is None:
        return [0, "", False, {}, []]
    return [None, [], {}, "", [value]]


def mutants(bundle: Any) -> Iterator[tuple[str, Any]]:
    """Bundles that differ from this one in one place."""
    for path in places(bundle):
        if path[-1] != "bundle_sha256":
            yield from _mutants_at(bundle, path)


def _mutants_at(bundle: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    *above, last = path
    parent = bundle
    for step in above:
        parent = parent[step]
    for number, other in enumerate(others(parent[last])):
        yield f"{path} {number}", _edited(bundle, above, lambda node, other=other: node.__setitem__(last, other))
    yield f"{path} removed", _edited(bundle, above, lambda node: node.__delitem__(last))
    if isinstance(parent, list):
        yield f"{path} doubled", _edited(bundle, above, lambda node: node.insert(last, copy.deepcopy(node[last])))
        if len(parent) > 1:
            yield f"{path} swapped", _edited(bundle, above, lambda node: node.append(node.pop(last)))
    else:
        yield f"{path} beside", _edited(bundle, above, lambda node: node.__setitem__("added", node[last]))


def _edited(bundle: Any, above: list[Any], edit: Any) -> Any:
    made = copy.deepcopy(bundle)
    node = made
    for step in above:
        node = node[step]
    edit(node)
    return made


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("name", FORGES)
def test_no_changed_bundle_is_accepted(name: str, part: int) -> None:
    forge = FORGES[name]
    given: dict[str, Any] = {
        "trust_root": forge.trust_root_bytes,
        "expected": Expectations(question=QUESTION),
        "now": NOW,
        "generation": forge.generation_bytes,
        "live": forge.live_bytes,
        "sources": forge.sources,
    }
    assert verify(forge.bundle_bytes, **given).exit_code == 0
    count = 0
    for i, (place, mutant) in enumerate(mutants(forge.bundle)):
        if i % 8 != part or mutant == forge.bundle:
            continue
        count += 1
        data = canonical(seal_self_hash(mutant))
        assert verify(data, **given).exit_code in (3, 4, 5), place
    assert count > 100


def test_the_self_hash_changes_no_verdict() -> None:
    forge = FORGES["ranked"]
    broken = canonical({**forge.bundle, "bundle_sha256": "0" * 64})
    verdict = verify(
        broken,
        trust_root=forge.trust_root_bytes,
        expected=Expectations(question=QUESTION),
        now=NOW,
        live=forge.live_bytes,
        sources=forge.sources,
    )
    assert verdict.exit_code == 0
    assert verdict.self_hash == "mismatch"


@pytest.mark.parametrize("name", ["trust_root", "generation", "live"])
def test_no_changed_file_of_ones_own_is_accepted(name: str) -> None:
    forge = FORGES["ranked"]
    given: dict[str, Any] = {
        "trust_root": forge.trust_root_bytes,
        "generation": forge.generation_bytes,
        "live": forge.live_bytes,
    }
    for place, mutant in mutants(getattr(forge, name)):
        if mutant == getattr(forge, name):
            continue
        changed = given | {name: canonical(mutant)}
        verdict = verify(
            forge.bundle_bytes, expected=Expectations(question=QUESTION), now=NOW, sources=forge.sources, **changed
        )
        assert verdict.exit_code in (3, 4, 5), place
