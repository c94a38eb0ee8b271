"""The command: options, exit codes, output, files."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from kansho_verify import Code, schema
from kansho_verify.cli import commands, main
from tests.consumer.attacks import change, hooked
from tests.support.forge import NOW, QUESTION, REFUND, Doc, Forge


class Desk:
    """A folder with everything that a check needs, and a way to run the command there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        self.lay_out(Forge())
        monkeypatch.chdir(folder)

    def lay_out(self, forge: Forge, name: str = "bundle.json") -> None:
        (self.folder / "published").mkdir(exist_ok=True)
        (self.folder / name).write_bytes(forge.bundle_bytes)
        (self.folder / "trust-root.json").write_bytes(forge.trust_root_bytes)
        (self.folder / "published" / "generation.json").write_bytes(forge.generation_bytes)
        (self.folder / "published" / "live.json").write_bytes(forge.live_bytes)
        for document, raw in forge.sources.items():
            path = self.folder / "sources" / document
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["kansho-verify", *arguments])
        code: object = 0
        try:
            main()
        except SystemExit as error:
            code = error.code
        captured = self._capsys.readouterr()
        return int(str(code or 0)), captured.out, captured.err

    def check(self, *arguments: str) -> tuple[int, str, str]:
        return self.run("check", *arguments, *GIVEN)


GIVEN = ("--trust-root", "trust-root.json", "--published", "published", "--sources", "sources", "--at", str(NOW))
ASKED = ("--question", QUESTION)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in [name for name in os.environ if name.startswith("KANSHO_VERIFY_")]:
        monkeypatch.delenv(name)
    return Desk(tmp_path, capsys, monkeypatch)


def test_accepted(desk: Desk) -> None:
    code, out, err = desk.check("bundle.json", *ASKED)
    assert (code, err) == (0, "")
    assert out.startswith('"bundle.json": ACCEPTED')
    assert '"policies/refund.md":11-54  raw_exact' in out
    assert "\n  steps 1 to 11: passed\n" in out
    assert not re.search("  step [0-9]", out)


def test_accepted_without_the_live_state(desk: Desk) -> None:
    given = [option for option in GIVEN if option not in ("--published", "published")]
    given += ["--generation", "published/generation.json", "--no-live"]
    code, out, _ = desk.run("check", "bundle.json", *given, *ASKED)
    assert code == 0
    assert "\n  steps 1 to 10: passed; step 11, live: waived\n" in out


def test_what_did_not_pass_is_told_once(desk: Desk) -> None:
    desk.lay_out(Forge(excerpts=[(REFUND.document, "five business"), (REFUND.document, "Gift cards")]))
    (desk.folder / "sources" / REFUND.document).write_bytes(b"another")
    code, out, _ = desk.check("bundle.json", "--question", "Why?")
    assert code == 3
    lines = out.splitlines()
    told = ["  step 7, bindings: FAIL", "    request.question_mismatch: the answer is to another question"]
    assert lines[lines.index(told[0]) :][:2] == told
    assert "at $.audit.payload.request.question" in out
    assert "why:" not in out  # it would say the same again
    assert lines[-1] == "  steps 8 to 11: not reached, for an earlier step could not be passed"
    assert "passed\n" not in out.partition("claims")[0]
    code, out, _ = desk.check("bundle.json", *ASKED)
    assert (code, out.count("source.raw_hash_mismatch: "), out.count("hint:")) == (4, 2, 1)
    sentences = [line.strip() for line in out.splitlines() if line.strip().startswith(("why:", "hint:"))]
    assert len(sentences) == len(set(sentences))


def test_a_meaning_that_adds_something_is_told(desk: Desk) -> None:
    (desk.folder / "bundle.json").write_bytes(b"{}")
    _, out, _ = desk.check("bundle.json", *ASKED)
    assert "why: A member is missing, unknown, or not of the form that the schema demands." in out


