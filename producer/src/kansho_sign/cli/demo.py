"""``kansho-sign demo``: the whole loop on this project's own documentation, in a temporary workspace."""

import json
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from importlib.resources import as_file, files
from pathlib import Path

import click

from kansho_sign.canonical_json import JsonObject, dumps, loads, sha256_hex
from kansho_sign.errors import StateError
from kansho_sign.evidence import Policy, UntrustedAnswer
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline.ask import ask
from kansho_sign.pipeline.attest import Attestation, attest
from kansho_sign.pipeline.ingest import Wanted, ingest
from kansho_sign.pipeline.publish import publish
from kansho_sign.pipeline.requests import Asker, write_bundle
from kansho_sign.pipeline.view import open_view
from kansho_sign.workspace import Workspace, create

__all__ = ["run_demo"]

QUESTION = "Why does the consumer never trust the self-hash of a bundle?"
REFUSED = 3
SHOWN_CHARACTERS = 300


def _verifier() -> str:
    beside = Path(sys.executable).with_name("kansho-verify")
    found = str(beside) if beside.is_file() else shutil.which("kansho-verify")
    if not found:
        raise StateError("demo.verifier", "kansho-verify is not installed", hint="pip install kansho-verify")
    return found


def _step(title: str) -> None:
    click.echo(f"\n== {title}")


def _run(verifier: str, folder: Path, *arguments: str) -> int:
    click.echo(f"$ {shlex.join(['kansho-verify', *arguments])}")
    # The command is this project's own, found beside this interpreter or on the PATH.
    finished = subprocess.run(  # noqa: S603
        [verifier, *arguments], cwd=folder, check=False, capture_output=True, text=True, timeout=120
    )
    click.echo(finished.stdout + finished.stderr, nl=False)
    click.echo(f"(exit code {finished.returncode})")
    return finished.returncode


def _asker(now: int) -> Asker:
    return Asker("default", ("public",), None, None, now, secrets.token_hex(16), secrets.token_hex(32))


def _tamper(bundle: JsonObject) -> JsonObject:
    """One word put into one claim, and the self-hash made anew as a forger would."""
    changed: JsonObject = loads(dumps(bundle), LIMITS.bundle_bytes, canonical=True)
    claim = changed["public"]["payload"]["claims"][0]
    words = claim["text"].split(" ")
    verb = words.index("is") if "is" in words else 0
    claim["text"] = " ".join([*words[: verb + 1], "not", *words[verb + 1 :]])
    del changed["bundle_sha256"]
    return {**changed, "bundle_sha256": sha256_hex(changed)}


def _sign_both(workspace: Workspace, sources: Path, folder: Path, now: int) -> JsonObject:
    _step("Ingest and publish this project's own documentation")
    summary = ingest(
        workspace, [sources], Wanted("default", ("public",), "document"), now=now, random=secrets.token_hex
    )
    made = publish(workspace, now)
    click.echo(f"{len(summary.accepted)} documents, {made.entries} index entries, generation {made.sequence}")
    with open_view(workspace, "default", ("public",)) as view:
        _step("Ask a question; the answer is wording from the sources, signed")
        wanted = Attestation(Policy.from_json(workspace.policy()))
        answered = ask(workspace, view, QUESTION, _asker(now), top_k=3)
        bundle = answered.bundle or {}
        click.echo(f"question: {QUESTION}\nstatus:   {answered.status}")
        for claim in bundle["public"]["payload"]["claims"]:
            words = textwrap.shorten(claim["text"], SHOWN_CHARACTERS, placeholder=" …")  # its own pages: no escapes
            click.echo(f"  “{words}”\n    at {claim['citations'][0]['document']}")
        write_bundle(workspace, bundle, folder / "answer.json")
        _step("Attest what a language model claims to have quoted")
        quote = view.derived("verification.md").text.split("\n\n")[1].split(". ")[0]
        untrusted = {"schema": "kansho.answer.v1", "evidence": [{"source_id": "verification.md", "excerpt": quote}]}
        click.echo(json.dumps(untrusted, indent=2))
        attested = attest(workspace, view, UntrustedAnswer.from_json(untrusted), _asker(now), wanted)
        write_bundle(workspace, attested.bundle or {}, folder / "attested.json")
        false = {
            **untrusted,
            "evidence": [{"source_id": "verification.md", "excerpt": quote.replace("is", "is not", 1)}],
        }
        refused = attest(workspace, view, UntrustedAnswer.from_json(false), _asker(now), wanted)
        click.echo(f"The true quote is signed. One 'not' slipped in: {refused.findings[0].finding}, nothing signed.")
    return bundle


LAST_WORDS = """\

What just happened: documents were read and derived into a signed generation; a question was answered with their
exact wording, and a model's quote was checked against them; a separate program, with nothing but the trust root and
its own copy of the sources, verified both answers, and refused a copy with one word put in.

On your own files:
  kansho-sign init my-workspace
  kansho-sign --workspace my-workspace ingest DOCUMENTS
  kansho-sign --workspace my-workspace publish
  kansho-sign --workspace my-workspace ask "QUESTION" -o answer.json
  kansho-verify check answer.json --trust-root my-workspace/trust-root.json \\
    --published my-workspace/published --sources DOCUMENTS --question "QUESTION"
"""


def run_demo() -> int:
    """Runs it and returns an exit code: 0, or 70 when anything came out otherwise than it must."""
    verifier, now = _verifier(), int(time.time())
    with tempfile.TemporaryDirectory(prefix="kansho-demo-") as name:
        folder = Path(name)
        with as_file(files("kansho_sign") / "documentation") as documentation:
            shutil.copytree(documentation, folder / "documents")
        _step("Make a workspace (for this demo with unencrypted keys)")
        workspace = create(folder / "workspace", issuer="kansho-demo", passphrase=None, now=now)
        click.echo(f"issuer {workspace.configuration.issuer}, corpus {workspace.configuration.corpus}")
        bundle = _sign_both(workspace, folder / "documents", folder, now)
        workspace.close()

        def check(bundle: str, *asked: str) -> int:
            against = ("--trust-root", "workspace/trust-root.json", "--published", "workspace/published")
            return _run(verifier, folder, "check", bundle, *against, "--sources", "documents", *asked)

        _step("Verify both with the separate command")
        codes = [check("answer.json", "--question", QUESTION), check("attested.json", "--any-question")]
        _step("Put one 'not' into the first claim, make the self-hash anew, verify again")
        (folder / "tampered.json").write_bytes(dumps(_tamper(bundle)))
        codes.append(check("tampered.json", "--question", QUESTION))
    if codes != [0, 0, REFUSED]:
        click.echo(f"error: the exit codes should be 0, 0 and {REFUSED}, not {codes}", err=True)
        return 70
    click.echo(LAST_WORDS, nl=False)
    return 0
