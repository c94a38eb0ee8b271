"""Canonical JSON of the producer (docs/spec/canonical-json.md)."""

from __future__ import annotations

import base64
import enum
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign import strict_json
from kansho_sign.canonical_json import dumps, loads, sha256_hex
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

LIMIT = 1_000_000
EDGE = 2**53 - 1
DEEP = 100_000


def code_of(data: bytes, *, canonical: bool = False, limit: int = LIMIT) -> str | None:
    """The code that reading these bytes is refused with; None when they are read."""
    try:
        loads(data, limit, canonical=canonical)
    except InputError as error:
        return error.code
    return None


class StrangeInt(int):
    pass


class StrangeText(enum.StrEnum):
    ONE = "one"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (1.0, "json.type"),
        (float("nan"), "json.type"),
        ((1,), "json.type"),
        (b"x", "json.type"),
        ({1}, "json.type"),
        (StrangeInt(1), "json.type"),
        (StrangeText.ONE, "json.type"),
        (object(), "json.type"),
        (EDGE + 1, "json.integer_range"),
        (-EDGE - 1, "json.integer_range"),
        (10**400, "json.integer_range"),
        ("\ud800", "json.surrogate"),
        (["a", {"b": "x\udfff"}], "json.surrogate"),
        ({"A": 1}, "json.key"),
        ({"": 1}, "json.key"),
        ({"1a": 1}, "json.key"),
        ({"a-b": 1}, "json.key"),
        ({"a\n": 1}, "json.key"),
        ({"é": 1}, "json.key"),
        ({1: 1}, "json.key"),
        ({None: 1}, "json.key"),
        (nested(33), "limits.depth"),
        (nested(DEEP), "limits.depth"),
    ],
)
def test_values_outside_the_domain_are_refused(value: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        dumps(value)
    assert caught.value.code == code


def test_the_place_of_a_refused_value_is_named() -> None:
    with pytest.raises(InputError) as caught:
        dumps({"a": [0, {"b": 0.5}]})
    assert caught.value.where == "$.a[1].b"


@pytest.mark.parametrize("empty", [[], {}], ids=["array", "object"])
def test_what_is_written_can_be_read_at_the_deepest_nesting(empty: Any) -> None:
    value = empty
    for _ in range(31):
        value = [value]
    assert loads(dumps(value), LIMIT, canonical=True) == value
    for read in (dumps, lambda deeper: loads(json.dumps(deeper).encode(), LIMIT, canonical=False)):
        with pytest.raises(InputError) as caught:
            read([value])
        assert caught.value.code == "limits.depth"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"null"),
        (True, b"true"),
        (False, b"false"),
        (0, b"0"),
        (EDGE, b"9007199254740991"),
        (-EDGE, b"-9007199254740991"),
        ("", b'""'),
        ('"\\/', b'"\\"\\\\/"'),
        ("\b\t\n\f\r", b'"\\b\\t\\n\\f\\r"'),
        ("\x00\x0b\x1f\x7f", b'"\\u0000\\u000b\\u001f\x7f"'),
        ("\u2028\ufffe\U0010ffff", '"\u2028\ufffe\U0010ffff"'.encode()),
        ({"b": 1, "a": 2, "a0": 3, "a_": 4}, b'{"a":2,"a0":3,"a_":4,"b":1}'),
        ([], b"[]"),
        ({}, b"{}"),
    ],
)
def test_bytes(value: object, expected: bytes) -> None:
    assert dumps(value) == expected
    assert loads(expected, LIMIT, canonical=True) == value


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json.syntax"),
        (b" ", "json.syntax"),
        (b"nul", "json.syntax"),
        (b'{"a":1', "json.syntax"),
        (b'{"a":1}}', "json.syntax"),
        (b"[1,]", "json.syntax"),
        (b"[}", "json.syntax"),
        (b'"a', "json.syntax"),
        (b'"\t"', "json.syntax"),
        (b'"\\x"', "json.syntax"),
        (b"'a'", "json.syntax"),
        (b"1 2", "json.syntax"),
        (b"01", "json.syntax"),
        (b"+1", "json.syntax"),
        (b"NaN", "json.syntax"),
        (b"Infinity", "json.syntax"),
        (b"-Infinity", "json.syntax"),
        (b"1.0", "json.number"),
        (b"1e2", "json.number"),
        (b"1e400", "json.number"),
        (b"-0", "json.number"),
        (b'{"a":[-0]}', "json.number"),
        (b"-0.0", "json.number"),
        (b"9007199254740992", "json.integer_range"),
        (b"-9007199254740992", "json.integer_range"),
        (b"9" * 100_000, "json.integer_range"),
        (b'{"a":1,"a":1}', "json.duplicate_key"),
        (b'{"a":1,"\\u0061":2}', "json.duplicate_key"),
        (b'[{"b":{"a":1,"a":1}}]', "json.duplicate_key"),
        (b'{"A":1}', "json.key"),
        (b'"\\ud800"', "json.surrogate"),
        (b'"\\udc00\\ud800"', "json.surrogate"),
        (b"\xef\xbb\xbf{}", "json.bom"),
        (b"\xff\xfe{\x00}\x00", "json.utf8"),
        (b"{\x00}\x00", "json.syntax"),
        (b'"\xc0\xaf"', "json.utf8"),
        (b'"\xed\xa0\x80"', "json.utf8"),
        (b'"\xf4\x90\x80\x80"', "json.utf8"),
        (b"[" * DEEP, "limits.depth"),
        (b"[" * DEEP + b"]" * DEEP, "limits.depth"),
        (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "limits.depth"),
        (b'["' + b"[" * DEEP + b'"' + b"[" * DEEP, "limits.depth"),
        (b'"' + b"[" * DEEP, "json.syntax"),
        (b'\\"' + b"[" * DEEP + b'"', "json.syntax"),
        (b"]" * DEEP, "json.syntax"),
    ],
    ids=lambda value: None if isinstance(value, bytes) and len(value) > 40 else repr(value),
)
def test_bytes_that_are_refused(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_brackets_inside_strings_are_not_nesting() -> None:
    value = ["[" * 1_000, '\\"{{{', '"[[[[']
    assert loads(dumps(value), LIMIT, canonical=True) == value


@pytest.mark.parametrize("piece", [b'\\"', b"\\\\", b'"', b'\\"[', b'"\\'])
def test_hostile_quoting_is_read_in_linear_time(piece: bytes) -> None:
    """A scan that starts anew at each quotation mark would take hours."""
    data = b'"' + piece * 1_000_000
    assert code_of(data, limit=len(data)) in ("json.syntax", "limits.depth")


def test_the_limit_counts_members_and_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "LIMITS", replace(LIMITS, json_items=4))
    assert code_of(b'[{"a":",,[[{{"},1,2]') is None
    assert code_of(b'[{"a":1},1,2,3]') == "limits.items"


