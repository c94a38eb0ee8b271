"""Both commands as a person types them: separate processes, files on disk, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

QUESTION = "How many days do refunds take?"
HANDBOOK = {
    "refund.md": "# Refunds\n\nRefunds take five business days.\n",
    "travel/trains.md": "# Trains\n\nTrains are booked a week ahead.\n",
    "notes.txt": "Lunch is at noon.\n\nThe office closes at six.\n",
}


class Desk:
    """A folder with a handbook and a workspace, and the two commands."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.handbook, self.workspace = folder, folder / "handbook", folder / "workspace"
        for name, text in HANDBOOK.items():
            self.write(name, text)
        self.sign("init", str(self.workspace), "--unencrypted-keys", expect=0)
        self.publish()

    def write(self, name: str, text: str) -> None:
        path = self.handbook / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, program: str, *arguments: str, expect: int) -> str:
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KANSHO_")}
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, env=environment, check=False, timeout=120
        )
        if done.returncode != expect:
            raise AssertionError(f"{command}: {done.returncode}, not {expect}\n{done.stdout}{done.stderr}")
        if "Traceback" in done.stderr:
            raise AssertionError(done.stderr)
        return done.stdout

    def sign(self, *arguments: str, expect: int = 0) -> str:
        given = arguments if arguments[0] == "init" else ("--workspace", str(self.workspace), *arguments)
        return self.run("kansho-sign", *given, expect=expect)

    def publish(self, *more: str) -> None:
        self.sign("ingest", str(self.handbook), *more)
        self.sign("publish")

    def ask(self, name: str, *more: str, question: str = QUESTION, expect: int = 0) -> Path:
        path = self.folder / name
        self.sign("ask", question, "-o", str(path), *more, expect=expect)
        return path

    def check(self, bundle: Path | str, *more: str, expect: int, question: str | None = QUESTION) -> str:
        asked = [] if question is None else ["--question", question]
        against = ["--trust-root", str(self.workspace / "trust-root.json")]
        against += ["--published", str(self.workspace / "published"), "--sources", str(self.handbook)]
        return self.run("kansho-verify", "check", str(bundle), *against, *asked, *more, expect=expect)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def found_codes(printed: str) -> set[str]:
    verdict = json.loads(printed)
    return {reason["code"] for check in verdict["checks"] for reason in check["reasons"]}


def test_a_question_is_answered_verified_and_bound(desk: Desk) -> None:
    bundle = desk.ask("answer.json")
    assert "accepted" in desk.check(bundle, expect=0).lower()
    for more, code in (
        (["--audience", "others"], "request.audience_mismatch"),
        (["--tenant", "others"], "request.tenant_mismatch"),
        (["--group", "others"], "request.groups_mismatch"),
        (["--challenge", "0" * 64], "request.challenge_mismatch"),
    ):
        assert code in found_codes(desk.check(bundle, "--json", *more, expect=3))
    printed = desk.check(bundle, "--json", expect=3, question="Another question?")
    assert "request.question_mismatch" in found_codes(printed)
    desk.check(bundle, "--any-question", expect=0, question=None)


def test_what_is_missing_is_named(desk: Desk) -> None:
    bundle = str(desk.ask("answer.json"))
    printed = desk.run("kansho-verify", "check", bundle, expect=4)
    for option in ("--trust-root",):
        assert option in printed
    root = ["--trust-root", str(desk.workspace / "trust-root.json")]
    printed = desk.run("kansho-verify", "check", bundle, *root, expect=4)
    for option in ("--question", "--published", "--sources"):
        assert option in printed


def test_a_superseded_generation_is_stale_also_when_the_contents_come_back(desk: Desk) -> None:
    first = desk.ask("first.json")
    original = HANDBOOK["refund.md"]
    desk.write("refund.md", original.replace("five", "nine"))
    desk.publish()
    assert "generation.superseded" in found_codes(desk.check(first, "--json", expect=5))
    desk.write("refund.md", original)
    desk.publish()
    assert "generation.superseded" in found_codes(desk.check(first, "--json", expect=5))
    desk.check(desk.ask("again.json"), expect=0)


def test_a_deletion_shows_before_anything_is_published(desk: Desk) -> None:
    bundle = desk.ask("answer.json")
    (desk.handbook / "refund.md").rename(desk.folder / "refund.md")
    desk.sign("ingest", str(desk.handbook))
    desk.check(bundle, "--sources", str(desk.folder), expect=0)
    desk.sign("ingest", str(desk.handbook), "--remove-missing")
    printed = desk.check(bundle, "--json", "--sources", str(desk.folder), expect=5)
    assert "live.document_deleted" in found_codes(printed)
    desk.ask("nothing.json", expect=4)


