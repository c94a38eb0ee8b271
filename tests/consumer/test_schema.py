"""The schemas: the first violation with its place, nothing fetched, and a short cut that never says yes wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kansho_verify import Code, VerifyError, schema
from kansho_verify.leaves import plain_test
from tests import ROOT
from tests.support.forge import Forge

NAMES = sorted(path.name.removesuffix(".v1.schema.json") for path in (ROOT / "schemas").glob("*.v1.schema.json"))
SAMPLES: list[Any] = [
    None, True, False, 0, 1, -1, 2**53 - 1, 2**53, 1.0, "", "a", "a\n", "A", "default", "x" * 64, "0" * 64, "0" * 32,
    "0" * 64 + "\n", "can_" + "0" * 64, "clm_" + "0" * 64 + "\n", "text/plain", "15.0.0", "\u0661", "\u200b", " a",
    "a ",
    "answered", "published", "raw_exact", "kansho.public.v1", [], {}, ["a"], "a" * 5_000, "\x7f", "-", "AA", "A" * 43,
]  # fmt: skip


def subschemas(node: Any) -> Iterator[Any]:
    """Every object in an expanded schema."""
    if isinstance(node, dict):
        yield node
        for member in node.values():
            yield from subschemas(member)
    elif isinstance(node, list):
        for member in node:
            yield from subschemas(member)


PLAIN = {str(sub): sub for name in NAMES for sub in subschemas(schema._expanded(name)) if plain_test(sub) is not None}


def test_the_mirror_is_what_lies_in_the_repository() -> None:
    for name in NAMES:
        original = (ROOT / "schemas" / f"{name}.v1.schema.json").read_text("utf-8")
        assert schema.load_schema(name) == __import__("json").loads(original)


@pytest.mark.parametrize("text", PLAIN)
def test_the_short_cut_never_says_yes_where_the_validator_says_no(text: str) -> None:
    test = plain_test(PLAIN[text])
    assert test is not None
    validator = Draft202012Validator(PLAIN[text])
    for value in SAMPLES:
        if test(value):
            assert validator.is_valid(value), value


@given(st.text(max_size=70) | st.integers())
def test_the_short_cut_agrees_on_any_scalar(value: str | int) -> None:
    for sub in PLAIN.values():
        test = plain_test(sub)
        assert test is not None
        assert test(value) == Draft202012Validator(sub).is_valid(value)


@pytest.mark.parametrize(
    ("place", "value", "path"),
    [
        (
            ("public", "payload", "claims", 1, "citations", 0, "char_start"),
            True,
            "$.public.payload.claims[1].citations[0].char_start",
        ),
        (("public", "payload", "claims", 0, "text"), "", "$.public.payload.claims[0].text"),
        (("audit", "payload", "request", "question"), 5, "$.audit.payload.request.question"),
        (
            ("audit", "payload", "documents", 0, "siblings", 0),
            "0" * 63 + "\n",
            "$.audit.payload.documents[0].siblings[0]",
        ),
        (("public", "payload", "extra"), 1, "$.public.payload"),
    ],
)
def test_the_first_violation_has_its_place(place: tuple[Any, ...], value: Any, path: str) -> None:
    bundle = Forge().bundle
    node: Any = bundle
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    with pytest.raises(VerifyError) as caught:
        schema.check("bundle", bundle)
    assert caught.value.reason.code is Code.SCHEMA_VIOLATION
    assert caught.value.reason.path == path


@pytest.mark.parametrize("value", [None, 1, "a", [], {}, [[]], True])
def test_no_other_value_is_a_bundle(value: Any) -> None:
    with pytest.raises(VerifyError):
        schema.check("bundle", value)
