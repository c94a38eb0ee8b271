"""Inline markup of a Markdown answer, with its places: quotation marks, and what can be a reference.

Links are those of CommonMark 0.31.2 (docs/spec/adapters/quotes.md, Inline). One pass; nothing is looked at more often
than a fixed number of times, whatever the text.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from markdown_it.common.utils import normalizeReference, unescapeAll

from kansho_sign.adapters.quotes.marks import MARKS, Mark

__all__ = ["Atom", "Scan", "scan_html", "scan_inline"]

PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
SPECIAL = re.compile(r"!\[|[\\`<&\[\]" + MARKS + "]")
SPECIAL_IN_HTML = re.compile("[<&" + MARKS + "]")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
BACKTICKS = re.compile("`++")
AUTOLINK = re.compile(
    r"<(?:(?P<uri>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*+)"
    r"|(?P<email>[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]++@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*+))>"
)
TAG = re.compile(
    r"</[A-Za-z][A-Za-z0-9-]*+[ \t\n]*+>"
    r"|<[A-Za-z][A-Za-z0-9-]*+"
    r"(?:[ \t\n]++[A-Za-z_:][A-Za-z0-9:._-]*+"
    r"""(?:[ \t\n]*+=[ \t\n]*+(?:[^"'=<>`\x00-\x20]++|'[^']*+'|"[^"]*+"))?+)*+"""
    r"[ \t\n]*+/?>"
)
# A tag may hold the beginnings of others in its quoted values; without a bound each would be read to the end anew.
TAG_CODE_POINTS = 4_096
SECTION = re.compile(r"<!--(?:-?>)?|<\?|<!\[CDATA\[|<![A-Za-z]")
SECTION_ENDS = {"<!-->": "", "<!--->": "", "<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
DECLARATION_END = ">"
WHITE = re.compile(r"[ \t\n]*+")
POINTED = re.compile(r"<((?:[^<>\n\\]|\\.)*+)>")
BARE = re.compile(r"[^\\()\x00-\x20\x7f]++|\\[!-/:-@\[-`{-~]|[\\()]")
PARENTHESES_IN_TARGET = 32
TITLE = re.compile(r'"(?:[^"\\]|\\.)*+"|' + r"'(?:[^'\\]|\\.)*+'" + r"|\((?:[^()\\]|\\.)*+\)", re.DOTALL)
LABEL_CODE_POINTS = 999
LABEL = re.compile(rf"\[((?:[^\[\]\\]|\\.){{0,{LABEL_CODE_POINTS}}}+)\]", re.DOTALL)
FOOTNOTE = re.compile(r"\[\^([^\s\[\]]++)\]")


@dataclass(frozen=True, slots=True)
class Atom:
    """What can be a reference, at ``[start, end)``: a ``link``, a ``footnote`` mark or a ``code`` span.

    ``value`` is the target, unescaped; the label; or the code. The text of a link ends at ``text_end``.
    """

    kind: str
    start: int
    end: int
    value: str
    text_end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What stands in a text: marks in their order, atoms by their starts in the order of their ends."""

    text: str
    marks: list[Mark] = field(default_factory=list)
    atoms: dict[int, Atom] = field(default_factory=dict)

    def link_texts(self) -> list[tuple[int, int]]:
        """Where the texts of links stand, in their order; none lies in another."""
        return sorted((one.start, one.text_end) for one in self.atoms.values() if one.text_end > one.start)


def scan_inline(text: str, references: Mapping[str, str]) -> Scan:
    """Reads Markdown; ``references`` are the targets of link reference definitions by their normalised labels."""
    return _Scanner(text, references).scan(SPECIAL)


def scan_html(text: str) -> Scan:
    """Reads a block of HTML, in which no Markdown is: only marks are found, outside tags and comments."""
    scanner = _Scanner(text, {}, in_html=True)
    found = scanner.scan(SPECIAL_IN_HTML)
    return Scan(text, found.marks)


@dataclass(slots=True)
class _Bracket:
    start: int
    end: int
    is_image: bool
    has_inner: bool = False


class _Scanner:
    __slots__ = ("_absent", "_brackets", "_in_html", "_inactive", "_references", "_runs", "_scan", "_text")

    def __init__(self, text: str, references: Mapping[str, str], *, in_html: bool = False) -> None:
        self._text = text
        self._references = references
        self._in_html = in_html
        self._scan = Scan(text)
        self._brackets: list[_Bracket] = []
        # Opening brackets below this number stand before a link, and a link holds no links.
        self._inactive = 0
        self._runs: dict[int, list[int]] | None = None
        # Ends of sections that were looked for in vain.
        self._absent: set[str] = set()

    def scan(self, special: re.Pattern[str]) -> Scan:
        position = 0
        while (found := special.search(self._text, position)) is not None:
            position = self._read(found[0], found.start())
        return self._scan

    def _read(self, sign: str, position: int) -> int:
        """Reads what begins at ``position``; gives the position after it."""
        match sign:
            case "\\":
                return self._escape(position)
            case "`":
                return self._code(position)
            case "<":
                return self._angle(position)
            case "&":
                return self._entity(position)
            case "[" | "![":
                return self._open(position, position + len(sign))
            case "]":
                return self._close(position)
            case _:
                self._scan.marks.append(Mark(position, position + 1, sign))
                return position + 1

    def _escape(self, position: int) -> int:
        escaped = self._text[position + 1 : position + 2]
        if escaped not in PUNCTUATION:
            return position + 1
        if escaped in MARKS:
            self._scan.marks.append(Mark(position, position + 2, escaped))
        return position + 2

    def _entity(self, position: int) -> int:
        entity = ENTITY.match(self._text, position)
        if entity is None:
            return position + 1
        meant = html.unescape(entity[0])
        if len(meant) == 1 and meant in MARKS:
            self._scan.marks.append(Mark(position, entity.end(), meant))
        return entity.end()

    def _code(self, position: int) -> int:
        begin = self._after(BACKTICKS, position)
        length = begin - position
        if self._runs is None:
            self._runs = {}
            for run in BACKTICKS.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
            for starts in self._runs.values():
                starts.reverse()
        starts = self._runs.get(length, [])
        while starts and starts[-1] < begin:
            starts.pop()
        if not starts:
            return begin
        code = self._text[begin : starts[-1]].replace("\n", " ")
        if code.startswith(" ") and code.endswith(" ") and code.strip(" "):
            code = code[1:-1]
        return self._add("code", position, starts[-1] + length, code)

    def _angle(self, position: int) -> int:
        if not self._in_html and (link := AUTOLINK.match(self._text, position)) is not None:
            target = link["uri"] if link["uri"] is not None else f"mailto:{link['email']}"
            return self._add("link", position, link.end(), target)
        if (tag := TAG.match(self._text, position, position + TAG_CODE_POINTS)) is not None:
            return tag.end()
        if (section := SECTION.match(self._text, position)) is not None:
            return self._section(position, section.end(), SECTION_ENDS.get(section[0], DECLARATION_END))
        return position + 1

    def _section(self, position: int, begin: int, end: str) -> int:
        found = -1 if end in self._absent else self._text.find(end, begin)
        if found >= 0:
            return found + len(end)
        self._absent.add(end)
        # A block of HTML that is never closed goes to the end of the text; inline it is no markup.
        return len(self._text) if self._in_html else position + 1

    def _open(self, position: int, end: int) -> int:
        if self._brackets:
            self._brackets[-1].has_inner = True
        self._brackets.append(_Bracket(position, end, is_image=end - position > 1))
        return end

    def _close(self, position: int) -> int:
        if not self._brackets:
            return position + 1
        bracket = self._brackets.pop()
        is_active = bracket.is_image or len(self._brackets) >= self._inactive
        self._inactive = min(self._inactive, len(self._brackets))
        if not is_active:
            return position + 1
        target = self._target(bracket, position)
        if target is None:
            return self._footnote(bracket, position + 1)
        value, end = target
        if bracket.is_image:
            return end
        self._inactive = len(self._brackets)
        return self._add("link", bracket.start, end, value, text_end=position)

    def _footnote(self, bracket: _Bracket, end: int) -> int:
        mark = None if bracket.is_image else FOOTNOTE.fullmatch(self._text, bracket.start, end)
        return self._add("footnote", bracket.start, end, mark[1]) if mark else end

    def _target(self, bracket: _Bracket, position: int) -> tuple[str, int] | None:
        """The target of a link whose text ends at ``position``, and where the link ends."""
        inline = _inline_target(self._text, position + 1)
        if inline is not None:
            return inline
        end = position + 1
        following = LABEL.match(self._text, end)
        if following is not None and following[1].strip():
            label, end = following[1], following.end()
        elif bracket.has_inner:
            return None
        else:
            label = self._text[bracket.end : position]
            end += 2 * self._text.startswith("[]", end)
        target = self._references.get(normalizeReference(label))
        return None if target is None else (target, end)

    def _add(self, kind: str, start: int, end: int, value: str, text_end: int = 0) -> int:
        self._scan.atoms[start] = Atom(kind, start, end, value, text_end)
        return end

    def _after(self, pattern: re.Pattern[str], position: int) -> int:
        found = pattern.match(self._text, position)
        return found.end() if found else position


def _inline_target(text: str, position: int) -> tuple[str, int] | None:
    """``(target "title")`` at a position: the target unescaped, and where it ends."""
    if not text.startswith("(", position):
        return None
    begin = _white(text, position + 1)
    pointed = POINTED.match(text, begin)
    end = pointed.end() if pointed else _bare_end(text, begin)
    if end is None:
        return None
    value = pointed[1] if pointed else text[begin:end]
    after = _white(text, end)
    if after > end and (title := TITLE.match(text, after)) is not None:
        after = _white(text, title.end())
    return (unescapeAll(value), after + 1) if text.startswith(")", after) else None


def _bare_end(text: str, position: int) -> int | None:
    """The end of a target without angle brackets; None where there is none. An empty one is one."""
    if text.startswith("<", position):
        return None
    depth = 0
    while (part := BARE.match(text, position)) is not None:
        if part[0] == "(":
            depth += 1
        elif part[0] == ")":
            depth -= 1
        if depth < 0:
            break
        if depth > PARENTHESES_IN_TARGET:
            return None
        position = part.end()
    return position if depth <= 0 else None


def _white(text: str, position: int) -> int:
    found = WHITE.match(text, position)
    return found.end() if found else position
