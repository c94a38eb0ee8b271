"""Envelopes, byte by byte (docs/spec/signatures.md)."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kansho_sign.canonical_json import dumps
from kansho_sign.cose import media_type, protected_header, sign_statement, statement_sha256
from kansho_sign.errors import FaultError, InputError
from kansho_sign.keys import SigningKey, thumbprint
from tests.support.fixed_test_keys import fixed_test_key

PAYLOAD: dict[str, Any] = {
    "schema": "kansho.live.v1",
    "issuer": "Test issuer",
    "corpus": "0f" * 16,
    "issued_at": 1_800_000_000,
    "more": ["é", None],
}


def text(value: str) -> bytes:
    """A CBOR text string, by hand."""
    data = value.encode()
    size = len(data)
    if size < 24:
        return bytes([0x60 + size]) + data
    return (bytes([0x78, size]) if size < 256 else b"\x79" + size.to_bytes(2, "big")) + data


def byte_string(data: bytes) -> bytes:
    return (bytes([0x58, len(data)]) if len(data) < 256 else b"\x59" + len(data).to_bytes(2, "big")) + data


def integer(value: int) -> bytes:
    for head, size, below in ((0x18, 1, 2**8), (0x19, 2, 2**16), (0x1A, 4, 2**32), (0x1B, 8, 2**64)):
        if value < 24:
            return bytes([value])
        if value < below:
            return bytes([head]) + value.to_bytes(size, "big")
    raise AssertionError(value)


def by_hand(payload: dict[str, Any], kid: bytes) -> bytes:
    """The six members as the page's table has them."""
    claims = b"\xa3\x01" + text(payload["issuer"]) + b"\x02" + text(payload["corpus"]) + b"\x06"
    return b"".join(
        [
            b"\xa6",
            b"\x01\x32",  # -19
            b"\x04\x58\x20" + kid,
            b"\x0f" + claims + integer(payload["issued_at"]),
            b"\x10" + text("application/vnd.kansho.statement.v1+cose"),
            b"\x19\x01\x02\x2f",  # 258: -16
            b"\x19\x01\x03" + text("application/vnd.kansho.live.v1+json"),
        ]
    )


def decoded(signature: str) -> bytes:
    assert "=" not in signature
    data = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    assert base64.urlsafe_b64encode(data).rstrip(b"=").decode() == signature
    return data


@pytest.mark.parametrize("issuer", ["a", "b" * 23, "c" * 24, "é" * 127, "d" * 256, "\U00020000" * 256])
@pytest.mark.parametrize("issued_at", [0, 23, 24, 255, 256, 65_535, 65_536, 2**32 - 1, 253_402_300_799])
def test_every_byte_of_an_envelope(issuer: str, issued_at: int) -> None:
    key = fixed_test_key("cose")
    payload = {**PAYLOAD, "issuer": issuer, "issued_at": issued_at}
    protected = by_hand(payload, key.kid)
    assert protected_header(payload, key.kid) == protected
    (signature,) = sign_statement(payload, [key])["signatures"]
    data = decoded(signature)
    head = b"\xd2\x84" + byte_string(protected) + b"\xa0\xf6\x58\x40"
    assert data[: len(head)] == head
    assert len(data) == len(head) + 64
    assert len(data) <= 1_536
    digest = hashlib.sha256(dumps(payload)).digest()
    signed = b"\x84\x6aSignature1" + byte_string(protected) + b"\x40\x58\x20" + digest
    Ed25519PublicKey.from_public_bytes(key.public).verify(data[len(head) :], signed)


def test_signatures_ascend_by_key_and_are_deterministic() -> None:
    keys = [fixed_test_key(f"cose {number}") for number in range(8)]
    statement = sign_statement(PAYLOAD, keys)
    assert statement == sign_statement(PAYLOAD, keys[::-1])
    assert statement["payload"] == PAYLOAD
    kids = [decoded(signature).split(b"\x04\x58\x20", 1)[1][:32] for signature in statement["signatures"]]
    assert kids == sorted(key.kid for key in keys)


def test_statement_hash_does_not_count_signatures() -> None:
    assert statement_sha256(PAYLOAD) == hashlib.sha256(dumps(PAYLOAD)).hexdigest()
    assert media_type(PAYLOAD) == "application/vnd.kansho.live.v1+json"


@pytest.mark.parametrize("name", ["schema", "issuer", "corpus", "issued_at", "more"])
def test_every_member_changes_what_is_signed(name: str) -> None:
    key = fixed_test_key("cose")
    value = PAYLOAD[name]
    other = {**PAYLOAD, name: value + 1 if isinstance(value, int) else value + value}
    assert sign_statement(other, [key])["signatures"] != sign_statement(PAYLOAD, [key])["signatures"]


def test_what_has_no_canonical_form_is_not_signed() -> None:
    with pytest.raises(InputError):
        sign_statement({**PAYLOAD, "more": 0.5}, [fixed_test_key("cose")])


def test_rfc_9679_thumbprint() -> None:
    key = fixed_test_key("cose")
    x = key.public
    assert key.kid == thumbprint(x) == hashlib.sha256(bytes.fromhex("a3010120062158 20") + x).digest()


def test_ed25519_vectors(vectors: Path) -> None:
    lines = (vectors / "ed25519" / "sign.input.first256").read_text("ascii").splitlines()
    assert len(lines) == 256
    for line in lines:
        secret, public, message, signed = (bytes.fromhex(part) for part in line.split(":")[:4])
        key = SigningKey.of(Ed25519PrivateKey.from_private_bytes(secret[:32]))
        assert key.public == public == secret[32:]
        assert key.sign(message) + message == signed
        assert key.verifies(signed[:64], message)
        assert not key.verifies(signed[:64], message + b"x")
        assert not key.verifies(signed[:63] + bytes([signed[63] ^ 1]), message)
        assert not key.verifies(b"", message)


def test_a_signature_that_does_not_verify_leaves_nothing() -> None:
    """A fault while signing, or a key whose halves do not belong together."""
    one, other = fixed_test_key("cose"), fixed_test_key("another")
    with pytest.raises(FaultError) as caught:
        sign_statement(PAYLOAD, [SigningKey(one.private, other.public, other.kid)])
    assert caught.value.code == "selfcheck.failed"
