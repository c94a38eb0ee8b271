"""Plain files and folders as sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.sources.events import apply
from kansho_sign.sources.files import FoundFile, deletion_of, event_of_file, find_files, media_type_of
from kansho_sign.store import DocumentRow
from kansho_sign.workspace import Workspace
from tests.support.workspaces import ingest_it, live_of, make_workspace, publish_it, write_files

GOOD = {"ok.md": "# T\n\nGood text.\n"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "workspace")
    yield made
    made.close()


def names(workspace: Workspace) -> list[str]:
    """Every document that the store knows, with what only hangs on it."""
    with workspace.store.read() as c:
        return [row.document for row in workspace.store.documents(c) if not row.deleted]


def refusals(summary: Any) -> dict[str, str]:
    return {error.where.split(": ")[0]: error.code for error in summary.refused}


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("a.MARKDOWN", "text/markdown"),
        ("a.txt", "text/plain"),
        ("a.Text", "text/plain"),
        ("a.b.md", "text/markdown"),
        ("a", None),
        (".md", None),
        ("a.md.bak", None),
        ("a.html", None),
        ("a.", None),
    ],
)
def test_media_types(name: str, media_type: str | None) -> None:
    assert media_type_of(Path(name)) == media_type


def test_what_is_found(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "in",
        {
            "b.md": "b",
            "a/c.txt": "c",
            "a/.hidden.md": "h",
            ".git/x.md": "x",
            "a.md/d.md": "d",
            "note.pdf": "p",
            "e.jsonl": "e",
            "Ü b.md": "u",
        },
    )
    (folder / "empty").mkdir()
    found = find_files([folder])
    assert [file.document for file in found.files] == ["a/c.txt", "a.md/d.md", "b.md", "Ü b.md"]
    assert sorted(path.name for path in found.passed_over) == ["e.jsonl", "note.pdf"]
    assert not found.refused
    assert found.folders == [folder]
    assert [file.document for file in find_files([folder / "b.md"], "p/").files] == ["p/b.md"]
    assert find_files([folder]).files == found.files


def test_decomposed_names_give_composed_ids(tmp_path: Path) -> None:
    """HFS+ decomposes; the id does not depend on the file system."""
    folder = write_files(tmp_path / "in", {"e\u0301.md": "x"})
    (file,) = find_files([folder]).files
    assert file.document == "é.md"
    assert file.path.name == "e\u0301.md"


def test_two_normal_forms_of_one_name_collide(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"e\u0301.md": "x", "é.md": "y", **GOOD})
    found = find_files([folder])
    assert [file.document for file in found.files] == ["ok.md"]
    assert [error.code for error in found.refused] == ["ingest.collision"] * 2


def test_collisions_between_folders(tmp_path: Path) -> None:
    one, two = write_files(tmp_path / "1", {"a.md": "x"}), write_files(tmp_path / "2", {"a.md": "x", **GOOD})
    found = find_files([one, two])
    assert [file.document for file in found.files] == ["ok.md"]
    assert {error.code for error in found.refused} == {"ingest.collision"}
    assert "a.md" in found.documents
    assert len(find_files([one, one, one / "a.md", tmp_path / "1" / ".." / "1"]).files) == 1


def test_symbolic_links(tmp_path: Path, workspace: Workspace) -> None:
    outside = write_files(tmp_path / "outside", {"secret.md": "secret"})
    folder = write_files(tmp_path / "in", {**GOOD, "sub/real.md": "real"})
    (folder / "in.md").symlink_to("sub/real.md")
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "up.md").symlink_to("../outside/secret.md")
    (folder / "nowhere.md").symlink_to("nothing")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "one.md").symlink_to("two.md")
    (folder / "two.md").symlink_to("one.md")
    (folder / "linked").symlink_to(outside)
    (folder / "linked.md").symlink_to(outside)
    (folder / "prefix.md").symlink_to(tmp_path / "in-other")
    write_files(tmp_path, {"in-other": "not inside"})
    summary = ingest_it(workspace, folder)
    assert names(workspace) == ["in.md", "ok.md", "sub/real.md"]
    bad = ("out.md", "up.md", "nowhere.md", "loop.md", "one.md", "two.md", "linked.md", "prefix.md")
    assert refusals(summary) == {str(folder / name): "ingest.symlink" for name in bad}
    assert [path.name for path in summary.passed_over] == ["linked"]


def test_a_linked_folder_that_is_named_is_followed(tmp_path: Path, workspace: Workspace) -> None:
    write_files(tmp_path / "in", GOOD)
    (tmp_path / "link").symlink_to("in")
    ingest_it(workspace, tmp_path / "link")
    assert names(workspace) == ["ok.md"]


def test_bad_files_block_no_good_ones_and_leave_nothing(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_files(
        tmp_path / "in",
        {
            **GOOD,
            "binary.md": b"\x00\x01",
            "latin.md": b"caf\xe9",
            "utf16.txt": "text".encode("utf-16"),
            "unassigned.md": "\u0378",
            "marks.md": "a" + "\u0301" * 300,
            "zero.md": b"a\x00b",
            "CON.md": "device",
            "a:b.md": "colon",
            "a\nb.md": "line",
            "a\u202eb.md": "bidi",
            "a\u00a0b.md": "no-break",
            "dot./x.md": "dot",
            " x.md": "space",
            "x" * 200 + "/" + "y" * 200 + "/" + "z" * 200 + ".md": "long",
            "漢" * 80 + "/" + "字" * 80 + "/" + "漢" * 80 + ".md": "a uri beyond the limit",
            "huge.txt": b"x" * (LIMITS.source_bytes + 1),
            "empty.md": "",
        },
    )
    (folder / os.fsdecode(b"\xff\xfe.md")).write_text("not UTF-8")
    os.mkfifo(folder / "pipe.md")
    summary = ingest_it(workspace, folder)
    assert names(workspace) == ["empty.md", "ok.md"]
    codes = {Path(where).name: code for where, code in refusals(summary).items()}
    assert codes.pop("pipe.md") == "input.not_a_file"
    assert codes.pop("huge.txt") == "limits.bytes"
    expected = {"binary.md": "text.nul", "zero.md": "text.nul", "latin.md": "text.utf8", "utf16.txt": "text.utf8"}
    expected |= {"unassigned.md": "text.unassigned", "marks.md": "text.nonstarter_run"}
    for name, code in expected.items():
        assert codes.pop(name) == code
    assert set(codes.values()) == {"name.document", "name.source_uri"}
    assert len(codes) == 10
    with workspace.store.read() as c:
        assert c.exec_driver_sql("select count(*) from event").scalar() == 2
        assert c.exec_driver_sql("select count(*) from blob").scalar() == 2
    assert publish_it(workspace).documents == 2


def test_unreadable_folders(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is named; what was known of it is not taken for deleted."""
    folder = write_files(tmp_path / "in", {**GOOD, "closed/a.md": "a", "open/b.md": "b"})
    ingest_it(workspace, folder)
    scandir = os.scandir

    def closed(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    (folder / "open" / "b.md").unlink()
    summary = ingest_it(workspace, folder, remove_missing=True)
    assert refusals(summary) == {str(folder / "closed"): "input.unreadable"}
    assert names(workspace) == ["closed/a.md", "ok.md", "open/b.md"]
    monkeypatch.undo()
    ingest_it(workspace, folder, remove_missing=True)
    assert names(workspace) == ["closed/a.md", "ok.md"]


def test_paths_that_are_nothing(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_files(tmp_path / "in", GOOD)
    (tmp_path / "loop").symlink_to("loop")
    bad = [tmp_path / "missing", tmp_path / ("x" * 5_000), tmp_path / "loop", folder / "ok.md" / "below"]
    summary = ingest_it(workspace, *bad, folder)
    assert set(refusals(summary)) == {str(path) for path in bad}
    assert set(refusals(summary).values()) == {"input.unreadable"}
    assert names(workspace) == ["ok.md"]


def test_deep_folders(tmp_path: Path, workspace: Workspace) -> None:
    """Deeper than Python calls functions."""
    folder = write_files(tmp_path / "in", GOOD)
    made: list[Path] = []
    place = folder
    for _ in range(1_500):
        place /= "d"
        if len(str(place)) > 3_800:
            break
        place.mkdir()
        made.append(place)
    try:
        assert len(made) > 1_000
        (made[100] / "x.md").write_text("deep")
        ingest_it(workspace, folder)
        assert len(names(workspace)) == 2
        (made[100] / "x.md").unlink()
    finally:
        for one in reversed(made):
            one.rmdir()


@pytest.mark.parametrize(
    "base", ["https://u:p@h/", "https://h/?x=", "https://h/ä/", "https://h/ /", "x" * 2_100, "https://h\n/"]
)
def test_base_uris_that_may_not_become_public(tmp_path: Path, workspace: Workspace, base: str) -> None:
    summary = ingest_it(workspace, write_files(tmp_path / "in", GOOD), base_uri=base)
    assert set(refusals(summary).values()) == {"name.source_uri"}
    assert names(workspace) == []


def test_events_of_a_file(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"a.md": "text"}) / "a.md"
    file = FoundFile(path, "a.md", "origin")
    who: dict[str, Any] = {"tenant": "t", "groups": ("g",), "role": "document", "base_uri": ""}

    def event(current: DocumentRow | None, **changes: Any) -> Any:
        return event_of_file(file, current, **{**who, **changes})

    first = event(None)
    assert (first.sequence, first.source_version, first.source_uri, first.raw) == (1, "1", "a.md", b"text")
    row = apply(None, first, "0" * 32).row
    assert event(row) is None
    for change in ({"groups": ("h",)}, {"role": "note"}, {"base_uri": "https://h/"}):
        second = event(row, **change)
        assert second.sequence == 2
        assert second.event_id != first.event_id
    path.write_text("other")
    assert event(row).sequence == 2
    assert row is not None
    deletion = deletion_of(row)
    assert (deletion.is_delete, deletion.sequence) == (True, 2)
    gone = apply(row, deletion, "1" * 32).row
    assert event(gone).sequence == 3
    with pytest.raises(InputError) as caught:
        event_of_file(FoundFile(tmp_path / "a.pdf", "a.pdf", "o"), None, **who)
    assert caught.value.code == "source.media_type"


def test_gone_files(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_files(tmp_path / "in", {**GOOD, "old.md": "old"})
    other = write_files(tmp_path / "other", {"else.md": "else"})
    ingest_it(workspace, folder, other)
    publish_it(workspace)
    (folder / "old.md").unlink()
    summary = ingest_it(workspace, folder)
    assert summary.gone == ["old.md"]
    assert names(workspace) == ["else.md", "ok.md", "old.md"]
    assert not live_of(workspace)["tombstones"]
    assert ingest_it(workspace, folder, remove_missing=True, tenant="another").gone == []
    assert ingest_it(workspace, other, remove_missing=True).gone == []
    assert ingest_it(workspace, folder, remove_missing=True, prefix="p/").gone == []
    assert "old.md" in names(workspace)
    summary = ingest_it(workspace, folder, remove_missing=True)
    assert [one.document for one in summary.accepted if one.effect == "deleted"] == ["old.md"]
    assert "old.md" not in names(workspace)
    assert len(live_of(workspace)["tombstones"]) == 1