def test_the_limit_counts_bytes() -> None:
    assert code_of(b'"\xc3\xa9"', limit=4) is None
    assert code_of(b'"\xc3\xa9"', limit=3) == "limits.bytes"


@pytest.mark.parametrize(
    "data",
    [
        b" 1",
        b"1\n",
        b'{"a": 1}',
        b'{"b":1,"a":2}',
        b'"\\u0041"',
        b'"\\/"',
        b'"\\u000a"',
        b'"\\u001F"',
        b'"\\ud83d\\ude00"',
    ],
)
def test_what_is_not_canonical_is_refused_only_where_it_must_be(data: bytes) -> None:
    assert code_of(data) is None
    assert code_of(data, canonical=True) == "json.not_canonical"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-EDGE, EDGE),
    st.text(st.characters(codec="utf-8")),
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=20)


@given(VALUES)
def test_round_trip(value: object) -> None:
    data = dumps(value)
    assert loads(data, LIMIT, canonical=True) == value
    assert dumps(json.loads(data)) == data
    assert loads(json.dumps(value, indent=1).encode(), LIMIT, canonical=False) == value


@given(st.binary(max_size=60) | st.text('[]{}",:\\u0e-1.tfn ', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    if code_of(data) is None:
        value = loads(data, LIMIT, canonical=False)
        assert loads(dumps(value), LIMIT, canonical=True) == value


@given(VALUES)
def test_member_order_does_not_count(value: object) -> None:
    def reversed_members(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: reversed_members(item[name]) for name in reversed(item)}
        return [reversed_members(one) for one in item] if isinstance(item, list) else item

    assert sha256_hex(reversed_members(value)) == sha256_hex(value)


def test_jcs_pairs(vectors: Path, subtests: pytest.Subtests) -> None:
    """Inside the domain the bytes are those of the reference; values outside it are refused, not mended."""
    folder, inside = vectors / "json" / "jcs", []
    for path in sorted((folder / "input").glob("*.json")):
        with subtests.test(id=path.stem):
            data, expected = path.read_bytes(), (folder / "output" / path.name).read_bytes()
            if code_of(data) is None:
                inside.append(path.stem)
                assert dumps(loads(data, LIMIT, canonical=False)) == expected
                assert code_of(expected, canonical=True) is None
            else:
                # Out of the domain by its names or its numbers; the reference has them, we do not.
                assert code_of(data) in ("json.key", "json.number")
                assert code_of(expected) in ("json.key", "json.number")
    assert inside == []  # none of the six pairs lies in the restricted domain


def test_jcs_strings_and_arrays(vectors: Path, subtests: pytest.Subtests) -> None:
    """The parts of the pairs that do lie in the domain: every string, and every name as a string."""
    folder = vectors / "json" / "jcs"
    checked = 0
    for path in sorted((folder / "input").glob("*.json")):
        output = (folder / "output" / path.name).read_bytes()

        def visit(value: Any, output: bytes = output) -> int:
            if isinstance(value, dict):
                return sum(visit(name) + visit(member) for name, member in value.items())
            if isinstance(value, list):
                return sum(visit(item) for item in value)
            if isinstance(value, float):
                return 0
            assert dumps(value) in output
            return 1

        with subtests.test(id=path.stem):
            checked += visit(json.loads(path.read_bytes()))
    assert checked > 20


REFUSED_FEATURES = {
    "negative-zero": ("json.number",),
    "non-integer-number": ("json.number", "json.integer_range"),
    "duplicate-member": ("json.duplicate_key",),
}
"""What the domain leaves out of RFC 8259; other features are accepted."""


def test_json_test_suite(vectors: Path, subtests: pytest.Subtests) -> None:
    suite = json.loads((vectors / "json" / "JSONTestSuite" / "cases.json").read_bytes())
    features = json.loads((vectors / "json" / "JSONTestSuite" / "features.json").read_bytes())["y_cases"]
    files = {name.rsplit("/", 1)[1]: base64.b64decode(data) for name, data in suite["files"].items()}
    files["n_structure_100000_opening_arrays.json"] = b"[" * 100_000
    files["n_structure_open_array_object.json"] = b'[{"":' * 50_000 + b"\n"
    assert sum(name.startswith("n_") for name in files) == 188
    for name, data in sorted(files.items()):
        with subtests.test(id=name):
            code = code_of(data)
            if name.startswith("n_"):
                assert code is not None
            elif name.startswith("y_"):
                allowed = [code for feature in features[name] for code in REFUSED_FEATURES.get(feature, ())]
                # Names of the domain are [a-z][a-z0-9_]*; the suite uses others.
                assert code is None or code in allowed or (code == "json.key" and b"{" in data)
                if set(features[name]) & {"negative-zero", "duplicate-member"}:
                    assert code is not None
            elif name.startswith("i_"):
                assert code == I_VERDICTS.get(name, code)
                assert (code is None) == (name in I_ACCEPTED)


I_ACCEPTED: frozenset[str] = frozenset()
I_VERDICTS = {
    "i_structure_500_nested_arrays.json": "limits.depth",
    "i_structure_UTF-8_BOM_empty_object.json": "json.bom",
    "i_number_too_big_pos_int.json": "json.integer_range",
    "i_number_too_big_neg_int.json": "json.integer_range",
    "i_number_huge_exp.json": "json.number",
    "i_string_UTF-16LE_with_BOM.json": "json.utf8",
    "i_string_1st_surrogate_but_2nd_missing.json": "json.surrogate",
    "i_string_lone_utf8_continuation_byte.json": "json.utf8",
}


def test_naughty_strings(vectors: Path, subtests: pytest.Subtests) -> None:
    strings = json.loads((vectors / "bad-input" / "blns.json").read_bytes())
    assert len(strings) > 500
    for position, text in enumerate(strings):
        with subtests.test(id=str(position)):
            assert loads(dumps({"a": text}), LIMIT, canonical=True) == {"a": text}


def test_hostile_strings_and_raw_bytes(vectors: Path, subtests: pytest.Subtests) -> None:
    data = json.loads((vectors / "bad-input" / "unicode_and_bombs.json").read_bytes())
    for case in data["text"]:
        with subtests.test(id=case["id"]):
            assert loads(dumps([case["text"]]), LIMIT, canonical=True) == [case["text"]]
    for case in data["raw_bytes"]:
        with subtests.test(id=case["id"]):
            raw = bytes.fromhex(case["hex"])
            inside = code_of(b'"' + raw + b'"')
            assert (inside is None) == case["strict_utf8"]
            assert code_of(raw) in ("json.utf8", "json.bom")
    members = {f"k{number}": number for number in range(100_000)}
    assert loads(dumps(members), 10_000_000, canonical=True) == members