def test_a_shortened_text_has_its_ellipsis_outside_the_quotes(desk: Desk) -> None:
    text = "word " * 60
    desk.lay_out(Forge(docs=(Doc(REFUND.document, text, [text]),), excerpts=[(REFUND.document, text)]))
    _, out, _ = desk.check("bundle.json", *ASKED)
    assert f'"{text[:240]}"…' in out


def test_options_before_the_bundle(desk: Desk) -> None:
    assert desk.run("check", *GIVEN, *ASKED, "bundle.json")[0] == 0


def test_every_exit_code_and_their_order(desk: Desk) -> None:
    (desk.folder / "false.json").write_bytes(Forge().bundle_bytes.replace(b"within", b"hardly", 1))
    desk.lay_out(hooked(generation=change(expires_at=NOW - 1)), "stale.json")
    desk.lay_out(Forge(status="insufficient_evidence"), "none.json")
    desk.lay_out(Forge())
    names = {"bundle.json": 0, "false.json": 3, "none.json": 4}
    for name, expected in names.items():
        assert desk.check(name, *ASKED)[0] == expected
    assert desk.check("bundle.json", "none.json", *ASKED)[0] == 4
    assert desk.check("bundle.json", "none.json", "false.json", "bundle.json", *ASKED)[0] == 3
    desk.lay_out(hooked(generation=change(expires_at=NOW - 1)), "stale.json")
    assert desk.check("stale.json", *ASKED)[0] == 5
    assert desk.check("nowhere.json", *ASKED)[0] == 2


def test_no_options_is_undecided_and_names_them(desk: Desk) -> None:
    code, out, err = desk.run("check", "bundle.json")
    assert (code, err) == (4, "")
    for option in ("--trust-root", "--sources", "--question", "--published", "--no-live"):
        assert option in out
    assert str(Code.TRUST_ROOT_MISSING) in out
    assert "by the clock" in out


def test_json_is_one_valid_document_a_line(desk: Desk) -> None:
    code, out, _ = desk.check("bundle.json", "bundle.json", "--json", *ASKED)
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 2
    for line in lines:
        document = json.loads(line)
        schema.check("check", document)
        assert (document["result"], document["time_source"]) == ("accepted", "given")


def test_standard_input(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(Forge().bundle_bytes)

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert desk.check("-", *ASKED)[0] == 0
    assert desk.check("-", "-", *ASKED)[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("bundle.json", "--at", "yesterday"),
        ("bundle.json", "--at", "2026-02-30T00:00:00Z"),
        ("bundle.json", "--challenge", "xyz"),
        ("bundle.json", "--profile", "lenient"),
        ("bundle.json", "--max-age", "-1"),
        ("bundle.json", "--live", "published/live.json"),
        ("bundle.json", "--question", "a", "--any-question"),
        ("bundle.json", "--unknown"),
        (),
        ("sources",),
        ("bundle.json\0",),
    ],
)
def test_wrong_usage_is_exit_2_on_standard_error(desk: Desk, arguments: tuple[str, ...]) -> None:
    code, out, err = desk.run("check", *GIVEN, *arguments)
    assert code == 2
    assert out == ""
    assert err
    assert "Traceback" not in err


@pytest.mark.parametrize("option", ["--trust-root", "--generation", "--live", "--sources"])
def test_a_named_file_that_is_not_there_is_wrong_usage(desk: Desk, option: str) -> None:
    code, _, err = desk.run("check", "bundle.json", option, "absent")
    assert code == 2
    assert "absent" in err


def test_a_fifo_is_refused_and_does_not_block(desk: Desk) -> None:
    os.mkfifo(desk.folder / "fifo")
    os.mkfifo(desk.folder / "sources" / "fifo")
    assert desk.check("fifo", *ASKED)[0] == 2
    assert desk.check("bundle.json", *ASKED)[0] == 0


def test_links_below_the_sources(desk: Desk) -> None:
    sources = desk.folder / "sources"
    original = sources / REFUND.document
    original.rename(desk.folder / "elsewhere.md")
    assert desk.check("bundle.json", *ASKED)[0] == 4
    (sources / "link.md").symlink_to(desk.folder / "elsewhere.md")
    (sources / "loop").symlink_to(sources)
    assert desk.check("bundle.json", *ASKED)[0] == 0


