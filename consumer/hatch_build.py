"""Build hook: brings folders of the repository, ``schemas/`` before all, into the package.

A wheel, an sdist and an editable install all carry them inside the package, where ``importlib.resources`` finds
them. Their only originals are the top-level folders, so each build first mirrors those that the settings name in
``mirrors`` (mirror = original). An sdist has no such folder beside it, but holds the mirror; it is built from that.

Run as a script, this file renews the mirrors without a build.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Mirrors(BuildHookInterface[Any]):
    """The hook that hatchling finds in this file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the interface's
        """Mirror the folders before the files of a target are collected."""
        for mirror, original in self.config["mirrors"].items():
            mirror_folder(Path(self.root), original, mirror)


def mirror_folder(root: Path, name: str, mirror: str) -> None:
    """Make the folder ``mirror`` below ``root`` equal to ``root/../name``.

    Files that are equal already are left alone and the others are replaced in one step, so that a running
    program never reads half a file. In an unpacked sdist (it has ``PKG-INFO``) a neighbouring folder of that name
    is somebody else's, and the mirror stays as it is.

    Raises:
        FileNotFoundError: there is no file, neither beside the package nor in the mirror.
    """
    original, target = root.parent / name, root / mirror
    if original.is_dir() and not (root / "PKG-INFO").exists():
        _copy_tree(original, target)
    if not any(path.is_file() for path in target.rglob("*")):
        raise FileNotFoundError(f"no file found: neither in {original} nor in {target}")


def _copy_tree(original: Path, target: Path) -> None:
    wanted = {path.relative_to(original) for path in original.rglob("*") if path.is_file()}
    present = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    for stale in sorted(present - wanted):
        (target / stale).unlink()
    for name in sorted(wanted):
        content, path = (original / name).read_bytes(), target / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(path)


def _main() -> None:
    root = Path(__file__).resolve().parent
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    for mirror, original in settings["tool"]["hatch"]["build"]["hooks"]["custom"]["mirrors"].items():
        mirror_folder(root, original, mirror)


if __name__ == "__main__":
    _main()
