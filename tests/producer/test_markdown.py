"""``markdown-blocks-v1`` against markdown-it-py's own block tokens, walked apart (docs/spec/parsing.md, Markdown)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS
from kansho_sign.parsing import PARSERS, parser_for
from kansho_sign.parsing.elements import Element
from kansho_sign.parsing.markdown import parse_markdown
from kansho_sign.text import canonical_text

KINDS = {"heading", "paragraph", "list_item", "quote", "code", "html", "table"}
LEAVES = {"fence": "code", "code_block": "code", "html_block": "html"}


@dataclass(frozen=True)
class Block:
    kind: str
    level: int
    lines: tuple[int, int]
    content: str


def expected(text: str) -> list[Block]:
    """Leaf blocks by a walk over all tokens with a stack of what is open."""
    parser = MarkdownIt("commonmark", {"maxNesting": LIMITS.markdown_nesting}).enable("table")
    blocks: list[Block] = []
    stack: list[Token] = []
    for token in parser.parse(text):
        if token.nesting < 0:
            stack.pop()
            continue
        place = (token.map[0], token.map[1]) if token.map else (0, 0)
        around = [one.type for one in stack]
        if token.type in LEAVES:
            blocks.append(Block(LEAVES[token.type], 0, place, token.content))
        elif token.type == "table_open":
            blocks.append(Block("table", 0, place, ""))
        elif token.type == "inline" and "table_open" not in around and token.content.strip():
            parent = stack[-1]
            if parent.type == "heading_open":
                blocks.append(Block("heading", int(parent.tag[1:]), place, token.content))
            elif around[-2:-1] == ["list_item_open"]:
                blocks.append(Block("list_item", 0, place, token.content))
            else:
                kind = "quote" if "blockquote_open" in around else "paragraph"
                blocks.append(Block(kind, 0, place, token.content))
        if token.nesting > 0:
            stack.append(token)
    return blocks


def check(text: str) -> list[Element]:
    """Every promise about elements, for one text."""
    elements = parse_markdown(text)
    blocks = [
        block for block in expected(text) if block.kind != "code" or block.content.strip() or has_fence(text, block)
    ]
    assert [(e.kind, e.level) for e in elements] == [(b.kind, b.level) for b in blocks]
    lines = text.split("\n")
    end = 0
    for element, block in zip(elements, blocks, strict=True):
        assert element.kind in KINDS
        assert end <= element.start < element.end <= len(text)
        end = element.end
        piece = text[element.start : element.end]
        assert piece == piece.strip() or element.kind in ("code", "html", "table")
        assert piece == piece.rstrip()
        first = text.count("\n", 0, element.start)
        assert block.lines[0] <= first < max(block.lines[1], block.lines[0] + 1)
        assert text.count("\n", 0, element.end) < max(block.lines[1], block.lines[0] + 1)
        if element.kind in ("heading", "paragraph", "list_item", "quote"):
            wanted = [line.strip() for line in block.content.split("\n") if line.strip()]
            found = piece.split("\n")
            assert found[0].strip() == wanted[0]
            assert found[-1].rstrip().endswith(wanted[-1])
            kept = [line for line in found if line.strip()]
            assert all(line.rstrip().endswith(one) for line, one in zip(kept, wanted, strict=False))
            assert len(kept) >= len(wanted)
        else:
            inner = [line.strip() for line in block.content.split("\n") if line.strip()]
            assert all(one in piece or one in text for one in inner)
            if element.kind in ("table", "html") or (element.kind == "code" and "fence" in block.content):
                assert element.start == sum(len(line) + 1 for line in lines[:first])
    return elements


def has_fence(text: str, block: Block) -> bool:
    """A fence without content still has its own lines."""
    line = text.split("\n")[block.lines[0]]
    return "```" in line or "~~~" in line


def cut(text: str) -> list[tuple[str, str]]:
    return [(element.kind, text[element.start : element.end]) for element in check(text)]


def test_commonmark_examples(vectors: Path, subtests: pytest.Subtests) -> None:
    examples = json.loads((vectors / "markdown" / "commonmark-0.31.2.json").read_bytes())
    assert len(examples) == 652
    for example in examples:
        with subtests.test(id=str(example["example"])):
            check(canonical_text(example["markdown"].replace("\x00", "")))


def test_gfm_examples(vectors: Path, subtests: pytest.Subtests) -> None:
    data = json.loads((vectors / "markdown" / "gfm-0.29-extensions.json").read_bytes())
    examples = data if isinstance(data, list) else data["examples"]
    tables = 0
    for number, example in enumerate(examples):
        with subtests.test(id=str(number)):
            tables += sum(element.kind == "table" for element in check(canonical_text(example["markdown"])))
    assert tables > 3


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("", []),
        ("\n\n \t\n", []),
        ("# A\n\nB\nC\n", [("heading", "A"), ("paragraph", "B\nC")]),
        ("### A B ##\n", [("heading", "A B")]),
        ("#\tA\tB\t#", [("heading", "A\tB")]),
        ("# #", []),
        ("# # A", [("heading", "# A")]),
        ("#", []),
        ("  ##  A  ", [("heading", "A")]),
        ("A\nB\n===\nC\n---\n", [("heading", "A\nB"), ("heading", "C")]),
        ("> # A\n> B\nC\n", [("heading", "A"), ("quote", "B\nC")]),
        ("> A\n> > B\nC", [("quote", "A"), ("quote", "B\nC")]),
        ("- A\n  B\nC\n", [("list_item", "A\n  B\nC")]),
        ("- A\n\n  B\n", [("list_item", "A"), ("list_item", "B")]),
        ("- A\n  - B\n    1. C\n", [("list_item", "A"), ("list_item", "B"), ("list_item", "C")]),
        ("- > A\n", [("quote", "A")]),
        ("> - A\n", [("list_item", "A")]),
        ("1) A\n2) # B\n", [("list_item", "A"), ("heading", "B")]),
        ("-\tA\n\n\tB", [("list_item", "A"), ("list_item", "B")]),
        ("-   \n  A", [("list_item", "A")]),
        ("```py\nx = 1\n\n```\n", [("code", "```py\nx = 1\n\n```")]),
        ("```\nA\n\n\n", [("code", "```\nA")]),
        ("```\n```\n", [("code", "```\n```")]),
        ("> ```\n> A\n> ```\n", [("code", "> ```\n> A\n> ```")]),
        ("    A\n      B\n\n    C\n\n", [("code", "A\n      B\n\n    C")]),
        ("\tA\n", [("code", "A")]),
        ("<p>\nA\n</p>\n\nB", [("html", "<p>\nA\n</p>"), ("paragraph", "B")]),
        ("<!-- A\n\nB -->\n", [("html", "<!-- A\n\nB -->")]),
        ("|a|b|\n|-|-|\n|c|d|\n\ne", [("table", "|a|b|\n|-|-|\n|c|d|"), ("paragraph", "e")]),
        ("a | b\n--|--\n", [("table", "a | b\n--|--")]),
        ("***\n", []),
        ("[a]: /b 'c'\n", []),
        ("[a]: /b\n[c]: /d\nE [a]\n", [("paragraph", "E [a]")]),
        ("> [a]: /b\n> C\n", [("quote", "C")]),
        ("\u00a0\nA", [("paragraph", "A")]),
        ("\u3000A\u3000\n\u2003\n", [("paragraph", "A")]),
        ("\u00a0\n", []),
        ("A\n\u00a0\nB\n\u3000", [("paragraph", "A\n\u00a0\nB")]),
        ("漢字。\n> 引用\n", [("paragraph", "漢字。"), ("quote", "引用")]),
        ("A\u2028B\u0085C\x0cD\x0bE\n\nF", [("paragraph", "A\u2028B\u0085C\x0cD\x0bE"), ("paragraph", "F")]),
        ("A  \nB\\\nC", [("paragraph", "A  \nB\\\nC")]),
        ("*A* `B` [C](d) &amp; <e@f.g>", [("paragraph", "*A* `B` [C](d) &amp; <e@f.g>")]),
        ("A\nA\nA\n", [("paragraph", "A\nA\nA")]),
        ("> A\n\nA\n", [("quote", "A"), ("paragraph", "A")]),
        (">\n> A", [("quote", "A")]),
        ("1. A\n\n   ```\n   B\n   ```\n", [("list_item", "A"), ("code", "   ```\n   B\n   ```")]),
        ("- ```\n  A\n  ```\n", [("code", "- ```\n  A\n  ```")]),
        ("-     A\n", [("code", "-     A")]),
        (">     A\n>     B\n", [("code", ">     A\n>     B")]),
    ],
)
def test_elements(text: str, elements: list[tuple[str, str]]) -> None:
    assert cut(text) == elements


@pytest.mark.parametrize("opening", ["> ", "- ", "1. ", "> - ", ">", "*\t"])
def test_nesting(opening: str) -> None:
    for depth in (1, 10, 40, 99, 100, 101, 1_000):
        elements = check(opening * depth + "A\n")
        assert len(elements) <= 1
    check(opening * 100_000 + "A\n")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "`" * 50_000,
        "*" * 50_000,
        "<" * 50_000,
        "|" * 20_000 + "\n" + "|-" * 20_000,
        "\n" * 100_000,
        "#" * 50_000,
    ],
)
def test_long_runs(text: str) -> None:
    check(text)


PIECES = st.sampled_from(
    [
        *"A\n\n\n \t>->#=`|<[]:*+1.)\u00a0\u3000漢\u2028\x0c\\~_&",
        "\n> ",
        "\n- ",
        "\n1. ",
        "\n    ",
        "\n```\n",
        "\n# ",
        "\n---\n",
        "\n===\n",
        "\n|a|b|\n|-|-|\n",
        "[a]: /b\n",
        "<p>",
        "<!--",
        "\n  ",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text(text: str) -> None:
    check(text)


def test_parsers_by_media_type() -> None:
    assert parser_for("text/markdown").parse is parse_markdown
    assert set(PARSERS) == {"text/markdown", "text/plain"}
    for unknown in ("", "text/html", "TEXT/MARKDOWN", "text/markdown; charset=utf-8", "text/plain\n"):
        with pytest.raises(InputError) as caught:
            parser_for(unknown)
        assert caught.value.code == "source.media_type"
