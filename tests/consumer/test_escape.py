"""Text of an artifact, made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify.escape import shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ('say "x" \\', r'"say \"x\" \\"'),
        ("a\nb\tc\x1b[0m", r'"a\nb\u{9}c\u{1b}[0m"'),
        ("\u202eabc\u2066", r'"\u{202e}abc\u{2066}"'),
        ("a\u00a0b\u3000c\u2800", r'"a\u{a0}b\u{3000}c\u{2800}"'),
        ("नहीं", '"नहीं"'),
        ("\u0301a", r'"\u{301}a"'),
        ("e" + "\u0301" * 4, '"e\u0301\u0301' + r"\u{301}\u{301}" + '"'),
        ("\ud800", r'"\u{d800}"'),
        ("x" * 81, '"' + "x" * 80 + '"…'),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(st.text(st.characters()))
def test_nothing_steers(text: str) -> None:
    out = shown(text, 1_000)
    assert out.startswith('"')
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in out)
    assert not any(0x202A <= ord(char) <= 0x202E or 0x2066 <= ord(char) <= 0x2069 for char in out)
