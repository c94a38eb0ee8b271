"""The blocks of a Markdown answer in which quotations are looked for (docs/spec/adapters/quotes.md, Blocks)."""

import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["Block", "Container", "Content", "Document", "Leaf", "parse_blocks"]

FOOTNOTE_DEFINITION = re.compile(r"\[\^([^\s\[\]]+)\]:[ \t]*")
# How far the further blocks of a footnote are indented, in columns.
FOOTNOTE_INDENT = 4
CONTAINERS = {
    "blockquote_open": "quote",
    "footnote_open": "footnote",
    "list_item_open": "list",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}
LEAVES = {"paragraph_open": "paragraph", "heading_open": "heading"}
# Blocks without inline markup; a thematic break is kept since it parts what stands around it.
PLAIN_LEAVES = {"fence": "code", "code_block": "code", "html_block": "html", "hr": "break"}
QUOTE_TEXTS = "kansho_quote_texts"
QUOTE_TEXT_SIZE = "kansho_quote_text_size"


@dataclass(frozen=True, slots=True)
class Content:
    """Text with inline markup, without what containers put before its lines; its first line, counted from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds no blocks: ``paragraph``, ``heading``, ``table``, ``html``, ``code`` or ``break``.

    ``source`` is its lines as they stand, ``contents`` what may hold quotations: one for each cell of a table.
    """

    kind: str
    line: int
    source: str
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Container:
    """A block that holds blocks: ``root``, ``list``, ``footnote`` with its normalised ``label``, or ``quote``.

    ``content`` of a block quote is its lines without its own prefix and those of the blocks around it.
    """

    kind: str
    line: int
    source: str
    children: "tuple[Block, ...]"
    label: str = ""
    content: Content | None = None


Block = Leaf | Container


@dataclass(frozen=True, slots=True)
class Document:
    """The blocks, and the targets of link reference definitions by their normalised labels."""

    root: Container
    references: Mapping[str, str]


class _Parser(MarkdownIt):
    """Targets as they were written: neither encoded anew nor judged."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 # the name that the parser calls
        """The target itself."""
        return url

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 # the name and argument that the parser calls
        """Every target is one: what it means is decided later."""
        return True


def _note_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 # a rule's form
    """Matches nothing; at the first line of a block quote it keeps the quote's lines, which only the state knows."""
    number = len(state.tokens) - 1
    if silent or number < 0 or state.tokens[number].type != "blockquote_open" or number in state.env[QUOTE_TEXTS]:
        return False
    # Nested block quotes repeat their lines, so their sum has a bound of its own.
    state.env[QUOTE_TEXT_SIZE] += state.eMarks[end - 1] - state.bMarks[start]
    if state.env[QUOTE_TEXT_SIZE] > LIMITS.answer_bytes:
        raise InputError("limits.bytes", "its nested block quotes are too large", f"line {start + 1}")
    state.env[QUOTE_TEXTS][number] = Content(state.getLines(start, end, 0, keepLastLF=False), start + 1)
    return False


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 # a rule's form
    """A footnote definition: a container like a list item, with its label for a marker."""
    if state.is_code_block(start):
        return False
    marker = FOOTNOTE_DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if marker is None or silent:
        return marker is not None
    before = state.bMarks[start], state.tShift[start], state.sCount[start]
    around = state.blkIndent, state.listIndent, state.parentType
    token = state.push("footnote_open", "", 1)
    token.info = normalizeReference(marker[1])
    token.map = [start, start]
    state.blkIndent += FOOTNOTE_INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start] = marker.end(), 0, state.blkIndent
    state.listIndent, state.parentType = -1, "footnote"
    state.md.block.tokenize(state, start, end)
    state.blkIndent, state.listIndent, state.parentType = around
    state.bMarks[start], state.tShift[start], state.sCount[start] = before
    token.map[1] = state.line
    state.push("footnote_close", "", -1)
    return True


