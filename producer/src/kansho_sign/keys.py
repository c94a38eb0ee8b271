"""Ed25519 keys: made, kept as PKCS#8 PEM with mode 0600, loaded (docs/spec/signatures.md, Keys)."""

import base64
import hashlib
import stat
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kansho_sign.errors import InputError, UsageError
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded, write_new

__all__ = ["ROLES", "SigningKey", "load_key", "new_key", "save_key", "thumbprint"]

ROLES = ("root", "generation", "citation", "audit", "live")
THUMBPRINT_PREFIX = bytes.fromhex("a301012006215820")


def thumbprint(public_key: bytes) -> bytes:
    """RFC 9679 thumbprint of an Ed25519 public key of 32 bytes: 32 bytes."""
    return hashlib.sha256(THUMBPRINT_PREFIX + public_key).digest()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key; its repr shows the thumbprint alone."""

    private: Ed25519PrivateKey = field(repr=False)
    public: bytes = field(repr=False)
    kid: bytes

    @classmethod
    def of(cls, private: Ed25519PrivateKey) -> "SigningKey":
        """Wraps a private key."""
        public = private.public_key().public_bytes_raw()
        return cls(private, public, thumbprint(public))

    def sign(self, message: bytes) -> bytes:
        """Ed25519 (RFC 8032), pure: 64 bytes."""
        return self.private.sign(message)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature is this key's."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def entry(self, not_before: int) -> dict[str, object]:
        """The key's entry in a trust root."""
        encoded = base64.urlsafe_b64encode(self.public).rstrip(b"=").decode("ascii")
        return {
            "public_key": encoded,
            "alg": -19,
            "not_before": not_before,
            "not_after": None,
            "retired_at": None,
            "revoked_at": None,
        }


def new_key() -> SigningKey:
    """A fresh key from the operating system's random source."""
    return SigningKey.of(Ed25519PrivateKey.generate())


def save_key(path: Path, key: SigningKey, passphrase: bytes | None) -> None:
    """PKCS#8 PEM with mode 0600, never over an existing file; encrypted unless ``passphrase`` is None.

    Raises UsageError ``keys.passphrase_length`` for a passphrase that cannot be used.
    """
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase is not None:
        if not 1 <= len(passphrase) <= LIMITS.passphrase_bytes:
            why = f"a passphrase has 1 to {LIMITS.passphrase_bytes} bytes"
            raise UsageError("keys.passphrase_length", why, hint="choose another one")
        encryption = serialization.BestAvailableEncryption(passphrase)
    pem = key.private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    write_new(path, pem, mode=0o600)


def load_key(path: Path, passphrase: bytes | None) -> SigningKey:
    """The private key in a PEM file.

    Raises InputError (``keys.*``) for a foreign or too open file, UsageError when it or its passphrase is missing or
    wrong.
    """
    try:
        status = path.stat()
        pem = read_bounded(path, LIMITS.key_bytes)
    except OSError as error:
        raise UsageError("keys.unreadable", f"the key cannot be read ({error.strerror})", str(path)) from None
    except InputError as error:
        raise UsageError("keys.unreadable", f"the key cannot be read ({error.why})", str(path)) from None
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise InputError("keys.mode", "others may read this private key", str(path), f"chmod 600 {path}")
    encrypted = b"ENCRYPTED" in pem
    if encrypted and passphrase is None:
        hint = "give --passphrase-file FILE or set KANSHO_PASSPHRASE"
        raise UsageError("keys.passphrase_missing", "the key is encrypted", str(path), hint)
    try:
        private = serialization.load_pem_private_key(pem, passphrase if encrypted else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        code, why, hint = (
            ("keys.passphrase_wrong", "the passphrase does not open it", "it is the one that was given to init")
            if encrypted
            else ("keys.format", "not a PKCS#8 PEM key", "put the file back that init made")
        )
        raise UsageError(code, why, str(path), hint) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise InputError("keys.algorithm", "not an Ed25519 key", str(path), "kansho-sign init makes the right ones")
    return SigningKey.of(private)
