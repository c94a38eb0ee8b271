"""The command ``kansho-sign`` run in process, in a workspace, with what it said."""

from __future__ import annotations

from pathlib import Path

import pytest

from kansho_sign.cli import main

__all__ = ["Result", "Shell"]


class Result:
    """What one run said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def refusal(self, exit_code: int, code: str) -> str:
        """Checks exit and reason code; the message."""
        if self.code != exit_code or f"[{code}]" not in self.err or "Traceback" in self.err:
            raise AssertionError(f"exit {self.code}, wanted {exit_code} with {code}: {self.err}")
        return self.err


class Shell:
    """Runs commands in a workspace."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capfd = folder, capfd

    def __call__(self, *arguments: object, workspace: bool = True) -> Result:
        given = ["--workspace", str(self.folder)] if workspace else []
        self._capfd.readouterr()
        code = main([*given, *map(str, arguments)])
        out, err = self._capfd.readouterr()
        return Result(code, out, err)