def test_a_changed_source_is_told_from_a_missing_one(desk: Desk) -> None:
    path = desk.folder / "sources" / REFUND.document
    path.write_bytes(REFUND.raw.replace(b"five", b"nine"))
    code, out, _ = desk.check("bundle.json", *ASKED)
    assert (code, str(Code.SOURCE_RAW_HASH_MISMATCH) in out) == (4, True)
    path.unlink()
    code, out, _ = desk.check("bundle.json", *ASKED)
    assert (code, str(Code.SOURCE_MISSING) in out) == (4, True)


def test_environment_twins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANSHO_VERIFY_CHECK_TRUST_ROOT", "trust-root.json")
    monkeypatch.setenv("KANSHO_VERIFY_CHECK_QUESTION", QUESTION)
    arguments = ("--published", "published", "--sources", "sources", "--at", "2027-01-15T08:00:00Z")
    assert desk.run("check", "bundle.json", *arguments)[0] == 0


def test_the_text_of_an_artifact_does_not_steer_the_terminal(desk: Desk) -> None:
    text = "safe \x1b[2J\x1b]0;evil\x07 \u202etxet\u202c \u200b\n"
    desk.lay_out(
        Forge(docs=(Doc(REFUND.document, text, [text.rstrip()]),), excerpts=[(REFUND.document, text.rstrip("\n"))])
    )
    code, out, _ = desk.check("bundle.json", *ASKED)
    assert code == 0
    assert not any(char in out for char in "\x1b\x07\u202e\u202c\u200b")
    assert r"\u{202e}" in out