@cache
def _block_parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"maxNesting": LIMITS.markdown_nesting}).enable("table")
    parser.core.ruler.enableOnly(["block"])
    rules = parser.block.ruler
    rules.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    rules.before("table", "note_quote", _note_quote, {"alt": []})
    return parser


def parse_blocks(text: str) -> Document:
    """The blocks of a canonical text, in their order.

    Raises InputError ``quotes.nesting`` where blocks are nested deeper than the limit, ``limits.bytes`` where the texts
    of nested block quotes are together larger than an answer may be.
    """
    env: MutableMapping[str, Any] = {QUOTE_TEXTS: {}, QUOTE_TEXT_SIZE: 0}
    tokens = _block_parser().parse(text, env)
    root = _Tree(text.split("\n"), env[QUOTE_TEXTS]).build(tokens)
    return Document(root, {label: found["href"] for label, found in env.get("references", {}).items()})


@dataclass(slots=True)
class _Open:
    """A container of which the end is still to come."""

    token: Token | None
    content: Content | None
    children: list[Block]


class _Tree:
    """Puts the parser's tokens together."""

    __slots__ = ("_lines", "_open", "_quotes")

    def __init__(self, lines: list[str], quotes: Mapping[int, Content]) -> None:
        self._lines = lines
        self._quotes = quotes
        self._open = [_Open(None, None, [])]

    def build(self, tokens: list[Token]) -> Container:
        """The root. Raises InputError ``quotes.nesting``."""
        upcoming = iter(enumerate(tokens))
        for number, token in upcoming:
            if token.type in CONTAINERS:
                self._begin(number, token)
            elif token.type.removesuffix("_close") + "_open" in CONTAINERS:
                self._end()
            elif token.type in LEAVES:
                _, inline = next(upcoming)
                self._leaf(LEAVES[token.type], token, [inline])
            elif token.type == "table_open":
                self._leaf("table", token, [one for one in _table(upcoming) if one.type == "inline"])
            elif token.type in PLAIN_LEAVES:
                self._leaf(PLAIN_LEAVES[token.type], token, [token] if token.type == "html_block" else [])
        return Container("root", 1, "", tuple(self._open.pop().children))

    def _begin(self, number: int, token: Token) -> None:
        if token.level + 1 >= LIMITS.markdown_nesting:
            why = f"blocks are nested deeper than {LIMITS.markdown_nesting} levels"
            raise InputError("quotes.nesting", why, f"line {_span(token)[0] + 1}", "make it flatter")
        self._open.append(_Open(token, self._quotes.get(number), []))

    def _end(self) -> None:
        done = self._open.pop()
        if done.token is not None:
            kind, (first, last) = CONTAINERS[done.token.type], _span(done.token)
            content = _before(done.content, last) if done.content else None
            source, children = self._source(first, last), tuple(done.children)
            self._open[-1].children.append(Container(kind, first + 1, source, children, done.token.info, content))

    def _leaf(self, kind: str, token: Token, contents: list[Token]) -> None:
        first, last = _span(token)
        found = tuple(Content(one.content, _span(one)[0] + 1) for one in contents if one.content)
        self._open[-1].children.append(Leaf(kind, first + 1, self._source(first, last), found))

    def _source(self, first: int, last: int) -> str:
        return "\n".join(self._lines[first:last]).rstrip("\n")


def _span(token: Token) -> tuple[int, int]:
    return (token.map[0], token.map[1]) if token.map else (0, 0)


def _before(content: Content, last: int) -> Content:
    """Without the lines that were thought to continue a paragraph of the block quote where it ends in none."""
    lines = content.text.split("\n")
    return Content("\n".join(lines[: last + 1 - content.line]), content.line)


def _table(upcoming: Iterator[tuple[int, Token]]) -> Iterator[Token]:
    for _, token in upcoming:
        if token.type == "table_close":
            return
        yield token
