"""Strict reading of JSON: hostile bytes give a reason, and only canonical bytes give a value."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import Code, VerifyError
from kansho_verify.canonical_json import canonical
from kansho_verify.strict_json import parse, parse_loose
from tests.consumer.checking import refused

LIMIT = 64 * 2**20
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=40)

REFUSED = [
    (b"", Code.JSON_SYNTAX),
    (b"\xef\xbb\xbf1", Code.JSON_BOM),
    ("1".encode("utf-16"), Code.JSON_UTF8),
    (b'"\xed\xa0\x80"', Code.JSON_UTF8),
    (b'"\xc0\x80"', Code.JSON_UTF8),
    (b"1\x00", Code.JSON_SYNTAX),
    (b"[" * 33 + b"]" * 33, Code.LIMITS_DEPTH),
    (b"[" * 1_000_000, Code.LIMITS_DEPTH),
    (b"]" * 1_000_000, Code.JSON_SYNTAX),
    (b'{"a":' * 40 + b"1" + b"}" * 40, Code.LIMITS_DEPTH),
    (b'"' + b"[" * 100, Code.JSON_SYNTAX),
    (b'"\\"' + b"[" * 100 + b'"' + b"[" * 40, Code.LIMITS_DEPTH),
    (b"[1,]", Code.JSON_SYNTAX),
    (b"[1]]", Code.JSON_SYNTAX),
    (b"01", Code.JSON_SYNTAX),
    (b'"\x1f"', Code.JSON_SYNTAX),
    (b"'a'", Code.JSON_SYNTAX),
    (b"// x\n1", Code.JSON_SYNTAX),
    (b"NaN", Code.JSON_NUMBER),
    (b"[Infinity]", Code.JSON_NUMBER),
    (b"[-Infinity]", Code.JSON_NUMBER),
    (b"-0", Code.JSON_NUMBER),
    (b"1.0", Code.JSON_NUMBER),
    (b"1e2", Code.JSON_NUMBER),
    (b"1e400", Code.JSON_NUMBER),
    (b"9007199254740992", Code.JSON_INTEGER_RANGE),
    (b"-9007199254740992", Code.JSON_INTEGER_RANGE),
    (b"9" * 5_000, Code.JSON_INTEGER_RANGE),
    (b"9" * 1_000_000, Code.JSON_INTEGER_RANGE),
    (b'{"a":1,"a":1}', Code.JSON_DUPLICATE_KEY),
    (b'{"a":1,"\\u0061":2}', Code.JSON_DUPLICATE_KEY),
    (b'{"":1}', Code.JSON_KEY),
    (b'{"a\\n":1}', Code.JSON_KEY),
    (b'{"A":1}', Code.JSON_KEY),
    ('{"a\u0660":1}'.encode(), Code.JSON_KEY),
    (b'{"__proto__":1}', Code.JSON_KEY),
    (b'"\\ud800"', Code.JSON_SURROGATE),
    (b'["\\udc00\\ud800"]', Code.JSON_SURROGATE),
    (b"1 ", Code.JSON_NOT_CANONICAL),
    (b'{"b":1,"a":2}', Code.JSON_NOT_CANONICAL),
    (b'"\\u0041"', Code.JSON_NOT_CANONICAL),
    (b'"\\/"', Code.JSON_NOT_CANONICAL),
    (b'"\\u001F"', Code.JSON_NOT_CANONICAL),
]


@pytest.mark.parametrize(("data", "code"), REFUSED, ids=range(len(REFUSED)))
def test_hostile_bytes_are_refused_for_their_reason(data: bytes, code: Code) -> None:
    assert refused(parse, data, limit_bytes=LIMIT) is code


@pytest.mark.parametrize(("data", "code"), REFUSED, ids=range(len(REFUSED)))
def test_a_loose_reading_refuses_all_but_the_form(data: bytes, code: Code) -> None:
    if code is Code.JSON_NOT_CANONICAL:
        assert parse_loose(data, limit_bytes=LIMIT) == json.loads(data)
    else:
        assert refused(parse_loose, data, limit_bytes=LIMIT) is code


@given(VALUES, st.booleans())
def test_a_loose_reading_gives_the_value_of_any_form(value: object, is_ascii: bool) -> None:
    data = json.dumps(value, ensure_ascii=is_ascii, indent=2).encode()
    assert parse_loose(data, limit_bytes=LIMIT) == value


def test_size_is_checked_first() -> None:
    for read in (parse, parse_loose):
        assert refused(read, b"\xff" * 11, limit_bytes=10) is Code.LIMITS_BYTES


def test_the_permitted_depth_is_read() -> None:
    data = b"[" * 32 + b"]" * 32
    assert canonical(parse(data, limit_bytes=LIMIT)) == data


def test_syntax_goes_before_domain() -> None:
    assert refused(parse, b"[NaN,]", limit_bytes=LIMIT) is Code.JSON_SYNTAX


@pytest.mark.parametrize(
    ("data", "path"),
    [(b'{"a":[1,{"b":1.5}]}', "$.a[1].b"), (b'[{"a":"\\ud800"}]', "$[0].a"), (b'{"a":{"b":1,"b":2}}', "$.a")],
)
def test_a_reason_tells_the_place(data: bytes, path: str) -> None:
    with pytest.raises(VerifyError) as caught:
        parse(data, limit_bytes=LIMIT)
    assert caught.value.reason.path == path


def test_a_reason_tells_the_byte() -> None:
    with pytest.raises(VerifyError) as caught:
        parse('["é" 1]'.encode(), limit_bytes=LIMIT)
    assert "byte 6" in caught.value.reason.detail


@pytest.mark.parametrize(
    "data", [b'"' + b'\\"' * 4_000_000 + b'"', b"[" * 8_000_000, b'"' * 8_000_001, b"\\" * 8_000_000]
)
def test_bombs_take_linear_time(data: bytes) -> None:
    start = time.monotonic()
    with suppress(VerifyError):
        parse(data, limit_bytes=LIMIT)
    assert time.monotonic() - start < 10


@given(VALUES)
def test_a_value_survives_writing_and_reading(value: object) -> None:
    data = canonical(value)
    assert canonical(parse(data, limit_bytes=LIMIT)) == data
    assert json.loads(data) == value


@given(
    st.binary(max_size=64)
    | VALUES.map(canonical).flatmap(
        lambda d: st.integers(0, 255).map(lambda b: d[: b % len(d)] + bytes([b]) + d[b % len(d) :])
    )
)
def test_any_bytes_give_a_value_or_a_reason(data: bytes) -> None:
    try:
        value = parse(data, limit_bytes=LIMIT)
    except VerifyError:
        return
    assert canonical(value) == data


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (1.0, Code.JSON_NUMBER),
        ([2**53], Code.JSON_INTEGER_RANGE),
        ({"A": 1}, Code.JSON_KEY),
        ({1: 1}, Code.JSON_KEY),
        ("\ud800", Code.JSON_SURROGATE),
        (b"", Code.JSON_NUMBER),
    ],
)
def test_writing_refuses_what_is_outside_the_domain(value: object, code: Code) -> None:
    assert refused(canonical, value) is code
