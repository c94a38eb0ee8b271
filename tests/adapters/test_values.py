"""Names and offsets out of what a provider wrote."""

from __future__ import annotations

import pytest

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Hint, Reference
from kansho_sign.adapters.values import hint, index, location, loose, loose_index, named, text_of
from kansho_sign.errors import InputError
from tests.adapters.foreign_json import deep


@pytest.mark.parametrize("pair", [(-1, 4), (4, 3), (None, 3), (0, None), ("0", "3"), (True, 3), (0.0, 3.0), ([], {})])
def test_no_hint(pair: tuple[object, object]) -> None:
    assert hint(*pair) is None


def test_hint() -> None:
    assert hint(0, 0) == Hint(0, 0)
    assert hint(3, 2**80) == Hint(3, 2**80)


@pytest.mark.parametrize("value", [-1, 2**31, pytest.param(10**5000, id="huge"), True, 1.0, "1", [], {}])
def test_no_index(value: object) -> None:
    with pytest.raises(InputError) as refused:
        index(Node(value, "$.i"))
    assert (refused.value.code, refused.value.where) == ("adapter.shape", "$.i")
    assert loose_index(value) == []


def test_index() -> None:
    assert index(None) == []
    assert index(Node(0)) == loose_index(0) == [Reference("index", "0")]


@pytest.mark.parametrize("value", [None, "", 3, True, ["x"], pytest.param(deep("x"), id="deep")])
def test_free_metadata_names_nothing(value: object) -> None:
    assert loose("title", value) == []
    assert location(value, "filename") == []


def test_named() -> None:
    assert named("title", None) == named("title", Node("")) == []
    assert named("title", Node(" a ")) == [Reference("title", " a ")]
    with pytest.raises(InputError) as refused:
        named("title", Node(3, "$.t"))
    assert (refused.value.code, refused.value.where) == ("adapter.shape", "$.t")


@pytest.mark.parametrize(
    ("value", "ways"),
    [
        ("https://a.example/x", ["uri"]),
        ("s3://bucket/x", ["uri"]),
        ("urn:isbn:1", ["uri"]),
        ("policies/refund.md", ["uri", "filename"]),
        ("C:\\docs\\refund.md", ["uri", "filename"]),
        ("/srv/refund: new.md", ["uri", "filename"]),
    ],
)
def test_location(value: str, ways: list[str]) -> None:
    assert location(value, "filename") == [Reference(way, value) for way in ways]


def test_text_to_the_letter() -> None:
    assert text_of(Node(" \n\u0000\ud800 ")) == " \n\u0000\ud800 "
    assert text_of(None) == ""
    with pytest.raises(InputError) as refused:
        text_of(Node(["a"], "$.x"))
    assert (refused.value.code, refused.value.where) == ("adapter.shape", "$.x")
