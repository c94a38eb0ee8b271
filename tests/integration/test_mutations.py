"""Whatever is changed in a bundle, it is no longer accepted; nothing but the self-hash may differ."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from kansho_sign.canonical_json import dumps, sha256_hex
from kansho_verify import to_document
from tests.support.cases import FOLDER, verify_case

CASES: dict[str, dict[str, Any]] = {
    case["name"]: case for case in json.loads((FOLDER / "bundles" / "cases.json").read_bytes())["cases"]
}
REFUSED = {3, 4, 5}
Path = tuple[str | int, ...]


def bundle_of(name: str) -> dict[str, Any]:
    bundle: dict[str, Any] = json.loads((FOLDER / "bundles" / CASES[name]["bundle"]).read_bytes())
    return bundle


def nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from nodes(child, (*path, name))


def other_values(value: Any) -> list[Any]:
    """Values of the same and of other types, each different from ``value``."""
    if value is None:
        return ["x", 0, False]
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, str(value), None]
    if isinstance(value, str):
        flipped = ("0" if value[-1:] != "0" else "1") if value else "a"
        return [value[:-1] + flipped, value + "a", value[:-1] or "b", value + "\n", value.upper() + "A", None, 7]
    return [None, "x"]


def changed(bundle: dict[str, Any], path: Path, change: Any) -> dict[str, Any]:
    made = copy.deepcopy(bundle)
    parent: Any = made
    for name in path[:-1]:
        parent = parent[name]
    change(parent, path[-1])
    return made


def forms(bundle: dict[str, Any]) -> Iterator[bytes]:
    """As an accident leaves it, and as a forger hands it out: with the self-hash made anew."""
    yield dumps(bundle)
    bare = {name: value for name, value in bundle.items() if name != "bundle_sha256"}
    yield dumps({**bare, "bundle_sha256": sha256_hex(bare)})


def single_changes(bundle: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, value in nodes(bundle):
        if not path or path == ("bundle_sha256",):
            continue
        where = ".".join(map(str, path))

        def replaced(new: Any) -> Any:
            def change(parent: Any, name: Any) -> None:
                parent[name] = new

            return change

        def removed(parent: Any, name: Any) -> None:
            del parent[name]

        def doubled(parent: Any, name: Any) -> None:
            parent.insert(name, copy.deepcopy(parent[name]))

        for new in other_values(value):
            yield f"{where} = {new!r}"[:80], changed(bundle, path, replaced(new))
        yield f"{where} removed", changed(bundle, path, removed)
        if isinstance(path[-1], int):
            yield f"{where} doubled", changed(bundle, path, doubled)
        if isinstance(value, dict):
            yield f"{where} with one more", changed(bundle, path, replaced({**value, "surplus": 1}))
        if isinstance(value, list):
            yield f"{where} with one more", changed(bundle, path, replaced([*value, "surplus"]))
            yield f"{where} with a number more", changed(bundle, path, replaced([*value, 1]))
            if len(value) > 1:
                yield f"{where} reversed", changed(bundle, path, replaced(value[::-1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asked", "annotated"])
def test_no_single_change_is_accepted(name: str) -> None:
    bundle = bundle_of(name)
    accepted = []
    count = 0
    for what, made in single_changes(bundle):
        for data in forms(made):
            count += 1
            if verify_case(CASES[name], data).exit_code not in REFUSED:
                accepted.append(what)
    assert accepted == []
    assert count > 1_000


@pytest.mark.parametrize("name", ["asked", "attested", "projection"])
def test_a_member_written_twice_is_refused(name: str) -> None:
    data = (FOLDER / "bundles" / CASES[name]["bundle"]).read_text("utf-8")
    for member in ('"media_type":', '"public":', '"claims":', '"text":', '"signatures":'):
        at = data.index(member)
        doubled = data[:at] + member + "0," + data[at:]
        assert verify_case(CASES[name], doubled.encode()).exit_code in REFUSED


@pytest.mark.parametrize("name", ["asked", "attested", "insufficient", "claim-word-changed", "unsigned-word-changed"])
@pytest.mark.parametrize("value", ["0" * 64, "f" * 64])
def test_the_self_hash_alone_changes_no_verdict_and_is_reported(name: str, value: str) -> None:
    bundle = bundle_of(name)
    before = to_document(verify_case(CASES[name]))
    after = to_document(verify_case(CASES[name], dumps({**bundle, "bundle_sha256": value})))
    assert before["artifact"]["self_hash"] == "match"
    assert after["artifact"]["self_hash"] == "mismatch"
    for document in (before, after):
        del document["artifact"]
    assert after == before


@pytest.mark.parametrize("name", ["asked", "projection"])
def test_every_truncation_and_a_byte_more_is_refused(name: str) -> None:
    data = (FOLDER / "bundles" / CASES[name]["bundle"]).read_bytes()
    ends = [*range(0, len(data), 97), len(data) - 1]
    assert {verify_case(CASES[name], data[:end]).exit_code for end in ends} == {3}
    assert {verify_case(CASES[name], data + more).exit_code for more in (b"\n", b" ", b"\x00", b"{}")} == {3}
