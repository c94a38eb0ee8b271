"""Small workspaces with fixed test keys, made quickly, for tests of the producer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from kansho_sign.errors import KanshoError
from kansho_sign.evidence import Policy, UntrustedAnswer
from kansho_sign.keys import save_key
from kansho_sign.pipeline.ask import ask
from kansho_sign.pipeline.attest import Attestation, attest
from kansho_sign.pipeline.ingest import Summary, Wanted, ingest
from kansho_sign.pipeline.publish import Published, publish
from kansho_sign.pipeline.requests import Answer, Asker
from kansho_sign.pipeline.view import open_view
from kansho_sign.workspace import NEWCOMER_POLICY, Workspace, create
from tests.support.fixed_test_keys import CountingRandom, fixed_secrets

NOW = 1_800_000_000
CHALLENGE = "c0" * 32
NONCE = "9e" * 16
ISSUER = "Test issuer"

__all__ = [
    "CHALLENGE",
    "ISSUER",
    "NONCE",
    "NOW",
    "answer_json",
    "ask_it",
    "asker",
    "attest_it",
    "event_line",
    "ingest_it",
    "live_of",
    "make_workspace",
    "publish_it",
    "refused",
    "save_key",
    "write_files",
]


def make_workspace(folder: Path, name: str = "producer tests") -> Workspace:
    """A workspace whose keys, corpus and map salt are the same in every run."""
    return create(folder, issuer=ISSUER, passphrase=None, now=NOW, made=fixed_secrets(name))


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files by relative path; the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return folder


def ingest_it(
    workspace: Workspace,
    *paths: Path,
    groups: Sequence[str] = ("public",),
    tenant: str = "default",
    role: str = "document",
    remove_missing: bool = False,
    prefix: str = "",
    base_uri: str = "",
    now: int = NOW,
    seed: str = "salt",
) -> Summary:
    """Ingests with salts that ``seed`` fixes."""
    wanted = Wanted(tenant, tuple(sorted(set(groups))), role, prefix, base_uri, remove_missing)
    return ingest(workspace, paths, wanted, now=now, random=CountingRandom(seed))


def publish_it(workspace: Workspace, now: int = NOW) -> Published:
    """Publishes at a fixed time."""
    return publish(workspace, now)


def asker(groups: Sequence[str] = ("public",), tenant: str = "default", now: int = NOW) -> Asker:
    """A request whose random values are fixed."""
    return Asker(tenant, tuple(groups), None, None, now, NONCE, CHALLENGE)


def ask_it(
    workspace: Workspace, question: str, *, groups: Sequence[str] = ("public",), tenant: str = "default", top_k: int = 5
) -> Answer:
    """Asks, everything fixed."""
    who = asker(groups, tenant)
    with open_view(workspace, who.tenant, who.groups) as view:
        return ask(workspace, view, question, who, top_k=top_k)


def answer_json(*evidence: tuple[str, str], **members: Any) -> dict[str, Any]:
    """An untrusted answer with (source id, excerpt) pairs."""
    items = [{"source_id": source, "excerpt": excerpt} for source, excerpt in evidence]
    return {"schema": "kansho.answer.v1", "evidence": items, **members}


def attest_it(
    workspace: Workspace,
    answer: Mapping[str, Any],
    *,
    groups: Sequence[str] = ("public",),
    sign_rejection: bool = False,
    **policy: Any,
) -> Answer:
    """Attests under the newcomer's policy with the given members changed."""
    who = asker(groups)
    wanted = Attestation(Policy.from_json({**NEWCOMER_POLICY, **policy}), sign_rejection=sign_rejection)
    with open_view(workspace, who.tenant, who.groups) as view:
        return attest(workspace, view, UntrustedAnswer.from_json(dict(answer)), who, wanted)


def live_of(workspace: Workspace) -> dict[str, Any]:
    """The payload of the exported live state."""
    payload: dict[str, Any] = json.loads((workspace.published / "live.json").read_bytes())["payload"]
    return payload


def event_line(**changes: Any) -> bytes:
    """One line of JSON Lines; a member that is None is left out. A correct hash unless one is given."""

    content = changes.get("content", "Refunds take ten days.\n")
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else b""
    event: dict[str, Any] = {
        "schema": "kansho.source-event.v1",
        "event_id": "e-1",
        "kind": "upsert",
        "connector": "tests",
        "tenant": "default",
        "document": "policy.txt",
        "sequence": 1,
        "source_uri": "https://example.org/policy.txt",
        "source_version": "1",
        "role": "document",
        "media_type": "text/plain",
        "groups": ["public"],
        "content": content,
        "raw_sha256": hashlib.sha256(raw).hexdigest(),
    }
    if changes.get("kind") == "delete":
        for name in (
            "source_uri",
            "source_version",
            "role",
            "media_type",
            "groups",
            "content",
            "raw_sha256",
        ):
            del event[name]
    event.update(changes)
    return json.dumps({name: value for name, value in event.items() if value is not None}).encode()


def refused(error: KanshoError, *codes: str) -> None:
    """Fails unless the error's code is one of these."""
    if error.code not in codes:
        fail(f"{error.code} is none of {codes}: {error}")


def fail(why: str) -> NoReturn:
    """An assertion of a helper: holds under -O."""
    raise AssertionError(why)
