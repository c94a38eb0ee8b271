"""Quotations in Markdown (docs/spec/adapters/quotes.md)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kansho_sign.adapters import quotes
from kansho_sign.adapters.quotes import Quotes, find_quotes
from kansho_sign.adapters.quotes import blocks as quotes_blocks
from kansho_sign.adapters.quotes.inline import scan_inline
from kansho_sign.adapters.quotes.marks import PAIRS
from kansho_sign.adapters.reading import SourcesMap
from kansho_sign.errors import InputError
from kansho_sign.evidence import UntrustedAnswer
from kansho_sign.limits import LIMITS
from tests.adapters.foreign_json import cited, map_of, prose

A = "[A](a.md)"
ON_A = [("a.md", "q")]


def found(markdown: str, sources: SourcesMap | None = None) -> list[tuple[str, str]]:
    """(source_id, excerpt) of each item, where nothing is without a source."""
    made = find_quotes(markdown, sources)
    assert made.unreferenced == ()
    return cited(made.reading)


def without(markdown: str, sources: SourcesMap | None = None) -> list[tuple[int, str]]:
    """(line, text) of each quotation without a source, where none has one."""
    made = find_quotes(markdown, sources)
    assert cited(made.reading) == []
    return [(one.line, one.text) for one in made.unreferenced]


def both(markdown: str) -> tuple[list[tuple[str, str]], list[str]]:
    made = find_quotes(markdown, None)
    return cited(made.reading), [one.text for one in made.unreferenced]


def refusal(markdown: str, sources: SourcesMap | None = None) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        find_quotes(markdown, sources)
    return caught.value.code, caught.value.where


def attempt(markdown: str, sources: SourcesMap | None = None) -> Quotes | str:
    """What was found, or the code of the refusal."""
    try:
        return find_quotes(markdown, sources)
    except InputError as error:
        return error.code


def test_all_of_an_answer() -> None:
    made = find_quotes(
        "# “Head” [H](h.md)\n\nRefunds take “five\nbusiness days” ([refund](policies/refund.md)), it says.\n\n"
        "> They need\n> a receipt.\n>\n> — [refund](policies/refund.md)\n\nBoats are “free”. Quick.[^1]\n\n"
        "[^1]: [travel](travel.md): “second class”\n",
        None,
    )
    assert cited(made.reading) == [
        ("h.md", "Head"),
        ("policies/refund.md", "five\nbusiness days"),
        ("policies/refund.md", "They need\na receipt."),
        ("travel.md", "second class"),
    ]
    assert made.reading.places == ("line 1", "lines 3-4", "lines 6-7", "line 13")
    assert made.reading.hints == (None,) * 4
    assert [(one.line, one.text) for one in made.unreferenced] == [(11, "free")]
    assert prose(made.reading) == [
        ("# “Head” [H](h.md)", [0]),
        ("Refunds take “five\nbusiness days” ([refund](policies/refund.md)), it says.", [1]),
        ("> They need\n> a receipt.\n>\n> — [refund](policies/refund.md)", [2]),
        ("Boats are “free”. Quick.[^1]", [3]),
        ("[^1]: [travel](travel.md): “second class”", [3]),
    ]


@pytest.mark.parametrize(
    "reference",
    [
        f" ({A})",
        f"({A})",
        f" {A}",
        A,
        f"\n{A}",
        f"\u00a0{A}",
        " [A](<a.md>)",
        ' [A](a.md "the “title” (x)")',
        " [A *b* `c`](a.md)",
        " [“Refund” policy](a.md)",
        " [A](./a.md)",
        " [A](a.md#part)",
        " [A](a.md?v=1#part)",
        " [A](%61.md)",
        " [A](a\\.md)",
        " [A](a&#46;md)",
        " [A][r]",
        " [R][]",
        " [r]",
        " (a.md)",
        "(a.md)",
        " ( a.md )",
        " (./a.md)",
        " (`a.md`)",
        "（a.md）",
        f"（{A}）",
        "[^1]",
        " [^1]",
        " ([^1])",
        ".[^1]",
        ",\n[^1]",
        f". ({A})",
        f"* ({A})",
        f"**, ({A})",
        f" *{A}*",
        f" ( *{A}* )",
        "[^2]",
        "[^3]",
        "[^four]",
        "[^FOUR]",
        "[^5]",
    ],
)
def test_references_after_a_quotation(reference: str) -> None:
    definitions = (
        "[r]: a.md 'T'\n[R]: other.md\n[^1]: [A](a.md)\n[^1]: other.md\n[^2]: a.md\n[^3]: `a.md`\n"
        "[^four]:\n    Seen in [A](a.md), page 3.\n[^5]: a.md: “q”\n"
    )
    made = find_quotes(f"x “q”{reference} y\n\n{definitions}", None)
    assert cited(made.reading)[0] == ("a.md", "q")
    assert {source for source, _ in cited(made.reading)} == {"a.md"}
    assert made.unreferenced == ()


@pytest.mark.parametrize(
    "after",
    [
        "",
        " x",
        f" x {A}",
        f", {A}",
        f". {A}",
        f" — {A}",
        f" (see {A})",
        f" ({A}, p. 3)",
        f" ({A}",
        f"\\({A})",
        " (see a.md)",
        " (refund policy)",
        " (p. 3)",
        " (3.5)",
        " (U.S.A)",
        " (.md)",
        " (a/.md)",
        " (a.md x)",
        " ()",
        " a.md",
        " `a.md`",
        " ![A](a.md)",
        " ![^1]",
        " [A]",
        " [A][x]",
        " [A] (a.md",
        " [A](a.md",
        " [A](a b.md)",
        " [A](<a.md)",
        " [A](a.md 'x)",
        " \\[A](a.md)",
        " `[A](a.md)`",
        f" <!-- {A} -->",
        f" <i title='{A}'>",
        " [^a b]",
        " [^]",
        " [3]",
        f"\n\n{A}",
        f"\n- {A}",
    ],
)
def test_what_is_no_reference(after: str) -> None:
    assert without(f"“q”{after}") == [(1, "q")]


def test_several_references() -> None:
    made = find_quotes(
        "“q” [A](a.md) [B](b.md) ([C](c.md), [D](d.md); `e f.md`) (g.md)[^1],[^2] [^1] x [Z](z.md)", None
    )
    assert cited(made.reading) == [(source, "q") for source in ("a.md", "b.md", "c.md", "d.md", "e f.md", "g.md")] + [
        ("footnote:1", "q"),
        ("footnote:2", "q"),
    ]
    assert prose(made.reading)[0][1] == list(range(8))


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("my%20docs/%C3%A4.md", "my docs/ä.md"),
        ("<my docs/a.md>", "my docs/a.md"),
        ("./././a.md", "././a.md"),
        ("/a.md", "/a.md"),
        ("../a.md", "../a.md"),
        ("a.md%23b", "a.md#b"),
        ("a.md%2523", "a.md%23"),
        ("100%.md", "100%.md"),
        ("%zz.md", "%zz.md"),
        ("a/(b).md", "a/(b).md"),
        ("a%00.md", "a\x00.md"),
        ("%ff.md", "uri:%ff.md"),
        ("%ED%A0%80.md", "uri:%ED%A0%80.md"),
        ("", "uri:"),
        ("#part", "uri:#part"),
        ("?q", "uri:?q"),
        ("./", "uri:./"),
        ("https://a.example/a.md#x", "uri:https://a.example/a.md#x"),
        ("javascript:alert(1)", "uri:javascript:alert(1)"),
        ("data:text/plain,“x”", "uri:data:text/plain,“x”"),
        ("mailto:a@b.example", "uri:mailto:a@b.example"),
        ("C:\\docs\\a.md", "C:\\docs\\a.md"),
        ("docs\\a.md", "docs\\a.md"),
        ("a" * 512, "a" * 512),
        ("a" * 513, "uri:" + "a" * 508),
        ("a" * 100_000, "uri:" + "a" * 508),
    ],
)
def test_targets_without_a_map(target: str, source: str) -> None:
    assert found(f"“q” [x]({target})") == [(source, "q")]


def test_an_automatic_link_is_a_link() -> None:
    assert found("“q” <https://a.example/> “r” <a@b.example>") == [
        ("uri:https://a.example/", "q"),
        ("uri:mailto:a@b.example", "r"),
    ]


@pytest.mark.parametrize(
    ("plain", "source"),
    [
        ("a.md", "a.md"),
        ("my%20docs/a#b.md", "my%20docs/a#b.md"),
        ("C:\\docs\\a.md", "C:\\docs\\a.md"),
        ("https://a.example/a.md", "filename:https://a.example/a.md"),
        ("a" * 510 + ".md", "filename:" + "a" * 503),
    ],
)
def test_plain_paths_without_a_map(plain: str, source: str) -> None:
    assert found(f"“q” ({plain})") == [(source, "q")]


SOURCES = map_of(
    uri={"https://a.example/refund": "refund", "policies/refund.md": "refund", "x#y": "part"},
    filename={"my docs/travel.md": "travel", "plain.md": "plain"},
    title={"Refund policy": "refund"},
    id={"doc-1": "refund"},
    index={"3": "refund"},
)


@pytest.mark.parametrize(
    ("reference", "source"),
    [
        ("[x](https://a.example/refund)", "refund"),
        ("[x](https://a.example/refund#part)", "refund"),
        ("<https://a.example/refund>", "refund"),
        ("[x](policies/refund.md)", "refund"),
        ("[x](policies/refund.md#part)", "refund"),
        ("[x](x#y)", "part"),
        ("[x](./my%20docs/travel.md#z)", "travel"),
        ("[x](<my docs/travel.md>)", "travel"),
        ("(Refund policy)", "refund"),
        ("(`Refund policy`)", "refund"),
        ("(doc-1)", "refund"),
        ("(plain.md)", "plain"),
        ("(https://a.example/refund)", "refund"),
        ("[^1]", "refund"),
        ("[^2]", "refund"),
        ("[x](policies/other.md)", "uri:policies/other.md"),
        ("[x](refund)", "uri:refund"),
        ("[Refund policy](x)", "uri:x"),
        ("[x](HTTPS://a.example/refund)", "uri:HTTPS://a.example/refund"),
        ("(other.md)", "id:other.md"),
        ("[^3]", "id:Refund policy, page 3"),
        ("[^9]", "footnote:9"),
    ],
)
def test_references_with_a_map(reference: str, source: str) -> None:
    definitions = "\n\n[^1]: Refund policy\n[^2]: [x](policies/refund.md)\n[^3]: Refund policy, page 3"
    assert found(f"“q” {reference}{definitions}", SOURCES) == [(source, "q")]


def test_no_position_and_no_unknown_name_is_a_plain_reference() -> None:
    assert without("“q” (3) “r” (Travel policy)", SOURCES) == [(1, "q"), (1, "r")]
    assert found("“q” [A](a.md)", SourcesMap()) == [("uri:a.md", "q")]


def test_references_that_the_map_gives_two_meanings() -> None:
    sources = map_of(uri={"a.md": "one"}, filename={"a.md": "two"})
    assert refusal(f"x\n\n“q” {A}", sources) == ("adapter.map_conflict", "line 3")


@pytest.mark.parametrize(
    "quotation",
    [
        "“q”",
        "„q“",
        "„q”",
        "”q”",
        "«q»",
        "»q«",
        "‹q›",
        "›q‹",
        "‘q’",
        "‚q‘",
        "‚q’",
        "「q」",
        "『q』",
        '"q"',
        "&ldquo;q&rdquo;",
        "&quot;q&#34;",
        "&#x201c;q&#8221;",
        '\\"q\\"',
        "*“q”*",
        '**"q"**',
    ],
)
def test_marks(quotation: str) -> None:
    for before in ("", "x ", "x (", "x: "):
        assert found(f"{before}{quotation} {A} y") == ON_A


@pytest.mark.parametrize(
    ("quotation", "excerpt"),
    [
        ("“”", ""),
        ("“ q\n ”", " q\n "),
        ("« q »", " q "),
        ("«\u00a0q\u202f»", "\u00a0q\u202f"),
        ('" q "', " q "),
        ("“a ‘b’ c”", "a ‘b’ c"),
        ("“a “b” c”", "a “b” c"),
        ('"a "b" c"', 'a "b" c'),
        ("„a ‚b‘ c“", "a ‚b‘ c"),
        ("「a『b』c」", "a『b』c"),
        ("“the dogs’ food isn’t ‘here”", "the dogs’ food isn’t ‘here"),
        ("‘it isn’t’", "it isn’t"),
        ("“a « b”", "a « b"),
        ("“*a* `b”` &amp; \\* [c”](d” '”') <i x='”'>f</i>”", "*a* `b”` &amp; \\* [c”](d” '”') <i x='”'>f</i>"),
        ("“a&quot;b”", "a&quot;b"),
        ("他说“你好”", "你好"),
        ('他说"你好"', "你好"),
        ("“e\u0301”", "é"),
    ],
)
def test_excerpts_to_the_letter(quotation: str, excerpt: str) -> None:
    assert found(f"{quotation} {A}") == [("a.md", excerpt)]


@pytest.mark.parametrize(
    ("text", "cited_ones", "reported"),
    [
        (f"“lone {A}", [], [f"“lone {A}"]),
        (f"“lone {A} and “q” {A} x", ON_A, [f"“lone {A} and "]),
        (f"“q” {A} and „lone\nto the end", ON_A, ["„lone\nto the end"]),
        (f'"lone {A}', [], [f'"lone {A}']),
        (f"lone” {A}", [], ["lone”"]),
        (f"“q” {A} lone” {A} “q” {A}", [*ON_A, *ON_A], [" lone”"]),
        ("lone” x", [], []),
        (f'a 5" pipe, it’s the dogs’ and ‘twas “q” {A}', ON_A, []),
        (f"“a »b” {A}", [("a.md", "a »b")], []),
        (f"[“q”]({A[4:-1]})", [], ["q"]),
        (f"“a [b” c](x.md) d” {A}", [("a.md", "a [b” c](x.md) d")], []),
        (f"[“a](x.md) b” {A}", [], ["“a](x.md) b", "a](x.md) b”"]),
        (f'“a "b” c"” {A}', [], ['a "b', "”"]),
        ("“a (“b” [x](x.md)) c”", [], ["a (“b” [x](x.md)) c"]),
        (f"Home » Policies “q” {A}", ON_A, []),
    ],
)
def test_marks_without_a_partner(text: str, cited_ones: list[tuple[str, str]], reported: list[str]) -> None:
    assert both(text) == (cited_ones, reported)


def test_titles_of_references_are_no_quotations() -> None:
    assert found("“q” [“A” „lone](a.md) ([“A”](a.md))") == ON_A
    assert found("[^1]: [“A” „lone](a.md): “q”") == ON_A
    assert both(f"[“x” „lone](y.md) “q” {A}") == (ON_A, ["x", "„lone](y.md) "])


@pytest.mark.parametrize(
    "text",
    [
        "`“q” [A](a.md)`",
        "``“q` [A](a.md)``",
        "```\n“q” [A](a.md)\n```",
        "~~~\n“q” [A](a.md)",
        "    “q” [A](a.md)",
        "<!-- “q” [A](a.md) -->",
        "x <!-- “q” [A](a.md)\n--> y",
        "<!--\n\n“q” [A](a.md)\n\n-->",
        "<!-- “q” [A](a.md)",
        "<p title='“q” [A](a.md)'>",
        "x <p title='“q” [A](a.md)'> y",
        "x <?“q” [A](a.md)?> y",
        "x <![CDATA[“q” [A](a.md)]]> y",
        "x <!X “q” [A](a.md)> y",
        "<https://a.example/“q”> [A](a.md)",
        "[x](“q” '[A](a.md)')",
        "[x](<“q”>)",
        "[x](y '“q” [A](a.md)')",
        "[x]: <“q”> '“q” [A](a.md)'",
        "“a\n\nb” [A](a.md)",
        "“a\n- b” [A](a.md)",
        "",
        "\n",
        " \t\n",
        "\ufeff",
        ">",
        ">\n>\n",
        "---",
    ],
)
def test_where_no_quotation_is(text: str) -> None:
    made = find_quotes(text, None)
    assert cited(made.reading) == []
    assert not any(one.text == "q" for one in made.unreferenced)


def test_code_that_is_none() -> None:
    assert both("`“q” [A](a.md)") == (ON_A, [])
    assert both("\\`“q” [A](a.md)`") == (ON_A, [])
    assert both("x <!-- “q” [A](a.md)") == (ON_A, [])
    assert both("<b>“q”</b> [A](a.md)") == ([], ["q"])
    assert both("`“` “q` [A](a.md)") == ([], ["“q` [A](a.md)"])


def test_html_has_no_references() -> None:
    made = find_quotes("<div>\n“q” [A](a.md) “r” (a.md) “lone\n</div>", None)
    assert cited(made.reading) == []
    assert [(one.line, one.text) for one in made.unreferenced] == [(2, "q"), (2, "r"), (2, "“lone\n</div>")]


@pytest.mark.parametrize(
    ("text", "excerpt", "place"),
    [
        (f"> q\n> — {A}", "q", "line 1"),
        (f"> q\n— {A}", "q", "line 1"),
        (f"> q\n>\n> — {A}", "q", "line 1"),
        (f"> q\n\n— {A}", "q", "line 1"),
        (f"> q\n\n\n— {A}\n\nx", "q", "line 1"),
        (f"> q\n> – {A}", "q", "line 1"),
        (f"> q\n> ―{A}", "q", "line 1"),
        (f"> q\n> -- {A}", "q", "line 1"),
        (f"> q\n> ---{A}", "q", "line 1"),
        (f"> q\n> *— {A}*", "q", "line 1"),
        (f"> q\n> — *{A}*", "q", "line 1"),
        ("> q\n> — a.md", "q", "line 1"),
        ("> q\n> — ./a.md", "q", "line 1"),
        ("> q\n> — `a.md`", "q", "line 1"),
        ("> q\n> — [A][r]", "q", "line 1"),
        ("> q\n> — [^1]", "q", "line 1"),
        ("> q[^1]", "q", "line 1"),
        ("> q [^1]", "q", "line 1"),
        ("> q\n> [^1]", "q", "line 1"),
        (">q\n>— a.md", "q", "line 1"),
        (f"> “q”\n> — {A}", "q", "line 1"),
        ('> "q"[^1]', "q", "line 1"),
        (f"> “q” x\n> — {A}", "“q” x", "line 1"),
        (f"> “q” “r”\n> — {A}", "“q” “r”", "line 1"),
        (f"> “q\n>\n> r”\n>\n> — {A}", "q\n\nr", "lines 1-3"),
        (f"> a\n> b\n>\n> c\n> — {A}", "a\nb\n\nc", "lines 1-4"),
        (f">  a  \n>   b \n> — {A}", "a  \n  b", "lines 1-2"),
        (f"> a\nlazy\n— {A}", "a\nlazy", "lines 1-2"),
        (f"\n>\n> a\n>\n> — {A}", "a", "line 3"),
        (f"> # a\n> - b\n>   c\n>\n>     d\n>\n> — {A}", "# a\n- b\n  c\n\n    d", "lines 1-5"),
        (f"> ```\n> a\n> ```\n> — {A}", "```\na\n```", "lines 1-3"),
        (f"> <!-- a -->\n>\n> — {A}", "<!-- a -->", "line 1"),
        (f"> *a* `b` &amp; \\* [c](d)\n> — {A}", "*a* `b` &amp; \\* [c](d)", "line 1"),
        (f"- x\n\n  > a\n  > b\n  > — {A}", "a\nb", "lines 3-4"),
        (f"1. > a\n   > b\n\n   — {A}", "a\nb", "lines 1-2"),
        (f"> > a\n> > — {A}", "a", "line 1"),
        (f"> > a\n>\n> — {A}", "> a", "line 1"),
        (f"> > a\n> b\n> — {A}", "> a\nb", "lines 1-2"),
        (f"> a\n> > b\n>\n> — {A}", "a\n> b", "lines 1-2"),
        (f"> — {A}", "", "line 1"),
        ("> [^1]", "", "line 1"),
    ],
)
def test_block_quotes(text: str, excerpt: str, place: str) -> None:
    made = find_quotes(f"{text}\n\n[r]: a.md\n\n[^1]: [A](a.md)\n", None)
    assert cited(made.reading) == [("a.md", excerpt)]
    assert made.reading.places == (place,)
    assert made.unreferenced == ()


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("> q", ["q"]),
        ("> q\n>\n> r", ["q", "r"]),
        ("> “q” x “r”", ["“q” x “r”"]),
        ("> “q” x\n> — Jane Doe", ["“q” x\n— Jane Doe"]),
        (f"> q\n> — Jane Doe, {A}", [f"q\n— Jane Doe, {A}"]),
        (f"> q\n> — {A}, page 3", [f"q\n— {A}, page 3"]),
        (f"> q\n> — {A} `x`", [f"q\n— {A} `x`"]),
        (f"> q\n> Source: {A}", [f"q\nSource: {A}"]),
        (f"> q\n> {A}", [f"q\n{A}"]),
        (f"> q ({A})", [f"q ({A})"]),
        (f"> q\n> - {A}", ["q", A]),
        (f"> q\n\n{A}", ["q"]),
        (f"> q\n\n— {A} says so.", ["q"]),
        (f"> q\n\n---\n\n— {A}", ["q"]),
        (f"> q\n\n<!-- x -->\n\n— {A}", ["q"]),
        (f"> q\n\n- — {A}", ["q"]),
        (f"> q\n\nx\n\n— {A}", ["q"]),
        ("> q\n>\n>     — a.md", ["q", ">     — a.md"]),
        ("> ```\n> q\n> — a.md", ["> ```\n> q\n> — a.md"]),
        ("> `q\n> — a.md`", ["`q\n— a.md`"]),
        ("> > q\n> > — x\n>\n> r", ["q\n— x", "r"]),
        ("> # q\nx", ["q"]),
        ("> |a|\n> |-|\n> |“q”|", ["> |a|\n> |-|\n> |“q”|"]),
        ("> q\n>\n> [^1]: see [^2]", ["q"]),
        ("> <p>q</p>", ["<p>q</p>"]),
    ],
)
def test_block_quotes_without_a_source(text: str, reported: list[str]) -> None:
    assert [one for _, one in without(text)] == reported


def test_two_attributions_of_a_block_quote() -> None:
    made = find_quotes("> q\n> — [A](a.md), [B](b.md)\n\n— c.md\n\n— d.md", None)
    assert cited(made.reading) == [("a.md", "q"), ("b.md", "q"), ("c.md", "q")]
    assert prose(made.reading) == [
        ("> q\n> — [A](a.md), [B](b.md)\n\n— c.md", [0, 1, 2]),
        ("— d.md", []),
    ]


def test_quotations_in_a_block_quote_without_attribution() -> None:
    assert both(f"> “q” ({A})") == (ON_A, [])
    assert both(f"> “q” ({A}) x “r”\n>\n> s") == (ON_A, ["r", "s"])
    assert both(f"> x\n>\n> > q\n> > — {A}\n>\n> y") == (ON_A, ["x", "y"])


def test_a_block_quote_with_attribution_owns_its_quotations() -> None:
    assert both(f"> “q” [X](x.md) “r”\n> — {A}") == ([("a.md", "“q” [X](x.md) “r”")], [])


def test_a_mapped_name_attributes() -> None:
    assert found("> q\n> — Refund policy", SOURCES) == [("refund", "q")]
    assert without("> q\n> — Travel policy", SOURCES) == [(1, "q\n— Travel policy")]


@pytest.mark.parametrize(
    ("definition", "cited_ones"),
    [
        ("[^1]: [A](a.md): “q”", ON_A),
        ("[^1]: [A](a.md) “q” “r”", [*ON_A, ("a.md", "r")]),
        ("[^1]: “q” ([A](a.md))", ON_A),
        ("[^1]: “q”, in [A](a.md)", ON_A),
        ("[^1]: a.md: “q”", ON_A),
        ("[^1]: a.md, “q”", ON_A),
        ("[^1]: a.md — “q”", ON_A),
        ("[^1]: `a.md`: “q”", ON_A),
        ("[^1]: [A](a.md): “see [X](x.md)”", [("a.md", "see [X](x.md)")]),
        ("[^1]: [A](a.md): “q” [B](b.md)", [("b.md", "q")]),
        ("[^1]: [A](a.md), [B](b.md): “q”", [*ON_A, ("b.md", "q")]),
        ("[^1]: [A](a.md):\n    “q”", ON_A),
        ("[^1]: [A](a.md):\n“q”", ON_A),
        ("[^1]: [A](a.md)\n\n    x “q”", ON_A),
        ("[^1]: [A](a.md)\n\n    > q", ON_A),
        ("[^1]: [A](a.md)\n\n    - “q”", ON_A),
        ("[^1]:\n    [A](a.md) “q”", ON_A),
        ("> [^1]: [A](a.md): “q”", ON_A),
        ("- [^1]: [A](a.md): “q”", ON_A),
        ("[^2]: [B](b.md)\n[^1]: [A](a.md): “q”", ON_A),
        ("[^1]: [B](b.md)\n[^1]: [A](a.md): “q”", ON_A),
    ],
)
def test_quotations_in_footnotes(definition: str, cited_ones: list[tuple[str, str]]) -> None:
    assert found(f"x\n{definition}") == cited_ones


def test_quotations_in_footnotes_that_name_nothing() -> None:
    assert without("[^1]: The policy says “q”.\n\n[^2]: “r”") == [(1, "q"), (3, "r")]
    assert without("[^1]: x\n\n    > q\n\ny[^1]") == [(3, "q")]


@pytest.mark.parametrize(
    ("definitions", "cited_ones"),
    [
        ("", [("footnote:1", "q")]),
        ("[^2]: a.md", [("footnote:1", "q")]),
        ("[^1]:", [("footnote:1", "q")]),
        ("[^1]: ```\n    a.md\n    ```", [("footnote:1", "q")]),
        ("    [^1]: a.md", [("footnote:1", "q")]),
        ("x [^1]: a.md", [("footnote:1", "q")]),
        ("[^1] : a.md", [("footnote:1", "q")]),
        ("[^1]: Refund policy, page 3", [("Refund policy, page 3", "q")]),
        ("[^1]: [^2]\n[^2]: [^1]", [("[^2]", "q")]),
        ("[^1]: see [^1]", [("see [^1]", "q")]),
        ("[^1]: [A](a.md)\n[^1]: [B](b.md)", ON_A),
        ("[^1]: [A](a.md) and [B](b.md) [A](a.md)", [*ON_A, ("b.md", "q")]),
        ("[^1]: <https://a.example/>", [("uri:https://a.example/", "q")]),
        ("[^1]: ![x](a.md)", [("![x](a.md)", "q")]),
        ("[^1]: a.md\n\n    b.md", ON_A),
        ("[^1]: [^2]: b.md", [("footnote:1", "q")]),
    ],
)
def test_what_a_footnote_names(definitions: str, cited_ones: list[tuple[str, str]]) -> None:
    assert found(f"“q”[^1]\n\n{definitions}") == cited_ones


def test_footnotes_that_quote_from_each_other() -> None:
    made = find_quotes("[^a]: “q”[^b]\n[^b]: “r”[^a]\n[^c]: “s”[^c]\n\nx[^a][^c]", None)
    assert cited(made.reading) == [("footnote:b", "q"), ("footnote:a", "r"), ("footnote:c", "s")]
    assert [numbers for _, numbers in prose(made.reading)] == [[0, 1], [1, 0], [2], [0, 2]]


def test_prose_is_kept_and_tied() -> None:
    table = "|a|b|\n|-|-|\n|“r” (a.md)|“s” (b.md)|\n\n"
    text = f"# H\n\n- one “q” [A](a.md)\n- two\n\n  more\n\n{table}```\ncode\n```\n\n<p>\nx\n"
    assert prose(find_quotes(text, None).reading) == [
        ("# H", []),
        ("- one “q” [A](a.md)", [0]),
        ("- two", []),
        ("  more", []),
        ("|a|b|\n|-|-|\n|“r” (a.md)|“s” (b.md)|", [1, 2]),
        ("```\ncode\n```", []),
        ("<p>\nx", []),
    ]


def test_containers_leave_no_trace_in_an_excerpt() -> None:
    assert found(f"- x “a\n  b” {A}") == [("a.md", "a\nb")]
    assert found(f"> x “a\n> b\n>  c” {A}") == [("a.md", "a\nb\n c")]
    assert found("|x|\n|-|\n|“a \\| b” (a.md)|") == [("a.md", "a | b")]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_and_a_byte_order_mark(end: str) -> None:
    made = find_quotes("\ufeff" + end.join(["x", "“a", "b” [A](a.md)", "", "> c", "> d", "> — a.md"]), None)
    assert cited(made.reading) == [("a.md", "a\nb"), ("a.md", "c\nd")]
    assert made.reading.places == ("lines 2-3", "lines 5-6")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("“q\x00” [A](a.md)", "text.nul"),
        ("“q\ud800” [A](a.md)", "text.surrogate"),
        ("“q\uffff” [A](a.md)", "text.unassigned"),
        ("“q" + "\u0301" * 300 + "” [A](a.md)", "text.nonstarter_run"),
    ],
)
def test_what_has_no_canonical_form(text: str, code: str) -> None:
    assert refusal(f"x\n{text}")[0] == code


@pytest.mark.parametrize("opening", ["> ", ">", "- ", "1. ", "> - "])
def test_nesting(opening: str) -> None:
    fine = LIMITS.markdown_nesting // len(opening) // 4
    assert cited(find_quotes(opening * fine + "“q” [A](a.md)\n", None).reading) == ON_A
    for depth in (LIMITS.markdown_nesting, 1_000, 50_000):
        assert refusal("x\n\n" + opening * depth + "“q” [A](a.md)\n") == ("quotes.nesting", "line 3")
    for depth in range(LIMITS.markdown_nesting):
        made = attempt(opening * depth + "“q” [A](a.md)\n")
        assert made == "quotes.nesting" or (isinstance(made, Quotes) and cited(made.reading) == ON_A)


def test_nested_footnotes() -> None:
    assert refusal("[^1]: " * 200 + "a.md") == ("quotes.nesting", "line 1")


def test_size_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotes, "LIMITS", replace(LIMITS, answer_bytes=100))
    assert find_quotes("x" * 100, None).unreferenced == ()
    assert refusal("x" * 101) == ("limits.bytes", "")


def test_size_of_nested_block_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x\n\n" + "> " * 30 + "q" * 1_000 + "\n> — [A](a.md)"
    assert len(find_quotes(text, None).reading.answer["evidence"]) == 1
    monkeypatch.setattr(quotes_blocks, "LIMITS", replace(LIMITS, answer_bytes=10_000))
    assert refusal(text)[0] == "limits.bytes"


@pytest.mark.parametrize(
    "text",
    [
        "x\n\n“" + "q" * 1_000_000 + "” " + " ".join(f"[x]({number})" for number in range(70)),
        "x\n\n> " + "q" * 1_000_000 + "\n> — " + ", ".join(f"[x]({number})" for number in range(70)),
        "x\n\n" + "“q”[^1] " * 3_000 + "\n\n[^1]: " + " ".join(f"[x]({number})" for number in range(3_000)),
    ],
)
def test_size_of_the_answer(text: str) -> None:
    assert refusal(text) == ("quotes.answer_size", "line 3")


def test_size_of_the_annotations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotes, "LIMITS", replace(LIMITS, answer_bytes=10_000))
    assert refusal("[^1]: a.md" + " “q”" * 100 + "\n\nx[^1]" * 100)[0] == "quotes.answer_size"


def test_more_than_an_answer_may_hold() -> None:
    assert refusal("x\n\n" * 16_385) == ("limits.items", "")


HOSTILE = [
    "“", "”", '"', ' "', '" ', "„", "»", " »", "‘", "’", " ’", "“„«‹‘‚「『", "”»›’」』", "“ »", '“a” "b',
    "[", "]", "![", "[a", "[]", "][", "[a](", "[a](b", "[a](<b", "[a](b 'c", '[a](b "', "[a](b (", "[[a](b)", "[a](b)",
    "[^1]", "[^1", "“q”[^1]", "“q” (", "“q”(a", "“q” (a.md) ", "“q” ([A](a.md)", "“q” ([A](a.md), ", "“q”** ",
    "`", "``a`", "`a``b", "\\", "\\`", "&", "&a", "&quot;", "<", "<a", "<a b='", "<a b=\"' ", "<!--", "<!-->", "<?",
    "<!A",
    "<![CDATA[", "<a:", "<a@", "(", "( ", "*", "_", "-- ", "— ", ". ",
    "\n", "x\n", "> ", "> q\n", "> q\n\n", "> q\n\n— a.md\n\n", "> — a.md\n", "> [^1]\n", "> q[^1]\n\n", "— a.md\n",
    "[^1]: “q”\n", "[^1]: a.md\n\n", "[^1]:\n", "[a]: b\n", "[a]: b '\n", "- “q\n", "|“q”", "|a|\n|-|\n",
    "# “q\n", "```\n",
    "<p>\n\n", "<p>“q” ", "    “q”\n",
]  # fmt: skip


def cost(text: str) -> int:
    """How many lines of Python are run to read a text, however it ends."""
    lines = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        find_quotes(text, None)
    except InputError:
        pass
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_is_linear(unit: str) -> None:
    small, large = 120, 480
    cost(unit)  # what is made once is not counted
    assert cost(unit * large) <= cost(unit * small) * large // small * 1.25 + 5_000


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_runs(unit: str) -> None:
    """What Python's lines do not show shows here: a search from every place to the end would not come back."""
    made = attempt(unit * (25_000 // len(unit)))
    if isinstance(made, str):
        assert made in {"quotes.nesting", "limits.items"}
    else:
        assert len(made.reading.places) == len(made.reading.answer["evidence"])


def test_a_very_long_line() -> None:
    long = "a" * 3_000_000
    assert found(f"{long} “{long}” {A} {long}") == [("a.md", long)]


# Of letters that are in no mark and no markup, so that what is found can be said beforehand.
WORDS = st.text("ab漢é", min_size=1, max_size=8)
PROSE = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
QUOTED = st.lists(
    WORDS | st.sampled_from(["*b*", "`c”`", "&amp;", "\\*", "d’e", "[f](g)", "\n"]), min_size=1, max_size=5
).map(lambda words: "x" + " ".join(words) + "y")
SIGNS = st.sampled_from([(opening, closing) for opening, closings in PAIRS.items() for closing in closings])
SOURCE = st.sampled_from(["a.md", "policies/refund.md", "my%20b.txt", "ü.md"])
IDS = {"a.md": "a.md", "policies/refund.md": "policies/refund.md", "my%20b.txt": "my b.txt", "ü.md": "ü.md"}


@st.composite
def inline_block(draw: st.DrawFn) -> tuple[str, list[tuple[str | None, str]]]:
    parts, expected = [draw(PROSE)], []
    for _ in range(draw(st.integers(0, 3))):
        opening, closing = draw(SIGNS)
        text, source, form = (
            draw(QUOTED),
            draw(SOURCE),
            draw(st.sampled_from([" [t]({})", " ([t]({}))", "[t](<{}>)", ""])),
        )
        parts += [f"{opening}{text}{closing}{form.format(source)}", draw(PROSE)]
        expected.append((IDS[source] if form else None, text))
    return draw(st.sampled_from(["", "# ", "- "])) + " ".join(parts).replace("\n", " "), [
        (source, text.replace("\n", " ")) for source, text in expected
    ]


@st.composite
def quote_block(draw: st.DrawFn) -> tuple[str, list[tuple[str | None, str]]]:
    paragraphs = draw(st.lists(QUOTED.map(lambda text: text.replace(" \n ", "\n")), min_size=1, max_size=3))
    text, source = "\n\n".join(paragraphs), draw(SOURCE)
    dash = draw(st.sampled_from(["— ", "-- ", "– "]))
    last, after = draw(st.sampled_from([(f"\n{dash}[t]({source})", ""), ("", f"\n\n{dash}[t]({source})")]))
    return "\n".join(f"> {line}" for line in (text + last).split("\n")) + after, [(IDS[source], text)]


@given(st.lists(inline_block() | quote_block(), max_size=5))
def test_known_quotations_are_found_whatever_stands_around(
    blocks: list[tuple[str, list[tuple[str | None, str]]]],
) -> None:
    made = find_quotes("\n\n".join(text for text, _ in blocks), None)
    expected = [one for _, each in blocks for one in each]
    assert cited(made.reading) == [one for one in expected if one[0] is not None]
    assert [one.text for one in made.unreferenced] == [text for source, text in expected if source is None]
    assert len(prose(made.reading)) == len(blocks)


def check(made: Quotes, text: str) -> None:
    count = len(made.reading.answer["evidence"])
    assert len(made.reading.places) == len(made.reading.hints) == count
    assert len(UntrustedAnswer.from_json(made.reading.answer).evidence) == count
    lines = text.count("\n") + text.count("\r") + 1
    for place in made.reading.places:
        numbers = re.fullmatch(r"line ([0-9]+)|lines ([0-9]+)-([0-9]+)", place)
        assert numbers
        assert all(1 <= int(number) <= lines for number in numbers.groups() if number)
    assert all(1 <= one.line <= lines for one in made.unreferenced)


@given(
    st.lists(st.sampled_from([*HOSTILE, "\n\n", "\n    ", "a", "\r", "漢", "\u00a0", "\t", "\x00"]), max_size=30).map(
        "".join
    )
)
def test_any_markdown(text: str) -> None:
    for sources in (None, SOURCES):
        made = attempt(text, sources)
        if isinstance(made, str):
            assert made in {"text.nul", "quotes.nesting"}
        else:
            check(made, text)


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    made = attempt(text)
    if isinstance(made, str):
        assert made.startswith("text.")
    else:
        check(made, text)


@given(st.text('ab“”"«»‘’„ .(', max_size=30))
def test_every_pair_of_curly_marks_is_accounted_for(text: str) -> None:
    """What stands between an opening mark and the next closing one is in something that is reported."""
    made = find_quotes(f"x{text}", None)
    assert cited(made.reading) == []
    told = "\n".join(one.text for one in made.unreferenced)
    for between in re.findall("“([ab]+)”", text):
        assert between in told


class _Parser(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 # the name that the parser calls
        return url


def links_of(tokens: list[Token]) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]


@given(
    st.lists(
        st.sampled_from(
            [*"ab[]`\\*!\n\"“", "a b", "``", "<b>", "[a]", "[b](c)", "[d](<e f>)", '[g](h "i")', "[k](l\\)(m) (n) )",
             "[a][a]", "[q][a]", "[a][]", "[q][z]", "![o](p)", "<https://x>", "<r@s.t>", "<!-- ", "-->", '<i j="', '">',
             "&amp;", "\\["]
        ),
        max_size=14,
    ).map("".join)
)  # fmt: skip
def test_links_are_those_of_another_parser(text: str) -> None:
    # Left out: where markdown-it takes brackets or code inside a link label for a part of it, and what it makes of a
    # target that breaks off.
    assume(not re.search(r"\]\[[^\]]*[\[`<]|\[\s*\]|\](?=\()(?!\((?:c|<e f>|h \"i\"|l|p))|\\\\\n", text))
    references = {"A": {"href": "/a", "title": ""}}
    children = _Parser("commonmark").parseInline(text, {"references": references})[0].children or []
    atoms = sorted(scan_inline(text, {"A": "/a"}).atoms.values(), key=lambda atom: atom.start)
    assert [atom.value for atom in atoms if atom.kind == "link"] == links_of(children)
