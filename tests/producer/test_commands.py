"""The command, as a person meets it: exit codes, words, hostile names."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from kansho_sign.canonical_json import dumps
from kansho_sign.cli import sources as commands_module
from kansho_sign.cli.messages import escape
from kansho_sign.schema import validate
from kansho_sign.workspace import find
from tests.support.shell import Shell
from tests.support.workspaces import (
    CHALLENGE,
    NONCE,
    NOW,
    answer_json,
    event_line,
    live_of,
    write_files,
)

FIXED = ["--now", str(NOW), "--nonce", NONCE, "--challenge", CHALLENGE]
REFUND = "# Refunds\n\nRefunds take ten days.\n"


def test_the_usual_way(shell: Shell, tmp_path: Path) -> None:
    ingested = shell("ingest", tmp_path / "in", "--now", NOW)
    assert (ingested.code, ingested.err) == (0, "")
    assert "2 new" in ingested.out
    assert "publish" in ingested.out
    published = shell("publish", "--now", NOW)
    assert published.code == 0
    assert "2 documents" in published.out
    out = tmp_path / "bundle.json"
    asked = shell("ask", "Refunds take ten days", "-o", out, *FIXED)
    assert asked.code == 0
    assert "refund.md:11-33" in asked.out
    validate(json.loads(out.read_bytes()), "bundle")
    again = tmp_path / "again.json"
    assert shell("ask", "Refunds take ten days", "-o", again, *FIXED).code == 0
    assert again.read_bytes() == out.read_bytes()
    assert "Nothing changed" in shell("publish", "--now", NOW).out
    assert "2 unchanged" in shell("ingest", tmp_path / "in").out
    random = tmp_path / "random.json"
    assert shell("ask", "Refunds take ten days", "-o", random).code == 0
    one, other = (json.loads(path.read_bytes())["audit"]["payload"] for path in (out, random))
    assert one["nonce"] != other["nonce"]
    assert one["request"]["challenge"] != other["request"]["challenge"]


def test_no_answer_is_exit_4_and_a_bundle(published: Shell, tmp_path: Path) -> None:
    result = published("ask", "nothing like it", "-o", tmp_path / "b.json")
    assert result.code == 4
    assert json.loads((tmp_path / "b.json").read_bytes())["public"]["payload"]["status"] == "insufficient_evidence"


def test_bundle_on_standard_output(published: Shell, tmp_path: Path) -> None:
    assert published("ask", "Refunds take ten days", "-o", tmp_path / "b.json", *FIXED).code == 0
    result = published("ask", "Refunds take ten days", "-o", "-", *FIXED)
    assert result.out.encode() == (tmp_path / "b.json").read_bytes()
    assert "Answered" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["ask"],
        ["ask", "x"],
        ["nonsense"],
        ["--nonsense"],
        ["ask", "x", "-o", "o", "--top-k", "0"],
        ["ask", "x", "-o", "o", "--top-k", "101"],
        ["ask", "x", "-o", "o", "--top-k", "x"],
        ["ask", "x", "-o", "o", "--challenge", "c0"],
        ["ask", "x", "-o", "o", "--challenge", "C0" * 32],
        ["ask", "x", "-o", "o", "--challenge", "c0" * 32 + "\n"],
        ["ask", "x", "-o", "o", "--nonce", "0" * 31],
        ["ask", "x", "-o", "o", "--nonce", "٠" * 32],
        ["ask", "x", "-o", "o", "--now", "yesterday"],
        ["ask", "x", "-o", "o", "--now", "-1"],
        ["ask", "x", "-o", "o", "--now", "999999999999"],
        ["ask", "x", "-o", "o", "--now", "1969-12-31T23:59:59Z"],
        ["ask", "x", "-o", "o", "--now", "2026-01-01T00:00:00"],
        ["ask", "x", "-o", "o", "--now", "2026-02-30T00:00:00Z"],
        ["ingest"],
        ["publish", "more"],
        ["attest", "a.json"],
        ["init", "--issuer"],
    ],
    ids=lambda arguments: " ".join(arguments)[:60].encode("unicode_escape").decode(),
)
def test_wrong_calls_are_exit_2(
    published: Shell, arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = published(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("moment", ["1800000000", "2027-01-15T08:00:00Z"])
def test_times(published: Shell, tmp_path: Path, moment: str) -> None:
    assert published("ask", "Refunds take ten days", "-o", tmp_path / "b.json", "--now", moment).code == 0
    assert json.loads((tmp_path / "b.json").read_bytes())["public"]["payload"]["issued_at"] == NOW


@pytest.mark.parametrize("option", ["--tenant", "--group", "--audience", "--subject"])
@pytest.mark.parametrize("label", ["", " ", "a\n", "a\u200b", "e\u0301", "x" * 257, "a\u00a0b", "\udcff"])
def test_labels(published: Shell, tmp_path: Path, option: str, label: str) -> None:
    message = published("ask", "x y", "-o", tmp_path / "b.json", option, label).refusal(3, "name.label")
    assert message.isascii() or "…" in message
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("option", ["--tenant", "--allow", "--role"])
def test_labels_of_an_ingest(shell: Shell, tmp_path: Path, option: str) -> None:
    for label in ("", "a\u00a0b", "a\x1b[31m", "\udcff"):
        message = shell("ingest", tmp_path / "in", option, label).refusal(3, "name.label")
        assert "\x1b" not in message


def test_nothing_published_is_exit_4(shell: Shell, tmp_path: Path) -> None:
    message = shell("ask", "x", "-o", tmp_path / "b.json").refusal(4, "publish.missing")
    assert "hint: kansho-sign publish" in message


def test_no_workspace_is_exit_2(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shell.folder = tmp_path / "elsewhere"
    for arguments in (["publish"], ["ingest", tmp_path / "in"], ["ask", "x", "-o", tmp_path / "b"]):
        message = shell(*arguments).refusal(2, "workspace.missing")
        assert "hint: kansho-sign init" in message
        assert "elsewhere" in message


def test_faults_are_exit_70(published: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert published("ask", "x", "-o", tmp_path / "missing" / "b.json").code == 2
    (published.folder / "audit").write_text("in the way")
    published("ask", "x", "-o", tmp_path / "b.json").refusal(70, "audit.unwritable")
    result = published("ask", "Refunds take ten days", "-o", "-")
    result.refusal(70, "audit.unwritable")
    assert result.out == ""
    assert not (tmp_path / "b.json").exists()

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(commands_module, "publish", broken)
    result = published("publish")
    assert result.code == 70
    assert "ZeroDivisionError" in result.err
    assert "a secret" not in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in published("--debug", "publish").err


def test_outputs_that_are_no_files(published: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / ("x" * 5_000), tmp_path / ("x" * 5_000) / "y"):
        assert published("ask", "x", "-o", path).code == 2
    published("ask", "x", "-o", tmp_path / "pipe").refusal(2, "output.not_a_file")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_interrupt_is_exit_2(published: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands_module, "publish", interrupted)
    result = published("publish")
    assert result.code == 2
    assert "aborted" in result.err


def test_help_and_version(shell: Shell) -> None:
    commands = ("init", "ingest", "publish", "ask", "attest", "demo")
    for arguments in (["--help"], ["-h"], ["--version"], *([name, "--help"] for name in commands)):
        result = shell(*arguments)
        assert (result.code, result.err) == (0, "")
        assert result.out


# init


def test_init(shell: Shell, tmp_path: Path) -> None:
    result = shell("init", tmp_path / "new", "--unencrypted-keys", workspace=False)
    assert result.code == 0
    assert "NOT encrypted" in result.out
    assert "trust-root.json" in result.out
    shell("init", tmp_path / "new", "--unencrypted-keys", workspace=False).refusal(2, "workspace.exists")
    shell("init", tmp_path / "b", workspace=False).refusal(2, "keys.passphrase_missing")
    assert not (tmp_path / "b").exists()
    shell("init", tmp_path / "b", "--unencrypted-keys", "--issuer", "a\x1bb", workspace=False).refusal(3, "name.label")


def test_passphrases(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, other = tmp_path / "secret", tmp_path / "other"
    secret.write_bytes(b"correct horse\r\n")
    other.write_bytes(b"wrong")
    shell.folder = tmp_path / "closed"
    assert shell("init", shell.folder, "--passphrase-file", secret, workspace=False).code == 0
    assert b"ENCRYPTED" in (shell.folder / "keys" / "root.pem").read_bytes()
    message = shell("publish").refusal(2, "keys.passphrase_missing")
    assert "--passphrase-file" in message
    shell("--passphrase-file", other, "publish").refusal(2, "keys.passphrase_wrong")
    assert shell("--passphrase-file", secret, "publish").code == 0
    monkeypatch.setenv("KANSHO_PASSPHRASE", "correct horse")
    assert shell("publish").code == 0
    shell("--passphrase-file", other, "publish").refusal(2, "keys.passphrase_wrong")
    monkeypatch.setenv("KANSHO_PASSPHRASE", "wrong")
    shell("publish").refusal(2, "keys.passphrase_wrong")
    monkeypatch.delenv("KANSHO_PASSPHRASE")
    monkeypatch.setenv("KANSHO_PASSPHRASE_FILE", str(secret))
    assert shell("publish").code == 0


def test_a_passphrase_that_is_no_text(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes by environment and by file."""
    monkeypatch.setitem(os.environ, "KANSHO_PASSPHRASE", os.fsdecode(b"\xff\xfe"))
    shell.folder = tmp_path / "closed"
    assert shell("init", shell.folder, workspace=False).code == 0
    monkeypatch.delenv("KANSHO_PASSPHRASE")
    (tmp_path / "secret").write_bytes(b"\xff\xfe\n")
    assert shell("--passphrase-file", tmp_path / "secret", "publish").code == 0


