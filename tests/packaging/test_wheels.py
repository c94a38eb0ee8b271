"""What is built and installed: the schemas are in every form, and neither package needs or holds the other.

Nothing here uses a network, and nothing touches the tree: builds run on a copy. A fresh environment gets the
wheel under test and, copied file by file from this environment, exactly what that wheel declares that it
needs; ``pip check`` then confirms that nothing is missing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT

pytestmark = pytest.mark.slow

SCHEMAS = {
    path.relative_to(ROOT / "schemas").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
    for path in (ROOT / "schemas").rglob("*")
    if path.is_file()
}

READ_SCHEMAS = """
import hashlib, importlib.resources, json, sys
def walk(folder, prefix=""):
    for item in folder.iterdir():
        if item.is_dir():
            yield from walk(item, f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, hashlib.sha256(item.read_bytes()).hexdigest()
print(json.dumps(dict(walk(importlib.resources.files(sys.argv[1]) / "schemas"))))
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One of the two packages, by its names, and what must not be there when it is installed alone."""

    folder: str
    distribution: str
    package: str
    command: str
    absent: tuple[str, ...]


PRODUCER = Side("producer", "kansho-sign", "kansho_sign", "kansho-sign", ("kansho_verify",))
CONSUMER = Side(
    "consumer",
    "kansho-verify",
    "kansho_verify",
    "kansho-verify",
    ("kansho_sign", "markdown_it", "sqlalchemy"),
)
both_sides = pytest.mark.parametrize("side", [PRODUCER, CONSUMER], ids=lambda side: side.folder)


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment of a test's own."""

    folder: Path

    @property
    def python(self) -> Path:
        return Path(sysconfig.get_path("scripts", "venv", self._variables)) / Path(sys.executable).name

    @property
    def packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", self._variables))

    @property
    def _variables(self) -> dict[str, str]:
        return {"base": str(self.folder), "platbase": str(self.folder)}

    def run_python(self, *arguments: str) -> str:
        return run(self.python, "-I", *arguments)

    def pip(self, *arguments: str) -> str:
        return run(sys.executable, "-m", "pip", "--python", self.python, *arguments)

    def holds(self, module: str) -> bool:
        code = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]) is not None)"
        return self.run_python("-c", code, module).strip() == "True"


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command in Python's plain mode, without pip's settings and without an index; give its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    environment |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(map(str, command))} exits {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def copy_tree(target: Path, side: Side) -> Path:
    """Copy what a build needs, without the mirror of the schemas; give the package's folder."""
    shutil.copytree(ROOT / side.folder, target / side.folder, ignore=shutil.ignore_patterns("__pycache__", "schemas"))
    shutil.copytree(ROOT / "schemas", target / "schemas")
    return target / side.folder


def build(folder: Path, target: Path) -> tuple[Path, Path]:
    """Build an sdist, and a wheel from that sdist."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, folder)
    (sdist,) = target.glob("*.tar.gz")
    (wheel,) = target.glob("*.whl")
    return sdist, wheel


def fresh_environment(folder: Path, requirements: Iterable[str]) -> Environment:
    """Make an environment with the distributions required, all that these require, and no others."""
    venv.create(folder, symlinks=True, with_pip=False)
    environment = Environment(folder)
    for distribution in closure(requirements):
        for file in distribution.files or ():
            if ".." in file.parts or "__pycache__" in file.parts:  # scripts and caches
                continue
            target = environment.packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(distribution.locate_file(file)), target)
    return environment


def closure(requirements: Iterable[str]) -> list[metadata.Distribution]:
    """Give the installed distributions that the requirements lead to."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = metadata.distribution(name)
        waiting += [Requirement(text) for text in found[name].requires or ()]
    return list(found.values())


def declared(wheel: Path) -> list[str]:
    """Give what a wheel's metadata says that it requires."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = {entry.split("/")[0] for entry in archive.namelist() if ".dist-info/" in entry}
        return metadata.PathDistribution(zipfile.Path(archive, f"{name}/")).requires or []


def schemas_below(names: Iterable[str], prefix: str) -> set[str]:
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix) and not name.endswith("/")}


@both_sides
def test_installed_alone(side: Side, tmp_path: Path) -> None:
    sdist, wheel = build(copy_tree(tmp_path, side), tmp_path / "dist")

    with tarfile.open(sdist) as archive:
        members = [member.name for member in archive.getmembers() if member.isfile()]
    root = sdist.name.removesuffix(".tar.gz")
    assert schemas_below(members, f"{root}/src/{side.package}/schemas/") == set(SCHEMAS)
    expected = ("LICENSE", "PKG-INFO", "README.md", "hatch_build.py")
    assert [name for name in expected if f"{root}/{name}" not in members] == []

    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert schemas_below(names, f"{side.package}/schemas/") == set(SCHEMAS)
    assert {name.split("/")[0].split("-")[0] for name in names} == {side.package}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)

    environment = fresh_environment(tmp_path / "environment", declared(wheel))
    environment.pip("install", "--no-deps", str(wheel))
    environment.pip("check")
    assert json.loads(environment.run_python("-c", READ_SCHEMAS, side.package)) == SCHEMAS
    assert environment.holds(side.package)
    assert [module for module in side.absent if environment.holds(module)] == []
    assert "Usage" in run(environment.python.with_name(side.command), "--help", cwd=tmp_path)
    if side is CONSUMER:
        check_a_vector(environment, tmp_path)


def check_a_vector(environment: Environment, folder: Path) -> None:
    """The installed command accepts an accepting bundle of the vectors."""
    vectors = ROOT / "tests" / "vectors"
    cases = json.loads((vectors / "bundles" / "cases.json").read_bytes())["cases"]
    case = next(one for one in cases if one["name"] == "asked")
    printed = run(
        environment.python.with_name(CONSUMER.command),
        "check", vectors / "bundles" / case["bundle"],
        "--trust-root", vectors / "bundles" / case["trust_root"],
        "--generation", vectors / "bundles" / case["generation"],
        "--live", vectors / "bundles" / case["live"],
        "--sources", vectors / "sources",
        "--question", case["question"],
        "--at", str(case["at"]),
        cwd=folder,
    )  # fmt: skip
    if "ACCEPTED" not in printed:
        pytest.fail(printed)


@both_sides
def test_installed_editable(side: Side, tmp_path: Path) -> None:
    folder = copy_tree(tmp_path, side)
    needed = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    environment = fresh_environment(tmp_path / "environment", ["hatchling", "editables", *needed])
    environment.pip("install", "--no-deps", "--no-build-isolation", "--editable", str(folder))
    assert json.loads(environment.run_python("-c", READ_SCHEMAS, side.package)) == SCHEMAS
    origin = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).origin)"
    assert Path(environment.run_python("-c", origin, side.package).strip()).is_relative_to(folder.resolve())


class TestMirror:
    """The build hook's function, on folders made for it."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = tmp_path / "package"
        (root / "mirror").mkdir(parents=True)
        return root

    @pytest.fixture(params=[PRODUCER, CONSUMER], ids=lambda side: side.folder)
    def hook(self, request: pytest.FixtureRequest) -> ModuleType:
        path = ROOT / request.param.folder / "hatch_build.py"
        spec = importlib.util.spec_from_file_location("hatch_build_under_test", path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_no_schema_anywhere_is_refused(self, hook: ModuleType, root: Path) -> None:
        with pytest.raises(FileNotFoundError, match="no file found"):
            hook.mirror_folder(root, "schemas", "mirror")

    def test_an_empty_original_is_refused(self, hook: ModuleType, root: Path) -> None:
        (root.parent / "schemas").mkdir()
        (root / "mirror" / "left-over.json").write_text("{}", encoding="utf-8")
        with pytest.raises(FileNotFoundError, match="no file found"):
            hook.mirror_folder(root, "schemas", "mirror")

    def test_the_mirror_follows_the_original(self, hook: ModuleType, root: Path) -> None:
        original = root.parent / "schemas"
        (original / "tables").mkdir(parents=True)
        (original / "a.json").write_bytes(b"1\r\n")
        (original / "tables" / "b.json").write_bytes(b"2")
        (root / "mirror" / "a.json").write_bytes(b"1\n")
        (root / "mirror" / "gone.json").write_bytes(b"3")
        hook.mirror_folder(root, "schemas", "mirror")
        mirror = root / "mirror"
        found = {path.relative_to(mirror).as_posix(): path.read_bytes() for path in mirror.rglob("*.json")}
        assert found == {"a.json": b"1\r\n", "tables/b.json": b"2"}

    def test_an_sdist_keeps_its_own(self, hook: ModuleType, root: Path) -> None:
        (root / "PKG-INFO").touch()
        (root / "mirror" / "own.json").write_bytes(b"1")
        (root.parent / "schemas").mkdir()
        (root.parent / "schemas" / "strange.json").write_bytes(b"2")
        hook.mirror_folder(root, "schemas", "mirror")
        assert [path.name for path in (root / "mirror").iterdir()] == ["own.json"]
