"""Portable document ids, labels, uris (docs/spec/lifecycle.md, Source events)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.errors import InputError
from kansho_sign.schema import validate
from kansho_sign.sources.names import check_document_id, check_label, check_source_uri, fold, uri_of_path
from tests import ROOT


def code_of(check: Callable[[], object]) -> str | None:
    try:
        check()
    except InputError as error:
        return error.code
    return None


def document(name: str) -> str | None:
    return code_of(lambda: check_document_id(name))


def label(name: str) -> str | None:
    return code_of(lambda: check_label(name, "group"))


def uri(value: str, *, public: bool = False) -> str | None:
    return code_of(lambda: check_source_uri(value, public=public))


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a.md",
        "a/b/c.md",
        "a b/c d.md",
        ".a",
        "..a",
        "a..b",
        "é/漢字.md",
        "a@b",
        "-x",
        "~",
        "%2e%2e/a",
        "con1",
        "console.md",
        "com10",
        "nulls",
        "a.con",
        "x" * 512,
        "漢" * 512,
        "#a&b=c;d+e,f!$'()",
    ],
)
def test_document_ids(name: str) -> None:
    assert document(name) is None
    validate(name, "common", "#/$defs/document")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "./a",
        "a/./b",
        "a/../b",
        "../a",
        "a\\b",
        "\\\\host\\a",
        "C:a",
        "a:b",
        "a*",
        "a?b",
        'a"',
        "<a",
        "a>",
        "a|b",
        "a.",
        "a./b",
        "a ",
        " a",
        "a /b",
        "a/ b",
        "\u3000a",
        "a\u2003",
        "CON",
        "con",
        "Con.txt",
        "a/NUL",
        "nul.tar.gz",
        "aux/b",
        "PRN.md",
        "COM1",
        "lpt9.md",
        "COM0",
        "com²",
        "LPT³.x",
        "CONIN$",
        "conout$",
        "a\x00b",
        "a\nb",
        "a\tb",
        "a\x7f",
        "a\x85b",
        "a\u200bb",
        "a\u202eb",
        "a\ufeffb",
        "a\u00adb",
        "a\u2028b",
        "a\u00a0b",
        "a\u202fb",
        "\ud800",
        "a\udcff.md",
        "a\u0378",
        "a\ufffe",
        "e\u0301",
        "\u212b",
        "x" * 513,
    ],
)
def test_document_ids_that_are_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        check_document_id(name)
    assert caught.value.code == "name.document"
    assert caught.value.where.isascii()
    assert caught.value.hint


@pytest.mark.parametrize(
    "name",
    ["", " ", " a", "a ", "\u3000a", "a\n", "a\x00", "a\u200b", "e\u0301", "\ud800", "x" * 257, "a\u00a0b", "\u00a0"],
)
def test_labels_that_are_refused(name: str) -> None:
    assert label(name) == "name.label"


def test_whatever_is_accepted_can_be_signed() -> None:
    """What the rules let in must be what the schemas allow, or a published document could never be cited."""
    schema = json.loads((ROOT / "schemas" / "common.v1.schema.json").read_bytes())["$defs"]
    label_pattern, document_pattern = (re.compile(schema[name]["pattern"]) for name in ("label", "document"))
    accepted = 0
    points = [*range(0x3400), *range(0xD700, 0x20000), *range(0x3400, sys.maxunicode + 1, 97)]
    for point in points:
        for name in (chr(point), f"a{chr(point)}b"):
            if label(name) is None:
                accepted += 1
                assert label_pattern.search(name), hex(point)
            if document(name) is None:
                assert document_pattern.search(name), hex(point)
    assert accepted > 2 * 30_000


@given(st.text(max_size=8))
def test_any_name_is_accepted_or_refused(name: str) -> None:
    if document(name) is None:
        validate(name, "common", "#/$defs/document")
        made = uri_of_path(name)
        assert uri(made) is None
        validate(made, "common", "#/$defs/source_uri")
        assert fold(fold(name)) == fold(name)
    else:
        assert document(name) == "name.document"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A.md", "a.MD"),
        ("STRASSE", "straße"),
        ("ﬁ", "fi"),
        ("Ａ", "a"),
        ("Å", "a\u030a"),
        ("K", "\u212a"),
        ("ſ", "S"),
        ("ΣΑΣ", "σας"),
        ("É", "e\u0301"),
    ],
)
def test_names_in_conflict(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_names_apart() -> None:
    assert len({fold(name) for name in ("a", "b", "á", "a/", "1", "а")}) == 6


@pytest.mark.parametrize(
    "value",
    [
        "a",
        "a/b.md",
        "https://example.org/a",
        "https://example.org/a#b",
        "urn:x:y",
        "a@b",
        "file:///a@b",
        "a%3Fb",
        "x" * 2_048,
    ],
)
def test_uris(value: str) -> None:
    assert uri(value) is None
    validate(value, "common", "#/$defs/source_uri")


@pytest.mark.parametrize(
    "value",
    [
        "https://u:p@example.org/a",
        "https://u@example.org/a",
        "https://:p@example.org",
        "https://@example.org",
        "//u@h/a",
        "https://example.org/a?token=1",
        "a?b=c",
        "?a",
        "ftp:u@h",
        "mailto:u@h",
        "HTTPS://U@h",
    ],
)
def test_uris_with_a_secret(value: str) -> None:
    assert uri(value) == "name.source_uri"
    assert uri(value, public=True) is None


@pytest.mark.parametrize(
    "value", ["", "a b", "a\n", "\ta", "é", "a\u200b", "a\x7f", "a\x00", "x" * 2_049, "https://[::1", "\ud800"]
)
def test_uris_that_are_none(value: str) -> None:
    """No word that it is public helps."""
    assert uri(value) == uri(value, public=True) == "name.source_uri"


def test_uri_of_a_path() -> None:
    assert uri_of_path("a b/é#?.md") == "a%20b/%C3%A9%23%3F.md"
    assert uri_of_path("a", "https://example.org/") == "https://example.org/a"
