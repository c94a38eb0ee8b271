"""Canonical text (docs/spec/canonical-text.md)."""

from __future__ import annotations

import bz2
import hashlib
import json
import sys
from pathlib import Path

import pytest
import unicodedata2 as ucd
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.errors import InputError
from kansho_sign.text import canonical_text, decode, sha256_text

ACUTE = "\u0301"
TIBETAN = "\u0f73"  # class 0, but decomposes into two marks


def code_of(text: str) -> str | None:
    try:
        canonical_text(text)
    except InputError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"\xff", "line 1, byte 0"),
        (b"a\nb\x80", "line 2, byte 3"),
        (b"\xc0\xaf", "line 1, byte 0"),
        (b"\xed\xa0\x80", "line 1, byte 0"),
        (b"\xf4\x90\x80\x80", "line 1, byte 0"),
        (b"ab\xe2\x82", "line 1, byte 2"),
        (b"\xff\xfea\x00", "line 1, byte 0"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "line 1, byte 0"),
        (b"\xf8\x88\x80\x80\x80", "line 1, byte 0"),
    ],
)
def test_bytes_that_are_no_utf_8(raw: bytes, place: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(raw)
    assert (caught.value.code, caught.value.where) == ("text.utf8", place)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\ufeff", ""),
        ("\ufeffa", "a"),
        ("\ufeff\ufeffa", "\ufeffa"),
        ("a\ufeff", "a\ufeff"),
        ("\r\n", "\n"),
        ("\r", "\n"),
        ("\r\r\n\n\r", "\n\n\n\n"),
        ("\n\r", "\n\n"),
        ("a\r" + ACUTE, "a\n" + ACUTE),
        ("\x85\u2028\u2029\x0b\x0c", "\x85\u2028\u2029\x0b\x0c"),
        ("e" + ACUTE, "é"),
        ("\u212b", "Å"),
        ("\u1100\u1161\u11a8", "각"),
        ("\ufb01", "\ufb01"),
        ("\u0958", "\u0915\u093c"),
        ("a\u0315\u0300\u05ae\u0300\u0062", "\u00e0\u05ae\u0300\u0315\u0062"),
        ("\x01\x7f\x1b", "\x01\x7f\x1b"),
        ("\ue000\U000f0000\U0010fffd", "\ue000\U000f0000\U0010fffd"),
    ],
)
def test_canonical_form(text: str, expected: str) -> None:
    assert canonical_text(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a\n\x00", "text.nul", "line 2, code point 2"),
        ("\r\n\x00", "text.nul", "line 2, code point 1"),
        ("é\x00", "text.nul", "line 1, code point 1"),
        ("ab\n\ufffe", "text.unassigned", "line 2, code point 3"),
        ("\ufdd0", "text.unassigned", "line 1, code point 0"),
        ("\U0001ffff", "text.unassigned", "line 1, code point 0"),
        ("\U0010ffff", "text.unassigned", "line 1, code point 0"),
        ("\u0378", "text.unassigned", "line 1, code point 0"),
        ("\U000e0000", "text.unassigned", "line 1, code point 0"),
        ("x\ud800", "text.surrogate", "line 1, code point 1"),
        ("\udfff\u0378", "text.surrogate", "line 1, code point 0"),
        ("\u0378\udfff", "text.unassigned", "line 1, code point 0"),
        ("a\n" + ACUTE * 257, "text.nonstarter_run", "line 2, code point 2"),
        ("a" + TIBETAN * 257, "text.nonstarter_run", "line 1, code point 1"),
        ("a" + "\u0301\u0316" * 129, "text.nonstarter_run", "line 1, code point 1"),
        ("a" + "\u0f73\u0301\u0344" * 86, "text.nonstarter_run", "line 1, code point 1"),
    ],
)
def test_refusals_name_code_and_place(text: str, code: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_text(text)
    assert (caught.value.code, caught.value.where) == (code, place)


@pytest.mark.parametrize("mark", [ACUTE, TIBETAN, "\u0344", "\u3099", "\u0345"])
def test_the_longest_run_of_marks(mark: str) -> None:
    assert code_of("a" + mark * 256) is None
    assert code_of("a" + mark * 257) == "text.nonstarter_run"
    assert code_of(("a" + mark * 256) * 3) is None
    assert code_of(mark * 80_000) == "text.nonstarter_run"


def test_marks_of_class_zero_are_no_run() -> None:
    for character in ("\u0903", "\u093e", "\ufe0f", "\u200d", "\u1160"):
        assert code_of("a" + character * 5_000) is None


def test_every_code_point_by_the_definition() -> None:
    """Alone, and 257 times: accepted, unassigned, a surrogate or a non-starter exactly as the page says."""
    for number in range(1, sys.maxunicode + 1):
        character = chr(number)
        category = ucd.category(character)
        if category == "Co" and number not in (0xE000, 0xF8FF):
            continue
        expected = {"Cn": "text.unassigned", "Cs": "text.surrogate"}.get(category)
        assert code_of(character) == expected
        if expected is None and (category[0] == "M" or ucd.combining(character)):
            first = ucd.normalize("NFD", character)[0]
            run = "text.nonstarter_run" if ucd.combining(first) else None
            assert code_of(character * 257) == run


def test_normalization_test(vectors: Path) -> None:
    rows = 0
    with bz2.open(vectors / "unicode" / "NormalizationTest.txt.bz2", "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.split("#")[0].strip().split(";")
            if len(fields) < 5:
                continue
            c1, c2, c3, c4, c5 = ("".join(chr(int(point, 16)) for point in field.split()) for field in fields[:5])
            if "\x00" in c1 or "\r" in c1:
                continue
            rows += 1
            assert canonical_text(c1) == canonical_text(c2) == canonical_text(c3) == c2, line
            assert canonical_text(c4) == canonical_text(c5) == c4, line
    assert rows > 19_000


def test_hostile_text(vectors: Path, subtests: pytest.Subtests) -> None:
    data = json.loads((vectors / "bad-input" / "unicode_and_bombs.json").read_bytes())
    for case in data["raw_bytes"]:
        with subtests.test(id=case["id"]):
            if case["strict_utf8"]:
                assert canonical_text(decode(bytes.fromhex(case["hex"]))) == "a"
            else:
                with pytest.raises(InputError) as caught:
                    decode(bytes.fromhex(case["hex"]))
                assert caught.value.code == "text.utf8"
    for case in data["text"]:
        with subtests.test(id=case["id"]):
            if code_of(case["text"]) is None:
                assert canonical_text(canonical_text(case["text"])) == canonical_text(case["text"])
            else:
                assert code_of(case["text"]) in ("text.nul", "text.unassigned")


INTERESTING = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("\r\n\ufeffae\u0301\u0316\u0f73\u0344\u1100\u1161\u11a8\u0958\u212b"),
    )
)


@given(INTERESTING)
def test_canonical_text_is_a_fixed_point(text: str) -> None:
    if code_of(text) is not None:
        return
    made = canonical_text(text)
    assert "\r" not in made
    assert ucd.normalize("NFC", made) == made
    if not made.startswith("\ufeff"):
        assert canonical_text(made) == made
    assert canonical_text("\ufeff" + made) == made
    assert canonical_text(text.replace("\r\n", "\n").replace("\r", "\n")) == made


@given(st.text(st.sampled_from("ab\r\n\u0301\u0f73é"), max_size=400))
def test_runs_by_a_naive_count(text: str) -> None:
    longest = run = 0
    for character in text.removeprefix("\ufeff"):
        run = run + 1 if ucd.combining(ucd.normalize("NFD", character)[0]) else 0
        longest = max(longest, run)
    assert (code_of(text) == "text.nonstarter_run") == (longest > 256)


@given(st.binary(max_size=30))
def test_decode_is_strict_utf_8(raw: bytes) -> None:
    try:
        text = decode(raw)
    except InputError:
        with pytest.raises(UnicodeDecodeError):
            raw.decode("utf-8")
    else:
        assert text.encode("utf-8") == raw
        assert sha256_text(text) == hashlib.sha256(raw).hexdigest()
