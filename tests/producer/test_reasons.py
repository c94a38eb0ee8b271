"""Every reason code of the producer is documented, and nothing else is (docs/spec/reasons-producer.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kansho_sign.errors import FaultError, InputError, KanshoError, StateError, UsageError
from tests import ROOT

SOURCE = ROOT / "producer" / "src" / "kansho_sign"
PAGE = ROOT / "docs" / "spec" / "reasons-producer.md"
ERRORS = {
    "InputError": InputError.exit_code,
    "UsageError": UsageError.exit_code,
    "StateError": StateError.exit_code,
    "FaultError": FaultError.exit_code,
    "SelfCheckError": FaultError.exit_code,
    "EvidenceRejectedError": InputError.exit_code,
}
CODE = re.compile(r"[a-z]+\.[a-z][a-z0-9_]*")
FILE_NAMES = (".json", ".jsonl", ".toml", ".md", ".sqlite3", ".v1", ".html")
ROW = re.compile(r"\| `(?P<code>[^`]+)` \| (?P<exit>[0-9]+) \| (?P<meaning>[^|]+) \| (?P<action>[^|]+) \|")


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def raised() -> dict[str, set[int]]:
    """Codes that stand as the first argument of an error, with the exit codes that go with them."""
    found: dict[str, set[int]] = {}
    for _, module in modules():
        for node in ast.walk(module):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            exit_code = InputError.exit_code if name == "_refuse" else ERRORS.get(name)
            if exit_code is not None and isinstance(node.args[0].value, str):
                found.setdefault(node.args[0].value, set()).add(exit_code)
    return found


def collected() -> set[str]:
    """Those, and every string of their form in an area that they know: a code may be chosen before it is raised."""
    known = raised()
    areas = {code.split(".")[0] for code in known}
    strings = {
        node.value
        for _, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {
        one for one in strings if CODE.fullmatch(one) and one.split(".")[0] in areas and not one.endswith(FILE_NAMES)
    } | known.keys()


@pytest.fixture
def documented() -> dict[str, int]:
    rows = [row for line in PAGE.read_text("utf-8").splitlines() if (row := ROW.fullmatch(line))]
    table = {row["code"]: int(row["exit"]) for row in rows}
    assert len(table) == len(rows), "a code stands twice"
    assert list(table) == sorted(table)
    assert all(row["meaning"].strip().endswith(".") and row["action"].strip().endswith(".") for row in rows)
    return table


def test_every_code_is_documented_and_no_other(documented: dict[str, int]) -> None:
    assert collected() == documented.keys()
    assert len(documented) > 50


def test_the_exit_is_that_of_the_error(documented: dict[str, int]) -> None:
    for code, exits in raised().items():
        assert documented[code] in exits, code
    several = {code for code, exits in raised().items() if len(exits) > 1}
    assert several == set()


def test_codes_have_one_form() -> None:
    for code in collected():
        assert CODE.fullmatch(code), code


def test_every_code_of_the_page_is_tested_somewhere(documented: dict[str, int]) -> None:
    """A code that no test names may be one that nothing gives."""
    tests = "".join(
        path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__).resolve()
    )
    assert {code for code in documented if f'"{code}"' not in tests} <= {"demo.verifier"}


def test_errors() -> None:
    error = InputError("a.b", "why", "where", "hint")
    assert str(error) == "where: why [a.b]"
    assert str(UsageError("a.b", "why")) == "why [a.b]"
    placed = error.at("file")
    assert (type(placed), placed.where, placed.hint) == (InputError, "file: where", "hint")
    assert StateError("a.b", "why").at("file").where == "file"
    exits = {one.__name__: one.exit_code for one in (InputError, UsageError, StateError, FaultError)}
    assert exits == {"InputError": 3, "UsageError": 2, "StateError": 4, "FaultError": 70}
    assert all(issubclass(one, KanshoError) for one in (InputError, UsageError, StateError, FaultError))
