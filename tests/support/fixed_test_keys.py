"""TEST KEYS. Their seeds are public: whatever they sign proves nothing outside the tests."""

from __future__ import annotations

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kansho_sign.keys import ROLES, SigningKey
from kansho_sign.workspace import Secrets

TEST_KEY_LABEL = "kansho test key, not secret: "


def fixed_test_key(name: str) -> SigningKey:
    """The key whose seed is the SHA-256 of the label and ``name``."""
    seed = hashlib.sha256(f"{TEST_KEY_LABEL}{name}".encode()).digest()
    return SigningKey.of(Ed25519PrivateKey.from_private_bytes(seed))


def fixed_hex(name: str, size: int) -> str:
    """``size`` bytes (at most 32) in hex that stand for random ones."""
    return hashlib.sha256(f"kansho test value: {name}".encode()).hexdigest()[: 2 * size]


def fixed_secrets(name: str) -> Secrets:
    """Keys, corpus and map salt of a test workspace, the same in every run."""
    keys = {role: fixed_test_key(f"{name} {role}") for role in ROLES}
    return Secrets(keys, fixed_hex(f"{name} corpus", 16), fixed_hex(f"{name} map salt", 32))


class CountingRandom:
    """Stands for the random source: the first, second, … value of a name."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0

    def __call__(self, size: int) -> str:
        """The next ``size`` bytes in hex."""
        self._count += 1
        return fixed_hex(f"{self._name} {self._count}", size)
