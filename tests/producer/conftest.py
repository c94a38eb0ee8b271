"""Fixtures for the tests of the command."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tests.support.shell import Shell
from tests.support.workspaces import NOW, make_workspace, write_files

REFUND = "# Refunds\n\nRefunds take ten days.\n"


@pytest.fixture
def shell(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in [name for name in os.environ if name.startswith("KANSHO_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    make_workspace(tmp_path / "w").close()
    write_files(tmp_path / "in", {"refund.md": REFUND, "park.txt": "Parking is free.\n"})
    return Shell(tmp_path / "w", capfd)


@pytest.fixture
def published(shell: Shell, tmp_path: Path) -> Shell:
    assert shell("ingest", tmp_path / "in", "--now", NOW).code == 0
    assert shell("publish", "--now", NOW).code == 0
    return shell