def test_a_passphrase_by_prompt(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    asked: list[bool] = []

    def prompt(_text: str, **options: Any) -> str:
        asked.append(options["confirmation_prompt"])
        assert options["hide_input"]
        return "correct horse"

    monkeypatch.setattr("click.prompt", prompt)
    shell.folder = tmp_path / "closed"
    assert shell("init", shell.folder, workspace=False).code == 0
    assert shell("publish").code == 0
    assert asked == [True, False], "once to make it, once for both keys"


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", b"a\nb", b"\na", b"x" * 5_000])
def test_passphrase_files_that_are_refused(shell: Shell, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "secret").write_bytes(data)
    result = shell("init", tmp_path / "new", "--passphrase-file", tmp_path / "secret", workspace=False)
    if len(data) < 5_000:
        result.refusal(2, "keys.passphrase_file")
    else:
        result.refusal(3, "limits.bytes")
    assert not (tmp_path / "new").exists()
    missing = shell("init", tmp_path / "new", "--passphrase-file", tmp_path / "none", workspace=False)
    missing.refusal(2, "input.unreadable")


def test_a_passphrase_that_is_too_long(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x" * 2_000)
    result = shell("init", tmp_path / "new", "--passphrase-file", tmp_path / "secret", workspace=False)
    result.refusal(2, "keys.passphrase_length")


def test_workspace_from_the_environment(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell("publish", workspace=False).refusal(2, "workspace.missing")
    monkeypatch.setenv("KANSHO_WORKSPACE", str(shell.folder))
    assert shell("publish", workspace=False).code == 0
    monkeypatch.delenv("KANSHO_WORKSPACE")
    monkeypatch.chdir(shell.folder / "published")
    assert shell("publish", workspace=False).code == 0


# ingest


def test_refused_files_are_exit_3_and_named(shell: Shell, tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "bad",
        {"ok.md": "fine", "a\x1b[31m\n.md": "x", "b\u202e.md": "x", "nul.txt": "x", "bin.md": b"\x00", "x.pdf": b"p"},
    )
    (folder / os.fsdecode(b"\xff.md")).write_text("x")
    result = shell("ingest", folder)
    assert result.code == 3
    assert "1 new" in result.out
    assert result.err.count("refused: ") == 5
    assert result.err.count("[name.document]") == 4
    assert "[text.nul]" in result.err
    assert "bin.md" in result.err
    assert "hint:" in result.err
    assert "no parser for 1 files" in result.err
    for hostile in ("\x1b", "\u202e", "\udcff"):
        assert hostile not in result.err + result.out
    assert all(line.startswith(("refused: ", "  hint: ", "note: ")) for line in result.err.splitlines())


def test_gone_files_are_named(published: Shell, tmp_path: Path) -> None:
    (tmp_path / "in" / "refund.md").unlink()
    result = published("ingest", tmp_path / "in")
    assert result.code == 0
    assert "refund.md" in result.err
    assert "--remove-missing" in result.err
    result = published("ingest", tmp_path / "in", "--remove-missing")
    assert "1 deleted" in result.out
    workspace = find(published.folder, lambda: None)
    assert len(live_of(workspace)["tombstones"]) == 1
    workspace.close()


def test_ingest_options(shell: Shell, tmp_path: Path) -> None:
    base = ["--prefix", "p/", "--base-uri", "https://example.org/"]
    result = shell("ingest", tmp_path / "in", *base, "--allow", "staff")
    assert result.code == 0
    assert shell("publish").code == 0
    assert shell("ask", "Refunds take ten days", "-o", tmp_path / "b.json").code == 4
    assert shell("ask", "Refunds take ten days", "-o", tmp_path / "b.json", "--group", "staff").code == 0
    citation = json.loads((tmp_path / "b.json").read_bytes())["public"]["payload"]["claims"][0]["citations"][0]
    assert citation["source_uri"] == "https://example.org/p/refund.md"
    assert shell("ingest", tmp_path / "in", "--prefix", "../").code == 3
    assert shell("ingest", tmp_path / "in", "--prefix", "\udcff").code == 3
    assert shell("ingest", tmp_path / "in", "--base-uri", "https://u:p@example.org/").code == 3


def test_events_file(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(event_line() + b"\nnot json\n")
    result = shell("ingest", path)
    assert result.code == 3
    assert f"{path}:2" in result.err
    assert "1 new" in result.out


# attest


def write_answer(path: Path, *evidence: tuple[str, str], **members: Any) -> Path:
    path.write_text(json.dumps(answer_json(*evidence, **members)))
    return path


def test_attest(published: Shell, tmp_path: Path) -> None:
    answer = write_answer(tmp_path / "a.json", ("refund.md", "ten days"))
    out = tmp_path / "b.json"
    result = published("attest", answer, "-o", out, *FIXED)
    assert result.code == 0
    assert json.loads(out.read_bytes())["public"]["payload"]["claims"][0]["text"] == "ten days"
    as_json = published("attest", answer, "-o", tmp_path / "c.json", "--json", *FIXED)
    assert json.loads(as_json.out) == {
        "status": "answered", "signed": True, "findings": [], "undiagnosed": 0, "notes": [],
    }  # fmt: skip
    assert (tmp_path / "c.json").read_bytes() == out.read_bytes()
    on_output = published("attest", answer, "-o", "-", *FIXED)
    assert on_output.out.encode() == out.read_bytes()
    published("attest", answer, "-o", "-", "--json").refusal(2, "attest.output")


def test_attest_refusals(published: Shell, tmp_path: Path) -> None:
    answer = write_answer(tmp_path / "a.json", ("refund.md", "nine days"), ("x\x1b[31m", "y"), ("refund.md", "ten"))
    out = tmp_path / "b.json"
    result = published("attest", answer, "-o", out)
    assert result.code == 3
    assert "2 of 3" in result.err
    assert "evidence[0].excerpt" in result.err
    assert "unverified_excerpt" in result.err
    assert "\x1b" not in result.err
    result = published("attest", answer, "-o", out, "--json")
    assert result.code == 3
    findings = json.loads(result.out)["findings"]
    assert [(one["path"], one["code"]) for one in findings] == [
        ("evidence[0].excerpt", "unverified_excerpt"),
        ("evidence[1].excerpt", "unknown_source"),
    ]
    assert not out.exists()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json.syntax"),
        (b"{}", "schema.violation"),
        (b"\xff", "json.utf8"),
        (b"[" * 100_000, "limits.depth"),
        (b'{"schema":"kansho.answer.v1","evidence":[],"evidence":[]}', "json.duplicate_key"),
        (b'{"schema":"kansho.answer.v1","evidence":[]}', "evidence.none"),
        (b'{"schema":"kansho.answer.v1","evidence":[{"source_id":"a","excerpt":"\\ud800"}]}', "json.surrogate"),
    ],
)
def test_answers_that_are_refused(
    published: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, code: str
) -> None:
    path = tmp_path / "answer.json"
    path.write_bytes(data)
    message = published("attest", path, "-o", tmp_path / "b.json").refusal(3, code)
    assert "answer.json" in message or code == "evidence.none"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    message = published("attest", "-", "-o", tmp_path / "b.json").refusal(3, code)
    assert "standard input" in message or code == "evidence.none"
    assert not (tmp_path / "b.json").exists()


def test_answer_from_standard_input(published: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dumps(answer_json(("refund.md", "ten days")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert published("attest", "-", "-o", tmp_path / "b.json").code == 0


def test_questions_of_an_attestation(published: Shell, tmp_path: Path) -> None:
    answer = write_answer(tmp_path / "a.json", ("refund.md", "ten days"))
    for given, kept in (([], None), (["--question", ""], None), (["--question", "How long?"], "How long?")):
        assert published("attest", answer, "-o", tmp_path / "b.json", *given).code == 0
        assert json.loads((tmp_path / "b.json").read_bytes())["audit"]["payload"]["request"]["question"] == kept
    published("attest", answer, "-o", tmp_path / "c.json", "--question", " ").refusal(3, "ask.question")
    published("ask", "", "-o", tmp_path / "c.json").refusal(3, "ask.question")


def test_policies(published: Shell, tmp_path: Path) -> None:
    answer = write_answer(tmp_path / "a.json", ("refund.md", "ten days"))
    policy = json.loads((published.folder / "policy.json").read_bytes())
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({**policy, "allowed_roles": ["note"]}))
    result = published("attest", answer, "--policy", path, "-o", tmp_path / "b.json")
    assert result.code == 3
    assert "role_not_allowed" in result.err
    path.write_text(json.dumps({**policy, "allowed_roles": ["document\n"]}))
    refused = published("attest", answer, "--policy", path, "-o", tmp_path / "b.json")
    assert str(path) in refused.refusal(3, "schema.violation")
    missing = published("attest", answer, "--policy", tmp_path / "none", "-o", tmp_path / "b.json")
    missing.refusal(2, "input.unreadable")


def test_hostile_text_in_an_answer_is_shown_escaped(shell: Shell, tmp_path: Path) -> None:
    write_files(tmp_path / "in", {"bad.txt": "Danger \x1b[2J\u202e zone zone.\n"})
    shell("ingest", tmp_path / "in")
    shell("publish")
    result = shell("ask", "danger zone", "-o", tmp_path / "b.json")
    assert result.code == 0
    assert "Danger" in result.out
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("é漢", "é漢"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\t\r", "a\\nb\\t\\r"),
        ("\u202e\u200b\ufeff", "\\u202e\\u200b\\ufeff"),
        ("\u2028\u00a0\u3000", "\\u2028\\xa0\\u3000"),
        ("\udcff", "\\udcff"),
        ("\U000e0041\U0010ffff", "\\U000e0041\\U0010ffff"),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_escape_cuts() -> None:
    assert escape("x" * 200) == "x" * 200
    assert escape("x" * 201) == "x" * 199 + "…"
    assert escape("x" * 10, 4) == "xxx…"