def test_a_change_of_rights_shows_before_anything_is_published(desk: Desk) -> None:
    bundle = desk.ask("answer.json")
    desk.sign("ingest", str(desk.handbook), "--allow", "staff")
    assert "live.document_blocked" in found_codes(desk.check(bundle, "--json", expect=5))
    desk.ask("nothing.json", "--group", "staff", expect=4)
    desk.sign("publish")
    desk.ask("nothing.json", expect=4)
    inside = desk.ask("inside.json", "--group", "staff")
    desk.check(inside, "--group", "staff", expect=0)
    assert "request.groups_mismatch" in found_codes(desk.check(inside, "--json", expect=3))


def test_nothing_of_another_corpus_passes(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Desk(tmp_path / "other")
    bundle = desk.ask("answer.json")
    other.check(bundle, expect=3)
    foreign = ["--published", str(other.workspace / "published")]
    desk.check(bundle, *foreign, expect=3)


def test_the_public_projection_verifies_alone(desk: Desk) -> None:
    bundle = desk.ask("answer.json")
    public = desk.folder / "public.json"
    desk.run("kansho-verify", "project", str(bundle), "-o", str(public), expect=0)
    assert "audit" not in json.loads(public.read_bytes())
    assert desk.run("kansho-verify", "project", str(bundle), "-o", "-", expect=0).encode() == public.read_bytes()
    desk.check(public, "--profile", "public", expect=0, question=None)
    printed = desk.check(public, "--json", expect=4)
    assert "section.audit_missing" in found_codes(printed)


def test_evidence_is_attested_or_refused_with_every_finding(desk: Desk) -> None:
    def attest(name: str, *excerpts: tuple[str, str], expect: int) -> str:
        evidence = [{"source_id": source, "excerpt": excerpt} for source, excerpt in excerpts]
        (desk.folder / name).write_text(json.dumps({"schema": "kansho.answer.v1", "evidence": evidence}))
        output = desk.folder / f"bundle-{name}"
        return desk.sign("attest", str(desk.folder / name), "-o", str(output), "--json", expect=expect)

    attest("good.json", ("refund.md", "five business days"), ("notes.txt", "noon.\n\nThe office"), expect=0)
    desk.check(desk.folder / "bundle-good.json", "--any-question", expect=0, question=None)
    desk.check(desk.folder / "bundle-good.json", expect=0, question="")
    bad = [
        ("refund.md", "nine business days"),
        ("nowhere.md", "Lunch"),
        ("refund.md", "Lunch is at noon."),
        ("a.md", ""),
    ]
    findings = json.loads(attest("bad.json", *bad, expect=3))["findings"]
    assert [(one["path"], one["code"]) for one in findings] == [
        ("evidence[0].excerpt", "unverified_excerpt"),
        ("evidence[1].excerpt", "unknown_source"),
        ("evidence[2].excerpt", "wrong_source"),
        ("evidence[3].excerpt", "unknown_source"),
    ]
    assert not (desk.folder / "bundle-bad.json").exists()


def test_the_same_call_gives_the_same_bytes(desk: Desk) -> None:
    fixed = ["--now", "2026-01-02T03:04:05Z", "--nonce", "0" * 32, "--challenge", "1" * 64]
    assert desk.ask("one.json", *fixed).read_bytes() == desk.ask("two.json", *fixed).read_bytes()


def test_hidden_documents_change_no_public_byte(desk: Desk) -> None:
    fixed = ["--now", "2026-01-02T03:04:05Z", "--nonce", "0" * 32, "--challenge", "1" * 64]
    before = json.loads(desk.ask("before.json", *fixed).read_bytes())
    secret = desk.folder / "secret"
    for text in ("Refunds take five business days. " * 50, "Nothing alike.\n", None):
        secret.mkdir(exist_ok=True)
        for path in secret.iterdir():
            path.unlink()
        if text is not None:
            (secret / "hidden.md").write_text(text)
        desk.sign("ingest", str(secret), "--allow", "board", "--remove-missing")
        desk.sign("publish")
        after = json.loads(desk.ask("after.json", *fixed).read_bytes())
        assert after["public"] == before["public"]
        assert after["audit"]["generation"] != before["audit"]["generation"]


def test_the_demo_tells_the_whole_story(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("kansho-sign")), "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "On your own files:" in done.stdout
    assert "(exit code 3)" in done.stdout
    assert list(tmp_path.iterdir()) == []
