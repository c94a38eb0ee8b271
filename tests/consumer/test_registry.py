"""Reading a ``kansho.registry.v1`` document as sources: strict, and nothing lost."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import Code, MappingSources, VerifyError, read_registry, registry
from kansho_verify.limits import Limits
from kansho_verify.sources import SeveralSources
from tests.consumer.checking import refused
from tests.support.forge import sha

SOURCE: dict[str, Any] = {"source_id": "turn-1", "role": "user", "text": "Hello"}


def document(*sources: Any, **members: Any) -> dict[str, Any]:
    return {"schema": "kansho.registry.v1", "sources": list(sources or [SOURCE]), **members}


def written(value: Any, **options: Any) -> bytes:
    return json.dumps(value, **options).encode()


FULL = {**SOURCE, "media_type": "text/markdown", "metadata": [{"name": "turn", "value": ""}]}

REFUSED: list[tuple[bytes, Code]] = [
    (b"", Code.JSON_SYNTAX),
    (b"# Refunds\n", Code.JSON_SYNTAX),
    (written(document())[:-1], Code.JSON_SYNTAX),
    (written(document()) + b"{}", Code.JSON_SYNTAX),
    (b"\xef\xbb\xbf" + written(document()), Code.JSON_BOM),
    (json.dumps(document()).encode("utf-16"), Code.JSON_UTF8),
    (written(document()).replace(b"Hello", b"\xe9"), Code.JSON_UTF8),
    (written(document()).replace(b"Hello", b"\xed\xa0\x80"), Code.JSON_UTF8),
    (written(document({**SOURCE, "text": "\ud800"})), Code.JSON_SURROGATE),
    (written(document({**SOURCE, "text": "\udc00\ud800"})), Code.JSON_SURROGATE),
    (written(document()).replace(b'"text":', b'"text":"","text":'), Code.JSON_DUPLICATE_KEY),
    (written(document()).replace(b'"text":', b'"te\\u0078t":"","text":'), Code.JSON_DUPLICATE_KEY),
    (written(document(Sources=[])), Code.JSON_KEY),
    (written(document({**SOURCE, "text": 1.5})), Code.JSON_NUMBER),
    (b"[" * 40 + b"]" * 40, Code.LIMITS_DEPTH),
    (b"[" + b"0," * 2**24 + b"0]", Code.LIMITS_ITEMS),
    (written([document()]), Code.SCHEMA_VIOLATION),
    (b"null", Code.SCHEMA_VIOLATION),
    (b"{}", Code.SCHEMA_VIOLATION),
    (written(document(extra=1)), Code.SCHEMA_VIOLATION),
    (written(document(schema="kansho.registry.v2")), Code.SCHEMA_VIOLATION),
    (written(document(sources=[])), Code.SCHEMA_VIOLATION),
    (written(document(sources={})), Code.SCHEMA_VIOLATION),
    (written(document({**SOURCE, "text": None})), Code.SCHEMA_VIOLATION),
    (written(document({**SOURCE, "text": ["Hello"]})), Code.SCHEMA_VIOLATION),
    (written(document({**SOURCE, "source_id": "a\nb"})), Code.SCHEMA_VIOLATION),
    (written(document({**SOURCE, "source_id": ""})), Code.SCHEMA_VIOLATION),
    (written(document({**SOURCE, "unknown": ""})), Code.SCHEMA_VIOLATION),
    (written(document({name: SOURCE[name] for name in ("source_id", "text")})), Code.SCHEMA_VIOLATION),
    (written(document({**FULL, "media_type": None})), Code.SCHEMA_VIOLATION),
    (written(document({**FULL, "metadata": {"turn": ""}})), Code.SCHEMA_VIOLATION),
    (written(document({**FULL, "metadata": [{"name": "turn", "value": 1}]})), Code.SCHEMA_VIOLATION),
    (written(document(SOURCE, {**SOURCE, "text": "Another"})), Code.SCHEMA_VIOLATION),
    (written(document(SOURCE, SOURCE)), Code.SCHEMA_VIOLATION),
    (written(document(*({**SOURCE, "source_id": str(i)} for i in range(16_385)))), Code.SCHEMA_VIOLATION),
]


@pytest.mark.parametrize(("data", "code"), REFUSED, ids=range(len(REFUSED)))
def test_a_hostile_file_is_refused_for_its_reason(data: bytes, code: Code) -> None:
    assert refused(read_registry, data) is code


@pytest.mark.parametrize(
    "data",
    [
        written(document()),
        written(document(), indent=4),
        b" \n" + written(document()) + b"\r\n",
        written(document()).replace(b"Hello", b"\\u0048ello"),
        written(dict(reversed(document().items()))),
    ],
)
def test_a_file_need_not_be_canonical(data: bytes) -> None:
    assert read_registry(data) == {"turn-1": b"Hello"}


def test_every_member_that_is_allowed() -> None:
    assert read_registry(written(document(FULL, {**FULL, "source_id": "turn-2", "text": ""}))) == {
        "turn-1": b"Hello",
        "turn-2": b"",
    }


def test_two_names_that_differ_only_by_case_are_two_sources() -> None:
    """Whether the producer takes them is its own affair: here a name decides nothing."""
    assert len(read_registry(written(document(SOURCE, {**SOURCE, "source_id": "TURN-1"})))) == 2


@given(
    st.dictionaries(st.from_regex(r"[a-z0-9/]{1,9}", fullmatch=True), st.text(max_size=20), min_size=1),
    st.booleans(),
)
def test_the_raw_bytes_are_the_utf_8_bytes_of_the_text(texts: dict[str, str], is_ascii: bool) -> None:
    sources = [{"source_id": name, "role": "user", "text": text} for name, text in texts.items()]
    found = read_registry(written(document(*sources), ensure_ascii=is_ascii, indent=1))
    assert found == {name: text.encode("utf-8") for name, text in texts.items()}


@given(st.binary(max_size=80))
def test_any_bytes_give_sources_or_a_reason(data: bytes) -> None:
    whole = written(document())
    for hostile in (data, whole[: len(data)] + data + whole[len(data) :]):
        try:
            found = read_registry(hostile)
        except VerifyError:
            continue
        assert list(found) != []


def test_limits_of_the_file_and_of_one_source() -> None:
    data = written(document({**SOURCE, "text": "éé"}), ensure_ascii=False)
    with mock.patch.object(registry, "LIMITS", Limits(registry_bytes=len(data), raw_source_bytes=4)):
        assert read_registry(data) == {"turn-1": "éé".encode()}
    for limits in (Limits(registry_bytes=len(data) - 1), Limits(raw_source_bytes=3)):
        with mock.patch.object(registry, "LIMITS", limits):
            assert refused(read_registry, data) is Code.LIMITS_BYTES


@pytest.mark.parametrize(
    ("sources", "path"),
    [
        ([SOURCE, SOURCE], "$.sources[1].source_id"),
        ([SOURCE, {**SOURCE, "source_id": "b", "text": "\ud800"}], "$.sources[1].text"),
        ([SOURCE, {**SOURCE, "source_id": 1}], "$.sources[1].source_id"),
    ],
)
def test_a_reason_tells_the_place(sources: list[Any], path: str) -> None:
    with pytest.raises(VerifyError) as caught:
        read_registry(written(document(*sources)))
    assert caught.value.reason.path == path


def test_several_places_are_one() -> None:
    both = SeveralSources(MappingSources({"a": b"1"}), MappingSources({"b": b"22", "a": b"3"}))
    assert [both.find(sha(raw), len(raw)) for raw in (b"1", b"22", b"3", b"4")] == [b"1", b"22", b"3", None]
    assert both.find(sha(b"1"), 2) is None
    assert [both.has_name(name) for name in ("a", "b", "c")] == [True, True, False]
    assert SeveralSources().find(sha(b""), 0) is None
