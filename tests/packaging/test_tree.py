"""The tree as it is committed: what must be in it, what must not, and that its parts agree."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT

LOCK = ROOT / "requirements-dev.lock"
PRIVATE_KEY = re.compile(rb"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY")
ORIGIN = re.compile(r"^-|://|\bfile:|--(?:extra-)?index|--find-links|--trusted-host| @ ", re.MULTILINE)
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__"}


@pytest.mark.parametrize(
    "item",
    [
        "pyproject.toml",
        "producer/",
        "consumer/",
        "schemas/",
        "keys/",
        "tests/",
        "README.md",
        "Makefile",
        "docs/spec/",
        ".ci/run",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ],
)
def test_is_there(item: str) -> None:
    path = ROOT / item
    assert path.is_dir() if item.endswith("/") else path.is_file()


def test_ci_is_executable() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("name", ["LICENSE", "hatch_build.py"])
def test_files_that_stand_in_both_packages_are_equal(name: str) -> None:
    assert (ROOT / "producer" / name).read_bytes() == (ROOT / "consumer" / name).read_bytes()


def test_packages_carry_the_projects_licence() -> None:
    assert (ROOT / "producer" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("mirror", ["producer/src/kansho_sign/schemas", "consumer/src/kansho_verify/schemas"])
def test_mirrors_are_current(mirror: str) -> None:
    assert contents(ROOT / mirror) == contents(ROOT / "schemas"), "stale mirror: run `make venv`"


@pytest.mark.parametrize(
    ("source", "other"),
    [("producer/src/kansho_sign", "kansho_verify"), ("consumer/src/kansho_verify", "kansho_sign")],
)
def test_neither_package_names_the_other(source: str, other: str) -> None:
    modules = sorted((ROOT / source).rglob("*.py"))
    assert modules
    offenders = [
        f"{module.relative_to(ROOT)}:{line}"
        for module in modules
        for name, line in imported(ast.parse(module.read_bytes()))
        if name.split(".")[0] == other
    ]
    assert offenders == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import a.b as c, d", ["a.b", "d"]),
        ("def f():\n    from a.b import c", ["a.b"]),
        ("from . import a", []),
        ("__import__('a.b')", ["a.b"]),
        ("importlib.import_module('a')", ["a"]),
    ],
)
def test_imports_are_found_in_every_form(code: str, names: list[str]) -> None:
    assert [name for name, _ in imported(ast.parse(code))] == names


def test_lock_pins_by_hash_and_names_no_origin() -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert ORIGIN.findall(text) == []
    requirements = [block for block in re.split(r"\n(?=[A-Za-z0-9])", text) if not block.startswith("#")]
    assert requirements
    assert [block.split("\n")[0] for block in requirements if "--hash=sha256:" not in block] == []


def test_lock_meets_every_requirement() -> None:
    text = LOCK.read_text(encoding="utf-8")
    pins = {canonicalize_name(name): version for name, version in PIN.findall(text)}
    requirements = list(all_requirements())
    assert requirements
    unmet = [
        str(wanted)
        for wanted in requirements
        if not wanted.specifier.contains(pins.get(canonicalize_name(wanted.name), "0"), prereleases=True)
    ]
    assert unmet == [], "stale lock: run `make lock`"


def test_no_private_key_outside_tests() -> None:
    holders = [path for path in tree_files() if PRIVATE_KEY.search(path.read_bytes())]
    assert holders == []


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Give the absolute names that a module imports, by statement or by call, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from ((alias.name, node.lineno) for alias in aliases)
            case ast.ImportFrom(module=str(name), level=0):
                yield name, node.lineno
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module" | "files"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name, node.lineno
            case _:
                pass


def all_requirements() -> Iterator[Requirement]:
    root, *packages = (load(path) for path in ("pyproject.toml", "producer/pyproject.toml", "consumer/pyproject.toml"))
    yield from map(Requirement, root["dependency-groups"]["dev"])
    for package in packages:
        yield from map(Requirement, package["project"]["dependencies"])
        yield from map(Requirement, package["build-system"]["requires"])


def load(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def tree_files() -> Iterator[Path]:
    """Give the files outside tests/ that are, or could be, committed; all of them where there is no git."""
    if (ROOT / ".git").exists():
        listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        git = ["git", "-c", f"safe.directory={ROOT}", *listing]
        names = subprocess.run(git, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
        candidates = [ROOT / os.fsdecode(name) for name in names if name]
    else:
        candidates = [path for path in ROOT.rglob("*") if not NOT_OURS & set(path.relative_to(ROOT).parts)]
    for path in candidates:
        if path.is_file() and path.relative_to(ROOT).parts[0] != "tests":
            yield path