def test_a_fault_of_the_program_is_70_without_a_traceback(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(commands, "verify", fault)
    code, out, err = desk.check("bundle.json", *ASKED)
    assert (code, out) == (70, "")
    assert "Traceback" not in err
    code, _, err = desk.run("--debug", "check", "bundle.json")
    assert code == 70
    assert "Traceback" in err
    monkeypatch.setattr(commands, "explanation_lines", fault)
    code, _, err = desk.run("explain")
    assert code == 70
    assert "Traceback" not in err


def test_project_writes_whole_and_never_over(desk: Desk) -> None:
    assert desk.run("project", "bundle.json", "-o", "public.json") == (0, "", "")
    written = (desk.folder / "public.json").read_bytes()
    assert b'"audit"' not in written
    assert stat.S_IMODE((desk.folder / "public.json").stat().st_mode) == 0o644
    assert desk.run("project", "bundle.json", "-o", "public.json")[0] == 2
    assert desk.run("project", "bundle.json", "-o", "public.json", "--force")[0] == 0
    code, out, _ = desk.check("public.json", "--profile", "public")
    assert (code, "whether it is current was not checked" in out) == (0, True)
    assert desk.run("project", "bundle.json", "-o", "absent/public.json")[0] == 2
    (desk.folder / "broken.json").write_bytes(b"{")
    code, out, err = desk.run("project", "broken.json", "-o", "other.json")
    assert (code, out) == (3, "")
    assert str(Code.JSON_SYNTAX) in err
    names = {path.name for path in desk.folder.iterdir()}
    assert names == {"bundle.json", "broken.json", "public.json", "published", "sources", "trust-root.json"}


def test_sources_in_several_folders(desk: Desk) -> None:
    (desk.folder / "empty").mkdir()
    (desk.folder / "sources").rename(desk.folder / "others")
    given = [argument for argument in GIVEN if argument not in ("--sources", "sources")]
    run = ("check", "bundle.json", *given, *ASKED)
    assert desk.run(*run, "--sources", "empty")[0] == 4
    for order in (("empty", "others"), ("others", "empty")):
        assert desk.run(*run, "--sources", order[0], "--sources", order[1])[0] == 0


REGISTRY = ("--allow-request-registry", "--at", str(NOW), "--trust-root", "trust-root.json")


def _request(desk: Desk) -> Forge:
    forge = Forge(registry="request", excerpts=[(REFUND.document, "five business")])
    desk.lay_out(forge)
    (desk.folder / "registry.json").write_text(json.dumps(forge.registry_document, indent=2), encoding="utf-8")
    return forge


def test_a_registry_file_as_sources(desk: Desk) -> None:
    _request(desk)
    code, out, err = desk.run("check", "bundle.json", *REGISTRY, *ASKED, "--sources", "registry.json")
    assert (code, err) == (0, "")
    assert "\n  steps 1 to 10: passed; step 11, live: a request's own sources have none\n" in out
    assert (
        desk.run("check", "bundle.json", *REGISTRY, *ASKED, "--sources", "registry.json", "--published", "published")[0]
        == 0
    )
    assert desk.run("check", "bundle.json", *REGISTRY[1:], *ASKED, "--sources", "registry.json")[0] == 3


def test_registry_files_and_folders_mix(desk: Desk) -> None:
    forge = _request(desk)
    other = {**forge.registry_document, "sources": forge.registry_document["sources"][1:]}
    (desk.folder / "other.json").write_text(json.dumps(other), encoding="utf-8")
    run = ("check", "bundle.json", *REGISTRY, *ASKED)
    code, out, _ = desk.run(*run, "--sources", "other.json")
    assert (code, str(Code.SOURCE_MISSING) in out) == (4, True)
    for order in (("other.json", "sources"), ("sources", "other.json"), ("registry.json", "other.json")):
        assert desk.run(*run, "--sources", order[0], "--sources", order[1])[0] == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"# Refunds\n", Code.JSON_SYNTAX),
        (b"", Code.JSON_SYNTAX),
        (b"{}", Code.SCHEMA_VIOLATION),
        (b'{"schema":"kansho.registry.v1","schema":"kansho.registry.v1"}', Code.JSON_DUPLICATE_KEY),
        (b"\xff", Code.JSON_UTF8),
        (b'"\x1b[2J"', Code.JSON_SYNTAX),
    ],
)
def test_a_source_file_that_is_no_registry_is_wrong_usage(desk: Desk, content: bytes, code: Code) -> None:
    (desk.folder / "wrong.json").write_bytes(content)
    exit_code, out, err = desk.check("bundle.json", *ASKED, "--sources", "wrong.json")
    assert (exit_code, out) == (2, "")
    assert "wrong.json" in err
    assert "kansho.registry.v1" in err
    assert str(code) in err
    assert "\x1b" not in err


def test_a_bundle_is_no_registry(desk: Desk) -> None:
    assert desk.check("bundle.json", *ASKED, "--sources", "bundle.json")[0] == 2


@pytest.mark.parametrize("name", ["absent", "bundle.json/inside", "n" * 5_000, "pipe"])
def test_sources_that_are_neither_folder_nor_file(desk: Desk, name: str) -> None:
    os.mkfifo(desk.folder / "pipe")
    code, out, err = desk.check("bundle.json", *ASKED, "--sources", name)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_a_linked_registry_file_is_followed(desk: Desk) -> None:
    _request(desk)
    (desk.folder / "link.json").symlink_to(desk.folder / "registry.json")
    assert desk.run("check", "bundle.json", *REGISTRY, *ASKED, "--sources", "link.json")[0] == 0


def test_explain(desk: Desk) -> None:
    code, out, _ = desk.run("explain", "key.revoked")
    assert code == 0
    assert out.startswith("key.revoked (fail)\n")
    code, out, _ = desk.run("explain")
    assert code == 0
    assert all(f"{known} (" in out for known in Code)
    code, out, err = desk.run("explain", "json.duplicate_keys")
    assert (code, out) == (2, "")
    assert "json.duplicate_key" in err


def test_version_and_help(desk: Desk) -> None:
    assert desk.run("--version")[1].startswith("kansho-verify, version ")
    code, out, _ = desk.run("check", "--help")
    assert code == 0
    assert "--trust-root FILE" in out
