"""Canonical text, revision ``canonical-text-lf-nfc-char-v1`` (docs/spec/canonical-text.md)."""

import hashlib
import re

import unicodedata2 as ucd

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["NORMALISER", "UNICODE_VERSION", "canonical_text", "decode", "sha256_text"]

NORMALISER = "canonical-text-lf-nfc-char-v1"
UNICODE_VERSION: str = ucd.unidata_version


def sha256_text(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of a text, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def decode(raw: bytes) -> str:
    """Step 1: strict UTF-8. Raises InputError ``text.utf8`` with the byte offset."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            "text.utf8",
            f"not UTF-8 ({error.reason})",
            f"line {line}, byte {error.start}",
            "convert the file to UTF-8",
        ) from None


def _place(text: str, index: int) -> str:
    return f"line {text.count(chr(10), 0, index) + 1}, code point {index}"


def canonical_text(text: str) -> str:
    """Steps 2 to 7, from a string of scalar values.

    Returns NFC text with LF line ends. Offsets into the result are code points. Raises InputError with the place, in
    line and code point after step 3: ``text.surrogate``, ``text.nul``, ``text.unassigned``, ``text.nonstarter_run``.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise InputError("text.nul", "holds U+0000", _place(text, text.index("\x00")), "this is not a text file")
    if text.isascii():
        return text
    characters = set(text)
    bad = [c for c in characters if ucd.category(c) in ("Cn", "Cs")]
    if bad:
        index = min(text.index(c) for c in bad)
        code = "text.surrogate" if ucd.category(text[index]) == "Cs" else "text.unassigned"
        raise InputError(
            code,
            f"U+{ord(text[index]):04X} is no character of Unicode {UNICODE_VERSION}",
            _place(text, index),
            "remove it from the source",
        )
    nonstarters = [c for c in characters if ucd.combining(ucd.normalize("NFD", c)[0])]
    if nonstarters:
        limit = LIMITS.nonstarter_run_code_points
        run = re.search(f"[{''.join(map(re.escape, nonstarters))}]{{{limit + 1}}}", text)
        if run:
            raise InputError(
                "text.nonstarter_run",
                f"more than {limit} combining marks in a row",
                _place(text, run.start()),
            )
    normalised: str = ucd.normalize("NFC", text)
    return normalised
