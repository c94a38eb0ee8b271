"""Validation against the shipped schemas."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from kansho_sign.errors import InputError
from kansho_sign.schema import validate
from kansho_sign.workspace import NEWCOMER_POLICY
from tests import ROOT
from tests.support.workspaces import answer_json


def patterns(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["pattern"]] if isinstance(value.get("pattern"), str) else []
        return own + [one for member in value.values() for one in patterns(member)]
    return [one for item in value for one in patterns(item)] if isinstance(value, list) else []


def test_every_pattern_says_where_it_ends() -> None:
    found = [
        one for path in sorted((ROOT / "schemas").glob("*.json")) for one in patterns(json.loads(path.read_bytes()))
    ]
    assert len(found) > 20
    assert all(one.startswith("^") and one.endswith("$") for one in found)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("label", "a"),
        ("document", "a/b"),
        ("source_uri", "a"),
        ("media_type", "text/plain"),
        ("revision", "p-v1"),
        ("unicode_version", "18.0.0"),
    ],
)
def test_a_last_line_feed_matches_nothing(name: str, good: str) -> None:
    pointer = f"#/$defs/{name}"
    validate(good, "common", pointer)
    for bad in (good + "\n", "\n" + good, good + "\n\n", good + "\r", "", " " + good, 1, None, [good]):
        with pytest.raises(InputError) as caught:
            validate(bad, "common", pointer)
        assert caught.value.code == "schema.violation"


def test_a_last_line_feed_matches_nothing_behind_references() -> None:
    validate(NEWCOMER_POLICY, "policy")
    with pytest.raises(InputError) as caught:
        validate({**NEWCOMER_POLICY, "allowed_roles": ["document\n"]}, "policy")
    assert (caught.value.code, caught.value.where) == ("schema.violation", "$.allowed_roles[0]")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"extra": 1}, "$"),
        ({"evidence": None}, "$.evidence"),
        ({"evidence": [{"source_id": "a"}]}, "$.evidence[0]"),
        ({"evidence": [{"source_id": "a", "excerpt": 1}]}, "$.evidence[0].excerpt"),
        ({"evidence": [{"source_id": "a", "excerpt": "x", "start": 1}]}, "$.evidence[0]"),
        ({"annotations": [{"text": "", "evidence": []}]}, "$.annotations[0].text"),
        ({"annotations": [{"text": "x", "evidence": [-1]}]}, "$.annotations[0].evidence[0]"),
        ({"annotations": [{"text": "x", "evidence": [True]}]}, "$.annotations[0].evidence[0]"),
        ({"annotations": [{"text": "x", "evidence": [0, 0]}]}, "$.annotations[0].evidence"),
        ({"schema": "kansho.answer.v2"}, "$.schema"),
        ({"answer": "x" * 1_048_577}, "$.answer"),
    ],
)
def test_faults_have_a_place(change: dict[str, Any], where: str) -> None:
    good = answer_json(("a", "b"))
    validate(good, "answer")
    with pytest.raises(InputError) as caught:
        validate({**good, **change}, "answer")
    assert (caught.value.code, caught.value.where) == ("schema.violation", where)
    assert len(caught.value.why) <= 200
    assert caught.value.why.isascii() or caught.value.why.endswith("…")


def test_a_hostile_name_is_shown_escaped() -> None:
    with pytest.raises(InputError) as caught:
        validate({**answer_json(), "\x1b[31m\u202e" + "x" * 1_000: 1}, "answer")
    assert "\x1b" not in caught.value.why
    assert "\u202e" not in caught.value.why
    assert len(caught.value.why) <= 200


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a connection"))
    for name in ("missing", "http://example.org/x"):
        with pytest.raises(Exception, match=r"(?i)unresolvable|PointerToNowhere"):
            validate({}, name)
