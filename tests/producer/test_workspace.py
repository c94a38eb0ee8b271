"""The workspace folder, its files, and writing them whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from kansho_sign import workspace as workspace_module
from kansho_sign.cose import statement_sha256
from kansho_sign.errors import FaultError, InputError, KanshoError, UsageError
from kansho_sign.keys import ROLES, save_key
from kansho_sign.output import open_regular, read_bounded, write_new, write_whole
from kansho_sign.schema import validate
from kansho_sign.workspace import DAY, Workspace, create, find, load_policy
from tests.support.fixed_test_keys import fixed_secrets
from tests.support.workspaces import ISSUER, NOW, ask_it, ingest_it, make_workspace, publish_it, write_files

NAMES = ["keys", "kansho.toml", "policy.json", "published", "store.sqlite3", "trust-root.json"]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "w")
    yield made
    made.close()


def opened(folder: Path) -> None:
    find(folder, lambda: None).close()


def code_of(folder: Path) -> str | None:
    try:
        opened(folder)
    except KanshoError as error:
        if str(folder) not in error.where:
            pytest.fail(f"the message does not say where: {error}")
        return error.code
    return None


def test_what_init_leaves(workspace: Workspace) -> None:
    folder = workspace.folder
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
    assert sorted(path.stem for path in (folder / "keys").iterdir()) == sorted(ROLES)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [*folder.iterdir(), *(folder / "keys").iterdir()]}
    assert modes[folder / "keys"] == 0o700
    assert {mode for path, mode in modes.items() if path.suffix == ".pem"} == {0o600}
    assert modes[folder / "store.sqlite3"] == 0o600
    assert list(folder.parent.iterdir()) == [folder]
    statement = json.loads((folder / "trust-root.json").read_bytes())
    validate(statement, "trust-root")
    payload = statement["payload"]
    assert (payload["version"], payload["previous_sha256"], payload["issuer"]) == (1, None, ISSUER)
    assert (payload["issued_at"], payload["expires_at"]) == (NOW, NOW + 365 * DAY)
    public = {key["public_key"] for role in payload["roles"].values() for key in role["keys"]}
    assert len(public) == len(payload["roles"]) == len(ROLES)
    assert len(statement_sha256(payload)) == 64
    validate(workspace.policy(), "policy")


def test_keys_in_use_are_those_of_the_trust_root(workspace: Workspace) -> None:
    roles = json.loads((workspace.folder / "trust-root.json").read_bytes())["payload"]["roles"]
    fresh = find(workspace.folder, lambda: None)
    for role in ROLES:
        assert fresh.key(role).entry(NOW)["public_key"] == roles[role]["keys"][0]["public_key"]
    fresh.close()


def test_two_workspaces_share_nothing(tmp_path: Path) -> None:
    made = [create(tmp_path / name, issuer=None, passphrase=None, now=NOW) for name in ("a", "b")]
    assert len({one.configuration.corpus for one in made}) == 2
    assert len({one.configuration.issuer for one in made}) == 2
    assert len({one.key(role).kid for one in made for role in ROLES}) == 2 * len(ROLES)
    for one in made:
        one.close()


@pytest.mark.parametrize("name", [*NAMES, "audit"])
def test_init_writes_over_nothing(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {f"{name}": "mine"})
    with pytest.raises(UsageError) as caught:
        make_workspace(tmp_path)
    assert caught.value.code == "workspace.exists"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_init_writes_over_no_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "kansho.toml").symlink_to("nowhere")
    with pytest.raises(UsageError):
        make_workspace(tmp_path)
    assert not (tmp_path / "nowhere").exists()


def test_init_twice(workspace: Workspace) -> None:
    before = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    with pytest.raises(UsageError):
        make_workspace(workspace.folder, "other")
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("step", ["save_key", "write_new", "Store", "sign_statement"])
def test_init_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.setattr(workspace_module, step, broken)
    with pytest.raises(FaultError) as caught:
        make_workspace(tmp_path)
    assert caught.value.code == "output.failed"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("issuer", ["a\nb", "x" * 257, " a", 'a"b', "a\\b", "a\u200bb", "\ud800", "a\u00a0b"])
def test_issuers_that_are_refused(tmp_path: Path, issuer: str) -> None:
    with pytest.raises(InputError) as caught:
        create(tmp_path / "w", issuer=issuer, passphrase=None, now=NOW)
    assert caught.value.code == "name.label"
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("issuer", ["{corpus}", "é漢字", "a'b", "#", "${HOME}", "x" * 256])
def test_issuers_come_back_as_they_were(tmp_path: Path, issuer: str) -> None:
    create(tmp_path, issuer=issuer, passphrase=None, now=NOW).close()
    found = find(tmp_path, lambda: None)
    assert found.configuration.issuer == issuer
    found.close()


def test_an_empty_passphrase_leaves_no_open_keys(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        create(tmp_path / "w", issuer=None, passphrase=b"", now=NOW)
    assert caught.value.code == "keys.passphrase_length"
    assert not list(tmp_path.rglob("*.pem"))


@pytest.mark.parametrize("name", ["what?x=1", "a#b", "50%20", "a b", "é漢", "&;'\"", ":memory:", "a\nb"])
def test_folders_with_odd_names(tmp_path: Path, name: str) -> None:
    made = make_workspace(tmp_path / name)
    ingest_it(made, write_files(tmp_path / "in", {"a.md": "Parking is free.\n"}))
    publish_it(made)
    assert ask_it(made, "Parking is free").status == "answered"
    made.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "in"])


def test_found_from_below_and_never_guessed(workspace: Workspace, tmp_path: Path) -> None:
    below = workspace.folder / "a" / "b"
    below.mkdir(parents=True)
    opened(below)
    with pytest.raises(UsageError) as caught:
        opened(tmp_path)
    assert caught.value.code == "workspace.missing"
    assert caught.value.hint


GOOD = '[workspace]\nissuer = "a"\ncorpus = "{corpus}"\n[validity]\ngeneration_days = 1\nlive_days = 1\n'


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "",
        lambda _: "\x00",
        lambda _: "[",
        lambda text: "\ufeff" + text,
        lambda text: text + "a = [" + "[" * 100_000,
        lambda text: text.replace("[workspace]", "[workspaces]"),
        lambda text: text.replace("[workspace]", "[[workspace]]"),
        lambda text: text.replace('issuer = "a"\n', ""),
        lambda text: text.replace('"a"', "1"),
        lambda text: text.replace('"a"', '""'),
        lambda text: text.replace('"a"', '"a\\n"'),
        lambda text: text.replace('"a"', "[]"),
        lambda text: text.replace('corpus = "', 'corpus = "x'),
        lambda text: text.replace("live_days = 1", "live_days = 0"),
        lambda text: text.replace("live_days = 1", "live_days = true"),
        lambda text: text.replace("live_days = 1", "live_days = 1.0"),
        lambda text: text.replace("live_days = 1", "live_days = 36501"),
        lambda text: text.replace("live_days = 1", 'live_days = "1"'),
        lambda text: text + "extra = 1\n",
        lambda text: text + "[more]\n",
        lambda text: "extra = 1\n" + text,
        lambda text: text + "live_days = 2\n",
        lambda _: "workspace = 1\nvalidity = 1\n",
        lambda _: "workspace = []\nvalidity = []\n",
        lambda _: 'workspace = "x"\nvalidity = "x"\n',
    ],
)
def test_damaged_configurations(workspace: Workspace, change: object) -> None:
    text = GOOD.format(corpus=workspace.configuration.corpus)
    path = workspace.folder / "kansho.toml"
    path.write_text(text)
    assert code_of(workspace.folder) is None
    if not callable(change):
        pytest.fail("a change is a function")
    path.write_bytes(change(text).encode("utf-8", "surrogatepass"))
    assert code_of(workspace.folder) == "workspace.configuration"


def test_a_configuration_that_is_no_text(workspace: Workspace) -> None:
    (workspace.folder / "kansho.toml").write_bytes(b"\xff\xfe" * 50)
    assert code_of(workspace.folder) == "workspace.configuration"
    (workspace.folder / "kansho.toml").write_bytes(b"#" * 2_000_000)
    assert code_of(workspace.folder) == "limits.bytes"


def test_damaged_stores(workspace: Workspace) -> None:
    path = workspace.folder / "store.sqlite3"
    good = path.read_bytes()
    configuration = (workspace.folder / "kansho.toml").read_text()
    corpus = workspace.configuration.corpus
    (workspace.folder / "kansho.toml").write_text(configuration.replace(corpus, corpus[::-1]))
    assert code_of(workspace.folder) == "workspace.damaged"
    (workspace.folder / "kansho.toml").write_text(configuration)
    workspace.close()
    for data in (b"", b"no database" * 1_000, good[:100], good[:5_000]):
        path.write_bytes(data)
        assert code_of(workspace.folder) in ("store.failed", "store.damaged")
    path.unlink()
    assert code_of(workspace.folder) == "workspace.damaged"
    assert not path.exists(), "looking for a store makes none"
    path.mkdir()
    assert code_of(workspace.folder) == "workspace.damaged"


def test_a_store_of_another_version(workspace: Workspace) -> None:
    with workspace.store.write() as c:
        c.execute(sa.text("update setting set value = '2' where name = 'schema_version'"))
    assert code_of(workspace.folder) == "workspace.version"


def test_a_setting_that_is_gone(workspace: Workspace) -> None:
    with workspace.store.write() as c:
        c.execute(sa.text("delete from setting where name = 'map_salt'"))
    with pytest.raises(FaultError) as caught:
        publish_it(workspace)
    assert caught.value.code == "store.damaged"


@pytest.mark.parametrize("role", ["live", "generation"])
def test_loose_key_modes(workspace: Workspace, role: str) -> None:
    (workspace.folder / "keys" / f"{role}.pem").chmod(0o644)
    fresh = find(workspace.folder, lambda: None)
    with pytest.raises(InputError) as caught:
        publish_it(fresh)
    fresh.close()
    assert caught.value.code == "keys.mode"
    assert not list(workspace.published.iterdir())


def test_the_passphrase_is_asked_for_once_for_each_key_and_only_when_needed(tmp_path: Path) -> None:
    made = fixed_secrets("closed")
    create(tmp_path, issuer=ISSUER, passphrase=b"secret", now=NOW, made=made).close()
    asked: list[int] = []

    def passphrase() -> bytes:
        asked.append(1)
        return b"secret"

    workspace = find(tmp_path, passphrase)
    ingest_it(workspace, write_files(tmp_path / "in", {"a.md": "Parking is free.\n"}))
    assert not asked
    publish_it(workspace)
    publish_it(workspace)
    assert len(asked) == 2
    workspace.close()
    for given, code in ((b"wrong", "keys.passphrase_wrong"), (None, "keys.passphrase_missing")):
        closed = find(tmp_path, lambda given=given: given)  # type: ignore[misc]  # bound now, not later
        with pytest.raises(UsageError) as caught:
            closed.key("live")
        assert caught.value.code == code
        closed.close()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json.syntax"),
        (b"{}", "schema.violation"),
        (b"[" * 100_000, "limits.depth"),
        (b'{"a":1,"a":1}', "json.duplicate_key"),
        (b"\xff", "json.utf8"),
    ],
)
def test_policies_that_are_refused(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "policy.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load_policy(path)
    assert caught.value.code == code
    assert caught.value.where.startswith(str(path))


def test_every_member_of_a_policy(workspace: Workspace, tmp_path: Path) -> None:
    policy = workspace.policy()
    path = tmp_path / "p.json"
    wrong: dict[str, object] = {
        "schema": "x",
        "allowed_roles": [],
        "coverage": "all",
        "selected_ids": [],
        "source_order": [],
    }
    wrong |= {"include_unverified_annotations": 0, "excerpt_boundary": "none"}
    assert wrong.keys() == policy.keys()
    for name, value in wrong.items():
        for changed in ({**policy, name: value}, {k: v for k, v in policy.items() if k != name}, {**policy, "x": 1}):
            path.write_text(json.dumps(changed))
            with pytest.raises(InputError) as caught:
                load_policy(path)
            assert caught.value.code == "schema.violation"
    with pytest.raises(InputError) as caught:
        load_policy(tmp_path / "missing.json")
    assert caught.value.code == "input.unreadable"


# Writing and reading files.


def test_write_whole(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    for data in (b"one", b"", b"two"):
        write_whole(path, data)
        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    write_whole(path, b"x", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_special_is_replaced(tmp_path: Path) -> None:
    """A rename over a device would remove the device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "folder", "link"):
        before = (tmp_path / name).lstat()
        with pytest.raises(UsageError) as caught:
            write_whole(tmp_path / name, b"x")
        assert caught.value.code == "output.not_a_file"
        after = (tmp_path / name).lstat()
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert len(list(tmp_path.iterdir())) == 3


