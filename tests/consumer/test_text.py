"""Canonical text."""

from __future__ import annotations

import time

import pytest
import unicodedata2
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import Code, VerifyError
from kansho_verify.text import canonical_text
from tests.consumer.checking import refused


def text_of(raw: bytes) -> str:
    return canonical_text(raw, unicode_version="15.0.0")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (b"\xef\xbb\xbfa", "a"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa"),
        (b"a\r\nb\rc\n\rd", "a\nb\nc\n\nd"),
        ("a\u0085b\u2028c\x0bd\x0c".encode(), "a\u0085b\u2028c\x0bd\x0c"),
        ("e\u0301".encode(), "\u00e9"),
        ("\u212b".encode(), "\u00c5"),
        ("\ue000".encode(), "\ue000"),
        (("e" + "\u0301" * 256).encode(), "\u00e9" + "\u0301" * 255),
        ("\u0f73".encode(), "\u0f71\u0f72"),
    ],
)
def test_canonical_form(raw: bytes, text: str) -> None:
    assert text_of(raw) == text


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\xff", Code.TEXT_UTF8),
        (b"\xed\xa0\x80", Code.TEXT_UTF8),
        (b"\xc0\x80", Code.TEXT_UTF8),
        (b"\xf4\x90\x80\x80", Code.TEXT_UTF8),
        (b"a\0", Code.TEXT_NUL),
        ("\ufdd0".encode(), Code.TEXT_UNASSIGNED),
        ("\U0010ffff".encode(), Code.TEXT_UNASSIGNED),
        ("\u0378".encode(), Code.TEXT_UNASSIGNED),
        (("e" + "\u0301" * 257).encode(), Code.TEXT_NONSTARTER_RUN),
        (("e" + "\u0f73" * 257).encode(), Code.TEXT_NONSTARTER_RUN),
        (("e" + "\u0301\u0f73" * 129).encode(), Code.TEXT_NONSTARTER_RUN),
    ],
)
def test_refusals(raw: bytes, code: Code) -> None:
    assert refused(text_of, raw) is code


@pytest.mark.parametrize(
    ("version", "code"),
    [(None, Code.TEXT_UNICODE_TOO_OLD), ("99.0.0", Code.TEXT_UNICODE_TOO_OLD), ("18.0.0", Code.TEXT_UNASSIGNED)],
)
def test_older_tables_leave_an_unknown_code_point_undecided(version: str | None, code: Code) -> None:
    assert refused(canonical_text, "\u0378".encode(), unicode_version=version) is code


def test_a_noncharacter_is_refused_whatever_the_tables() -> None:
    assert refused(canonical_text, "\ufffe".encode(), unicode_version="99.0.0") is Code.TEXT_UNASSIGNED


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_canonical_text_is_its_own_canonical_form(raw: bytes) -> None:
    try:
        text = text_of(raw)
    except VerifyError:
        return
    assert "\r" not in text
    assert unicodedata2.normalize("NFC", text) == text
    if not text.startswith("\ufeff"):
        assert text_of(text.encode()) == text


def test_many_permitted_runs_take_linear_time() -> None:
    raw = ("e" + "\u0316\u0301" * 128).encode() * 15_000
    start = time.monotonic()
    text_of(raw)
    assert time.monotonic() - start < 20
