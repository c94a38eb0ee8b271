"""Canonical text, ``canonical-text-lf-nfc-char-v1`` (``docs/spec/canonical-text.md``)."""

from __future__ import annotations

import re
from typing import NoReturn

import unicodedata2

from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["NORMALISER", "canonical_string", "canonical_text"]

NORMALISER = "canonical-text-lf-nfc-char-v1"

_BYTE_ORDER_MARK = "\ufeff"
_NONCHARACTER_BLOCK = range(0xFDD0, 0xFDF0)
_PLANE_END = 0xFFFE  # the last two code points of every plane


def canonical_text(raw: bytes, *, unicode_version: str | None) -> str:
    """The canonical text of raw bytes.

    ``unicode_version`` is the version of the tables that the producer used, or None when it is not known; it decides
    whether an unassigned code point is refused or leaves the text undecided. Raises VerifyError: ``text.utf8``
    (with the byte offset), ``text.nul``, ``text.unassigned``, ``text.unicode_too_old``, ``text.nonstarter_run``
    (with the offset in code points of the text with LF line ends).
    """
    try:
        text = raw.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        _refuse(Code.TEXT_UTF8, f"not UTF-8 at byte {error.start}")
    return canonical_string(text, unicode_version=unicode_version)


def canonical_string(text: str, *, unicode_version: str | None) -> str:
    """The canonical form of a string: steps 2 to 7. Raises VerifyError as :func:`canonical_text` does."""
    text = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        _refuse(Code.TEXT_NUL, f"NUL at code point {text.index(chr(0))}")
    if text.isascii():
        return text
    alphabet = {char for char in set(text) if not char.isascii()}
    _check_assigned(text, alphabet, unicode_version)
    _check_runs(text, alphabet)
    return str(unicodedata2.normalize("NFC", text))


def _check_assigned(text: str, alphabet: set[str], unicode_version: str | None) -> None:
    suspects = {char for char in alphabet if unicodedata2.category(char) in ("Cn", "Cs")}
    if not suspects:
        return
    offset, first = next((i, char) for i, char in enumerate(text) if char in suspects)
    place = f"U+{ord(first):04X} at code point {offset}"
    if unicodedata2.category(first) == "Cs":
        _refuse(Code.TEXT_UTF8, f"lone surrogate {place}")
    if _is_noncharacter(first) or (unicode_version is not None and _tables_reach(unicode_version)):
        _refuse(Code.TEXT_UNASSIGNED, f"unassigned {place}")
    detail = f"{place} is unknown to the tables here, Unicode {unicodedata2.unidata_version}"
    _refuse(Code.TEXT_UNICODE_TOO_OLD, detail)


def _check_runs(text: str, alphabet: set[str]) -> None:
    non_starters = [c for c in alphabet if unicodedata2.combining(unicodedata2.normalize("NFD", c)[0])]
    if not non_starters:
        return
    limit = LIMITS.non_starter_run_chars
    for run in re.finditer(f"[{re.escape(''.join(non_starters))}]+", text):
        if run.end() - run.start() > limit:
            _refuse(Code.TEXT_NONSTARTER_RUN, f"more than {limit} non-starters from code point {run.start()}")


def _is_noncharacter(char: str) -> bool:
    number = ord(char)
    return number in _NONCHARACTER_BLOCK or number & _PLANE_END == _PLANE_END


def _tables_reach(version: str) -> bool:
    def parts(text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split(".")))

    return parts(unicodedata2.unidata_version) >= parts(version)


def _refuse(code: Code, detail: str) -> NoReturn:
    raise VerifyError(Reason(code, detail=detail))
