"""Ingest, publish and what consumers read, through the library (docs/spec/lifecycle.md)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from kansho_sign.cose import statement_sha256
from kansho_sign.document_map import document_key
from kansho_sign.errors import FaultError, KanshoError, StateError
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline import ingest as ingest_module
from kansho_sign.pipeline import publish as publish_module
from kansho_sign.pipeline.ingest import Summary
from kansho_sign.pipeline.publish import Published, export
from kansho_sign.store import Store
from kansho_sign.workspace import DAY, Workspace, find
from tests.support.workspaces import (
    NOW,
    ask_it,
    event_line,
    ingest_it,
    live_of,
    make_workspace,
    publish_it,
    write_files,
)

FILES = {"refund.md": "# Refunds\n\nRefunds take ten days.\n", "parking.txt": "Parking is free.\n"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "workspace")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "in", FILES)


def effects(summary: Summary) -> dict[str, str]:
    return {one.document: str(one.effect) for one in summary.accepted}


def events(folder: Path, *lines: bytes, name: str = "events.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def cited(workspace: Workspace, **who: Any) -> list[str]:
    """The documents that answer a question about each of the two."""
    found = set()
    for question in ("Refunds take ten days", "Parking is free"):
        bundle = ask_it(workspace, question, **who).bundle
        assert bundle is not None
        claims = bundle["public"]["payload"]["claims"]
        found |= {citation["document"] for claim in claims for citation in claim["citations"]}
    return sorted(found)


def key_of(workspace: Workspace, name: str, tenant: str = "default") -> str:
    with workspace.store.read() as c:
        return document_key(bytes.fromhex(workspace.store.setting(c, "map_salt")), tenant, name)


def generation_of(workspace: Workspace) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((workspace.published / "generation.json").read_bytes())["payload"]
    return payload


def test_nothing_is_answered_before_a_publication(workspace: Workspace, folder: Path) -> None:
    assert effects(ingest_it(workspace, folder)) == {"refund.md": "new", "parking.txt": "new"}
    assert not list(workspace.published.iterdir())
    with pytest.raises(StateError) as caught:
        ask_it(workspace, "refunds")
    assert caught.value.code == "publish.missing"
    publish_it(workspace)
    assert cited(workspace) == ["parking.txt", "refund.md"]


def test_an_empty_workspace_can_be_published(workspace: Workspace) -> None:
    made = publish_it(workspace)
    assert (made.sequence, made.documents, made.entries, made.renewed) == (1, 0, 0, False)
    assert generation_of(workspace)["document_map_root"] == "0" * 64
    assert ask_it(workspace, "refunds").status == "insufficient_evidence"


def test_what_is_ingested_again(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    assert effects(ingest_it(workspace, folder)) == {"refund.md": "unchanged", "parking.txt": "unchanged"}
    before = live_of(workspace)
    (folder / "refund.md").write_text("# Refunds\n\nRefunds take nine days.\n")
    assert effects(ingest_it(workspace, folder)) == {"refund.md": "changed", "parking.txt": "unchanged"}
    assert live_of(workspace) == before, "the published revision keeps serving"
    answer = ask_it(workspace, "refunds").bundle
    assert answer is not None
    assert answer["public"]["payload"]["claims"][0]["text"] == "Refunds take ten days."
    publish_it(workspace)
    answer = ask_it(workspace, "refunds").bundle
    assert answer is not None
    assert answer["public"]["payload"]["claims"][0]["text"] == "Refunds take nine days."
    assert answer["public"]["payload"]["claims"][0]["citations"][0]["source_version"] == "2"


@pytest.mark.parametrize("groups", [["staff"], ["public", "staff"], ["staff", "z"]])
def test_a_changed_acl_blocks_at_once(workspace: Workspace, folder: Path, groups: list[str]) -> None:
    """Tightened, widened or replaced: nobody reads it until it is published again, in the old group or the new."""
    ingest_it(workspace, folder)
    publish_it(workspace)
    before = live_of(workspace)
    assert before["blocked"] == []
    assert effects(ingest_it(workspace, folder / "refund.md", groups=groups)) == {"refund.md": "access_changed"}
    live = live_of(workspace)
    assert live["blocked"] == [key_of(workspace, "refund.md")]
    assert live["sequence"] == before["sequence"] + 1
    assert cited(workspace) == ["parking.txt"]
    assert cited(workspace, groups=["public", "staff"]) == ["parking.txt"]
    # And back: a third state, blocked as well.
    ingest_it(workspace, folder / "refund.md", seed="again")
    assert live_of(workspace)["blocked"] == [key_of(workspace, "refund.md")]
    assert cited(workspace) == ["parking.txt"]
    publish_it(workspace)
    assert live_of(workspace)["blocked"] == []
    assert cited(workspace) == ["parking.txt", "refund.md"]


def test_a_folder_elsewhere_takes_its_documents_along(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    ingest_it(workspace, folder)
    other = tmp_path / "elsewhere"
    shutil.copytree(folder, other)
    (other / "refund.md").write_text("# Refunds\n\nAnother text.\n")
    summary = ingest_it(workspace, other)
    assert summary.moved == ["refund.md"], "what is replaced is said; what is the same is not"
    assert ingest_it(workspace, other).moved == []
    (other / "refund.md").unlink()
    unchanged = next(path for path in other.iterdir() if path.is_file())
    unchanged.unlink()
    assert sorted(ingest_it(workspace, other).gone) == sorted(["refund.md", unchanged.name])


def test_a_workspace_inside_its_documents_is_none_of_them(tmp_path: Path) -> None:
    made = make_workspace(write_files(tmp_path / "docs", {"a.md": "A text.\n", "keys.md": "Keys.\n"}))
    publish_it(made)
    summary = ingest_it(made, made.folder)
    assert sorted(one.document for one in summary.accepted) == ["a.md", "keys.md"]
    assert summary.passed_over == []
    made.close()


def test_delete_resurrection(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    key = key_of(workspace, "refund.md")
    original = (folder / "refund.md").read_text()
    (folder / "refund.md").unlink()
    assert effects(ingest_it(workspace, folder, remove_missing=True))["refund.md"] == "deleted"
    assert live_of(workspace)["tombstones"] == [{"document_key": key, "event_sequence": 2}]
    assert cited(workspace) == ["parking.txt"]
    (folder / "refund.md").write_text(original)
    assert effects(ingest_it(workspace, folder, seed="again"))["refund.md"] == "restored"
    assert cited(workspace) == ["parking.txt"], "blocked until published"
    assert live_of(workspace)["tombstones"] == [{"document_key": key, "event_sequence": 2}]
    publish_it(workspace)
    assert cited(workspace) == ["parking.txt", "refund.md"]
    live = live_of(workspace)
    assert live["tombstones"] == [{"document_key": key, "event_sequence": 2}]
    assert live["blocked"] == []
    answer = ask_it(workspace, "refunds").bundle
    assert answer is not None
    assert answer["audit"]["payload"]["documents"][0]["event_sequence"] == 3


def test_a_deleted_document_is_published_as_a_tombstone(workspace: Workspace, folder: Path) -> None:
    path = events(folder, event_line(kind="delete", document="never.txt", event_id="d", sequence=7))
    assert effects(ingest_it(workspace, path)) == {"never.txt": "deleted"}
    publish_it(workspace)
    assert live_of(workspace)["tombstones"] == [{"document_key": key_of(workspace, "never.txt"), "event_sequence": 7}]
    assert generation_of(workspace)["document_count"] == 0


def test_publishing_without_change_renews_the_live_state_alone(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    first = publish_it(workspace)
    bytes_before = (workspace.published / "generation.json").read_bytes()
    live = live_of(workspace)
    again = publish_it(workspace, NOW + 60)
    assert (again.renewed, again.sequence, again.generation) == (True, first.sequence, first.generation)
    assert (workspace.published / "generation.json").read_bytes() == bytes_before
    renewed = live_of(workspace)
    assert (renewed["sequence"], renewed["issued_at"]) == (live["sequence"] + 1, NOW + 60)
    assert renewed["generation"] == live["generation"]
    late = publish_it(workspace, NOW + 90 * DAY)
    assert (late.renewed, late.sequence, late.generation) == (False, 2, first.generation)


def test_chains(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    first, live = generation_of(workspace), live_of(workspace)
    (folder / "parking.txt").write_text("Parking costs.\n")
    ingest_it(workspace, folder)
    publish_it(workspace)
    second = generation_of(workspace)
    assert first["previous_sha256"] is None
    assert (second["sequence"], second["previous_sha256"]) == (2, statement_sha256(first))
    assert live_of(workspace)["previous_sha256"] == statement_sha256(live)
    assert live_of(workspace)["generation"] == {"sequence": 2, "statement_sha256": statement_sha256(second)}


def test_a_raced_publication_is_refused(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder / "refund.md")
    other = find(workspace.folder, lambda: None)

    def meanwhile(_total: int, _document: str) -> None:
        ingest_it(other, folder / "parking.txt")

    with pytest.raises(StateError) as caught:
        publish_module.publish(workspace, NOW, meanwhile)
    other.close()
    assert caught.value.code == "publish.raced"
    assert not list(workspace.published.iterdir())
    assert publish_it(workspace).documents == 2


def test_two_publications_at_once(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    other = find(workspace.folder, lambda: None)
    done: list[Published] = []

    def meanwhile(_total: int, _document: str) -> None:
        if not done:
            done.append(publish_it(other))

    with pytest.raises(StateError) as caught:
        publish_module.publish(workspace, NOW, meanwhile)
    other.close()
    assert caught.value.code == "publish.raced"
    assert generation_of(workspace)["sequence"] == 1


class KilledError(BaseException):
    """Stands for SIGKILL: nothing handles it."""


@pytest.mark.parametrize("repair", ["ingest", "publish", "ask"])
def test_a_kill_between_commit_and_export_is_repaired(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch, repair: str
) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    before = live_of(workspace)

    def killed(_workspace: Workspace) -> None:
        raise KilledError

    monkeypatch.setattr(ingest_module, "export", killed)
    (folder / "refund.md").unlink()
    with pytest.raises(KilledError):
        ingest_it(workspace, folder, remove_missing=True)
    monkeypatch.undo()
    assert live_of(workspace) == before, "nothing was written"
    if repair == "ingest":
        ingest_it(workspace, folder)
    elif repair == "publish":
        publish_it(workspace)
    else:
        ask_it(workspace, "anything else")
    assert live_of(workspace)["tombstones"] == [{"document_key": key_of(workspace, "refund.md"), "event_sequence": 2}]


def test_a_killed_publication_is_whole_in_the_store(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_it(workspace, folder)
    written: list[Path] = []

    def killed(path: Path, *_: object, **__: object) -> None:
        written.append(path)
        raise KilledError

    monkeypatch.setattr(publish_module, "write_whole", killed)
    with pytest.raises(KilledError):
        publish_it(workspace)
    monkeypatch.undo()
    assert written == [workspace.published / "generation.json"], "the generation goes before the live state"
    export(workspace)
    assert generation_of(workspace)["sequence"] == live_of(workspace)["generation"]["sequence"] == 1


def test_export_writes_only_what_differs(workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    data = (workspace.published / "live.json").read_bytes()
    (workspace.published / "live.json").write_bytes(data[:-1])
    export(workspace)
    assert (workspace.published / "live.json").read_bytes() == data
    monkeypatch.setattr(publish_module, "write_whole", lambda *_: pytest.fail("nothing differs"))
    export(workspace)


def test_a_kill_inside_the_transaction_leaves_the_old_state(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)

    def killed(*_: object) -> None:
        raise KilledError

    monkeypatch.setattr(ingest_module, "renew_live", killed)
    (folder / "refund.md").unlink()
    with pytest.raises(KilledError):
        ingest_it(workspace, folder, remove_missing=True)
    monkeypatch.undo()
    assert cited(workspace) == ["parking.txt", "refund.md"]
    monkeypatch.setattr(Store, "replace_published", killed)
    (folder / "new.txt").write_text("New.")
    ingest_it(workspace, folder)
    with pytest.raises(KilledError):
        publish_it(workspace)
    monkeypatch.undo()
    assert generation_of(workspace)["sequence"] == 1
    assert publish_it(workspace).sequence == 2


def test_a_key_that_is_missing_changes_nothing(workspace: Workspace, folder: Path) -> None:
    """What must be signed and cannot be is not done: a delete is refused whole."""
    ingest_it(workspace, folder)
    publish_it(workspace)
    fresh = find(workspace.folder, lambda: None)
    (workspace.folder / "keys" / "live.pem").rename(workspace.folder / "live.pem")
    (folder / "refund.md").unlink()
    with pytest.raises(KanshoError) as caught:
        ingest_it(fresh, folder, remove_missing=True)
    assert caught.value.code == "keys.unreadable"
    assert cited(fresh) == ["parking.txt", "refund.md"]
    fresh.close()


def test_event_ids_are_bound_for_ever(workspace: Workspace, folder: Path) -> None:
    first_line = event_line()
    path = events(
        folder,
        first_line,
        first_line,
        event_line(document="other.txt"),
        event_line(sequence=2),
        event_line(content="x"),
        event_line(groups=["staff"]),
        event_line(tenant="other"),
        event_line(kind="delete"),
    )
    summary = ingest_it(workspace, path)
    assert [str(one.effect) for one in summary.accepted] == ["new", "repeated"]
    assert [error.code for error in summary.refused] == ["event.id_rebound"] * 6
    assert [error.where.split(": ")[0] for error in summary.refused] == [f"{path}:{number}" for number in range(3, 9)]


def test_a_stale_event_binds_its_id_and_a_conflict_does_not(workspace: Workspace, folder: Path) -> None:
    path = events(
        folder,
        event_line(sequence=5),
        event_line(sequence=3, event_id="old", content="x"),
        event_line(sequence=9, event_id="old", content="x"),
        event_line(sequence=5, event_id="conflict", content="x"),
        event_line(sequence=6, event_id="conflict", content="x"),
    )
    summary = ingest_it(workspace, path)
    assert [str(one.effect) for one in summary.accepted] == ["new", "stale", "changed"]
    assert [error.code for error in summary.refused] == ["event.id_rebound", "event.sequence_conflict"]


def test_bad_lines_block_no_good_ones(workspace: Workspace, folder: Path) -> None:
    path = events(
        folder,
        b"",
        b"not json",
        event_line(),
        b"   ",
        event_line(event_id="2", document="a.pdf", media_type="application/pdf"),
        event_line(event_id="3", document="b.txt", content="\x00"),
        event_line(event_id="4", document="POLICY.txt"),
        event_line(event_id="5", document="c.txt", tenant="other") + b"\r",
        event_line(event_id="6", document="POLICY.TXT", tenant="other"),
    )
    summary = ingest_it(workspace, path)
    assert effects(summary) == {"policy.txt": "new", "c.txt": "new", "POLICY.TXT": "new"}
    codes = [error.code for error in summary.refused]
    assert codes == ["json.syntax", "source.media_type", "text.nul", "name.conflict"]
    with workspace.store.read() as c:
        assert c.exec_driver_sql("select count(*) from event").scalar() == 3


def test_a_line_beyond_the_limit(workspace: Workspace, folder: Path) -> None:
    long = b"x" * (2 * LIMITS.event_line_bytes + 10)
    second = event_line(event_id="2", document="b.txt")
    path = events(folder, long, event_line(), b"x" * LIMITS.event_line_bytes, second, long)
    summary = ingest_it(workspace, path)
    assert effects(summary) == {"policy.txt": "new", "b.txt": "new"}
    places = [(error.code, error.where.rsplit(":", 1)[1]) for error in summary.refused]
    assert places == [("limits.bytes", "1"), ("limits.bytes", "3"), ("limits.bytes", "5")]


def test_event_files_that_are_none(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    summary = ingest_it(workspace, tmp_path / "folder.jsonl", tmp_path / "missing.jsonl")
    assert [error.code for error in summary.refused] == ["input.not_a_file", "input.unreadable"]


def test_metadata_alone_changes_the_revision(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, events(folder, event_line()))
    first = publish_it(workspace)
    ingest_it(workspace, events(folder, event_line(event_id="2", sequence=2, source_version="2")))
    second = publish_it(workspace)
    assert first.generation != second.generation
    ingest_it(workspace, events(folder, event_line(event_id="3", sequence=3, source_version="2")))
    assert publish_it(workspace).renewed, "a moved sequence invents no version"


def test_tenants_are_apart(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    ingest_it(workspace, folder / "refund.md", tenant="other", seed="other")
    publish_it(workspace)
    assert cited(workspace) == ["parking.txt", "refund.md"]
    assert cited(workspace, tenant="other") == ["refund.md"]
    assert key_of(workspace, "refund.md") != key_of(workspace, "refund.md", "other")
    (folder / "refund.md").unlink()
    ingest_it(workspace, folder, remove_missing=True)
    assert cited(workspace, tenant="other") == ["refund.md"]
    assert cited(workspace, tenant="none") == []


def test_groups(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder, groups=["a", "b"])
    publish_it(workspace)
    for groups, seen in ((["a"], 2), (["b", "x"], 2), (["public"], 0), (["A"], 0), (["ab"], 0)):
        assert len(cited(workspace, groups=groups)) == seen


def test_a_damaged_store_is_a_fault(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    with workspace.store.write() as c:
        c.execute(sa.text("update blob set content = x'00'"))
    with pytest.raises(KanshoError) as caught:
        ask_it(workspace, "refunds")
    assert caught.value.code == "source.raw_mismatch"
    with workspace.store.write() as c:
        c.execute(sa.text("delete from blob"))
    with pytest.raises(FaultError) as fault:
        ask_it(workspace, "refunds")
    assert fault.value.code == "store.damaged"
    with workspace.store.write() as c:
        c.execute(sa.text("drop table published_entry"))
    with pytest.raises(FaultError) as fault:
        ask_it(workspace, "refunds")
    assert fault.value.code == "store.failed"


def test_entries_that_are_not_what_the_source_derives(workspace: Workspace, folder: Path) -> None:
    ingest_it(workspace, folder)
    publish_it(workspace)
    with workspace.store.write() as c:
        c.execute(sa.text("update published_entry set entry = 'idx_' || substr(entry, 5) || 'x'"))
    with pytest.raises(FaultError) as caught:
        ask_it(workspace, "refunds")
    assert caught.value.code == "store.damaged"


def test_a_folder_that_cannot_be_written(workspace: Workspace, folder: Path) -> None:
    """The store has it, the files have not: the failure is a fault, and the next command repairs it."""
    ingest_it(workspace, folder)
    shutil.rmtree(workspace.published)
    workspace.published.write_text("in the way")
    with pytest.raises(FaultError) as caught:
        publish_it(workspace)
    assert caught.value.code == "output.failed"
    workspace.published.unlink()
    workspace.published.mkdir()
    assert cited(workspace) == ["parking.txt", "refund.md"]
    assert generation_of(workspace)["sequence"] == 1


def test_what_is_stored_must_be_what_was_built(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Store.replace_published

    def forgetful(store: Store, c: Any, documents: Any, entries: Any) -> None:
        replace(store, c, documents, entries[1:])

    ingest_it(workspace, folder)
    monkeypatch.setattr(Store, "replace_published", forgetful)
    with pytest.raises(FaultError) as caught:
        publish_it(workspace)
    assert caught.value.code == "publish.stored"
    monkeypatch.undo()
    assert not list(workspace.published.iterdir())
    assert publish_it(workspace).sequence == 1
