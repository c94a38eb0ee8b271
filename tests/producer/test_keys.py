"""Key files (docs/spec/signatures.md, Keys)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from kansho_sign.errors import InputError, KanshoError, UsageError
from kansho_sign.keys import ROLES, SigningKey, load_key, new_key, save_key
from tests.support.fixed_test_keys import fixed_secrets, fixed_test_key

PASSPHRASE = b"correct horse"
ENTRY_NAMES = {"public_key", "alg", "not_before", "not_after", "retired_at", "revoked_at"}


@pytest.fixture
def key() -> SigningKey:
    return fixed_test_key("keys")


def refusal(path: Path, passphrase: bytes | None = None) -> KanshoError:
    with pytest.raises(KanshoError) as caught:
        load_key(path, passphrase)
    assert str(path) in caught.value.where
    return caught.value


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE, b"x", b"\xff\x00\n", b"y" * 1_023])
def test_save_and_load(tmp_path: Path, key: SigningKey, passphrase: bytes | None) -> None:
    path = tmp_path / "key.pem"
    save_key(path, key, passphrase)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert (b"ENCRYPTED" in path.read_bytes()) == (passphrase is not None)
    loaded = load_key(path, passphrase)
    assert (loaded.public, loaded.kid) == (key.public, key.kid)
    assert loaded.sign(b"m") == key.sign(b"m")


@pytest.mark.parametrize("passphrase", [b"", b"y" * 1_024])
def test_a_passphrase_that_cannot_be_used_never_leaves_the_key_open(
    tmp_path: Path, key: SigningKey, passphrase: bytes
) -> None:
    with pytest.raises(UsageError) as caught:
        save_key(tmp_path / "key.pem", key, passphrase)
    assert caught.value.code == "keys.passphrase_length"
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path: Path, key: SigningKey) -> None:
    path = write(tmp_path / "key.pem", b"mine")
    with pytest.raises(UsageError) as caught:
        save_key(path, key, None)
    assert caught.value.code == "output.exists"
    assert path.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [path]


def test_passphrases(tmp_path: Path, key: SigningKey) -> None:
    path = tmp_path / "key.pem"
    save_key(path, key, PASSPHRASE)
    assert refusal(path).code == "keys.passphrase_missing"
    for wrong in (b"wrong", b"", PASSPHRASE + b"\n", b"y" * 5_000):
        assert refusal(path, wrong).code == "keys.passphrase_wrong"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o601, 0o777])
def test_loose_modes_are_refused(tmp_path: Path, key: SigningKey, mode: int) -> None:
    path = tmp_path / "key.pem"
    save_key(path, key, None)
    path.chmod(mode)
    error = refusal(path)
    assert (error.code, type(error)) == ("keys.mode", InputError)


def pem(private: PrivateKeyTypes) -> bytes:
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.mark.parametrize("kind", ["x25519", "p256", "rsa"])
def test_foreign_keys(tmp_path: Path, kind: str) -> None:
    makers: dict[str, Callable[[], PrivateKeyTypes]] = {
        "x25519": x25519.X25519PrivateKey.generate,
        "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
        "rsa": lambda: rsa.generate_private_key(65_537, 2_048),
    }
    assert refusal(write(tmp_path / "key.pem", pem(makers[kind]()))).code == "keys.algorithm"


def test_what_is_no_private_key(tmp_path: Path, key: SigningKey) -> None:
    private = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
    good = pem(private)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    save_key(tmp_path / "closed.pem", key, PASSPHRASE)
    closed = (tmp_path / "closed.pem").read_bytes()
    bad = [b"", b"\x00" * 100, b"-----BEGIN PRIVATE KEY-----\n", public, b"\xff" * 9]
    bad += [good[:-cut] for cut in (2, 20, 40, 60)]
    for number, data in enumerate(bad):
        path = write(tmp_path / f"{number}.pem", data)
        assert refusal(path, PASSPHRASE).code in ("keys.format", "keys.algorithm")
    for cut in (30, 60, 100, len(closed) - 40):
        path = write(tmp_path / f"cut {cut}.pem", closed[:-cut])
        assert refusal(path, PASSPHRASE).code in ("keys.passphrase_wrong", "keys.format")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pem", 0o600)
    (tmp_path / "folder.pem").mkdir()
    (tmp_path / "nowhere.pem").symlink_to("nothing")
    write(tmp_path / "huge.pem", b"-" * 70_000)
    for name in ("pipe.pem", "folder.pem", "nowhere.pem", "missing.pem", "huge.pem"):
        assert refusal(tmp_path / name).code == "keys.unreadable"


def test_nothing_secret_is_shown() -> None:
    key = new_key()
    secret = key.private.private_bytes_raw()
    made = fixed_secrets("shown")
    for shown in (repr(key), str(key), repr(made), f"{[key]}"):
        assert secret.hex() not in shown
        assert str(secret) not in shown
        assert made.map_salt not in shown
        assert "private" not in shown


def test_new_keys_differ_and_their_entry_is_public() -> None:
    keys = [new_key() for _ in range(5)]
    assert len({key.kid for key in keys}) == 5
    entry = keys[0].entry(7)
    assert set(entry) == ENTRY_NAMES
    assert entry["not_before"] == 7
    assert len(str(entry["public_key"])) == 43
    assert len(set(ROLES)) == 5