def test_write_new(tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"one")
    (tmp_path / "nowhere").symlink_to("missing")
    for name in ("a", "nowhere"):
        with pytest.raises(UsageError) as caught:
            write_new(tmp_path / name, b"two")
        assert caught.value.code == "output.exists"
    assert (tmp_path / "a").read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "nowhere"]
    with pytest.raises(FaultError) as fault:
        write_new(tmp_path / "missing" / "a", b"x")
    assert fault.value.code == "output.failed"


def test_a_failing_rename_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(FaultError):
        write_whole(tmp_path / "a", b"x")
    assert not list(tmp_path.iterdir())


def test_read_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    os.mkfifo(tmp_path / "pipe")
    for bad, code in ((path, "limits.bytes"), (tmp_path, "input.not_a_file"), (tmp_path / "pipe", "input.not_a_file")):
        with pytest.raises(InputError) as caught:
            read_bounded(bad, 4)
        assert caught.value.code == code
    for missing in (tmp_path / "missing", tmp_path / ("x" * 5_000), path / "below"):
        with pytest.raises(InputError) as caught:
            open_regular(missing)
        assert caught.value.code == "input.unreadable"


def test_a_key_is_saved_only_once(tmp_path: Path) -> None:
    save_key(tmp_path / "a.pem", fixed_secrets("x").keys["root"], None)
    with pytest.raises(UsageError):
        save_key(tmp_path / "a.pem", fixed_secrets("y").keys["root"], None)
