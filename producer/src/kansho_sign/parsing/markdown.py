"""``markdown-blocks-v1``: the leaf blocks of CommonMark, as exact slices (docs/spec/parsing.md, Markdown)."""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kansho_sign.limits import LIMITS
from kansho_sign.parsing.elements import Element

__all__ = ["parse_markdown"]

WHOLE_LINES = {"fence": "code", "code_block": "code", "html_block": "html", "table_open": "table"}


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": LIMITS.markdown_nesting}).enable("table")
    # Inline markup is inside the slices; only the block structure is asked for.
    parser.core.ruler.enableOnly(["block"])
    return parser


class _Lines:
    """Line positions of a text."""

    __slots__ = ("lines", "starts")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def whole(self, first: int, last: int, *, skip_indent: bool) -> tuple[int, int]:
        """Span of the lines ``[first, last)`` without white space at the end (and, if asked, at the start)."""
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        while last > first and not self.lines[first].strip():
            first += 1
        if last == first:
            return 0, 0
        indent = len(self.lines[first]) - len(self.lines[first].lstrip()) if skip_indent else 0
        return self.starts[first] + indent, self.starts[last - 1] + len(self.lines[last - 1].rstrip())

    def inline(self, first: int, last: int, content: str, marker: str) -> tuple[int, int]:
        """Span of inline ``content`` in the lines ``[first, last)``; ``marker`` opens an ATX heading."""
        if marker.startswith("#"):
            line = self.lines[first]
            start = line.index(content, line.index(marker) + len(marker))
            return self.starts[first] + start, self.starts[first] + start + len(content)
        wanted = content.split("\n")
        head, tail = wanted[0].strip(), wanted[-1].strip()
        top = next(i for i in range(first, last) if self.lines[i].rstrip().endswith(head))
        bottom = next(i for i in range(last - 1, top - 1, -1) if self.lines[i].rstrip().endswith(tail))
        start = self.starts[top] + len(self.lines[top].rstrip()) - len(head)
        return start, self.starts[bottom] + len(self.lines[bottom].rstrip())


def _last_content_line(token: Token, last: int) -> int:
    # The map of a setext heading holds its underline.
    return last - 1 if token.type == "heading_open" and not token.markup.startswith("#") else last


def parse_markdown(text: str) -> list[Element]:
    """Elements ascending by place, never overlapping; kinds as the spec lists them."""
    lines = _Lines(text)
    elements: list[Element] = []
    containers: list[str] = []
    opened: Token | None = None
    in_table = False

    def add(kind: str, span: tuple[int, int], level: int = 0) -> None:
        if span[0] < span[1]:
            elements.append(Element(kind, *span, level))

    for token in _block_parser().parse(text):
        if token.type in ("list_item_open", "blockquote_open"):
            containers.append(token.type)
        elif token.type in ("list_item_close", "blockquote_close"):
            containers.pop()
        elif token.type in ("paragraph_open", "heading_open"):
            opened = token
        elif token.type == "table_close":
            in_table = False
        elif token.type == "inline" and opened is not None and not in_table and opened.map and token.content:
            first, last = opened.map
            span = lines.inline(first, _last_content_line(opened, last), token.content, opened.markup)
            if opened.type == "heading_open":
                add("heading", span, int(opened.tag[1]))
            elif containers and containers[-1] == "list_item_open":
                add("list_item", span)
            else:
                add("quote" if "blockquote_open" in containers else "paragraph", span)
            opened = None
        elif token.type in WHOLE_LINES and token.map:
            in_table = token.type == "table_open"
            add(WHOLE_LINES[token.type], lines.whole(*token.map, skip_indent=token.type == "code_block"))
    return elements
