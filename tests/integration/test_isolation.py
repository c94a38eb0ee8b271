"""The consumer alone: no producer to import, no socket to open, nothing written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.support.cases import FOLDER

GUARD = """
import sys

class NoProducer:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "kansho_sign":
            raise ImportError("the consumer may not import " + name)

sys.meta_path.insert(0, NoProducer())

def forbid(event, arguments):
    if event.startswith("socket.") or event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"):
        raise RuntimeError("the consumer may not do " + event)
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & 3:
            raise RuntimeError("the consumer may not write " + repr(arguments[0]))

import kansho_verify.cli

sys.addaudithook(forbid)
sys.exit(kansho_verify.cli.main())
"""


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KANSHO_")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-c", GUARD, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120, env=environment
    )


def test_a_check_needs_neither_producer_nor_network_and_writes_nothing(tmp_path: Path) -> None:
    bundles = FOLDER / "bundles"
    cases = {case["name"]: case for case in json.loads((bundles / "cases.json").read_bytes())["cases"]}
    for name, code in (("asked", 0), ("claim-word-changed", 3)):
        case = cases[name]
        done = run(
            "check", str(bundles / case["bundle"]),
            "--trust-root", str(bundles / "trust-root.json"),
            "--generation", str(bundles / "generation.json"),
            "--live", str(bundles / "live.json"),
            "--sources", str(FOLDER / "sources"),
            "--question", case["question"],
            "--at", str(case["at"]),
            folder=tmp_path,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_guard_of_this_test_guards(tmp_path: Path) -> None:
    for attempt in ("import kansho_sign", "import socket; socket.socket()", "open('x', 'w')"):
        guarded = GUARD.replace("sys.exit(kansho_verify.cli.main())", attempt)
        done = subprocess.run(
            [sys.executable, "-c", guarded], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 1
        assert "the consumer may not" in done.stderr


def test_no_file_of_the_consumer_names_the_producer() -> None:
    for path in (ROOT / "consumer" / "src").rglob("*.py"):
        assert "kansho_sign" not in path.read_text("utf-8"), path
