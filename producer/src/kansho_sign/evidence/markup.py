"""Markup and entities: what a text is without them (docs/spec/diagnosis.md).

All of it is found as edits of the original text, so that whoever removes markup still knows where everything stood.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html.entities import html5
from itertools import chain
from typing import Final

from kansho_sign.evidence.shapes import SHAPE, is_word

__all__ = ["Edit", "Worded", "edited", "entity_edits", "markup_edits", "merged"]

# The elements of HTML (HTML Standard, section 3), those between words first: without them words would run together.
BLOCKS: Final = re.compile(
    "address|article|aside|base|blockquote|body|br|button|canvas|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|"
    "embed|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hgroup|hr|html|iframe|img|input|legend|li|link|main|"
    "map|menu|meta|nav|noscript|object|ol|optgroup|option|p|picture|pre|script|search|section|select|slot|source|style|"
    "summary|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|track|ul|video|audio"
)
INLINE: Final = re.compile(
    "a|abbr|area|b|bdi|bdo|big|cite|code|data|datalist|del|dfn|em|font|i|ins|kbd|label|mark|meter|output|param|progress|"
    "q|rp|rt|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
VOID: Final = re.compile("area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr")
"""Elements without an end tag (HTML Standard, 13.1.2)."""
RAISING: Final = frozenset(("sub", "sup"))

# `&amp;nbsp;` is an entity that was written out twice.
ENTITY: Final = re.compile(r"&(?:amp;)*(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
ATTRIBUTE: Final = r"""\s+[A-Za-z_:][\w:.-]*+\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++)"""
TAG: Final = re.compile(rf"</?([A-Za-z][A-Za-z0-9]*+)((?:{ATTRIBUTE})*+)\s*+/?>")
AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^\s<>]++)>")
FENCE: Final = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[ \t]*([^`\s]*)[ \t]*$\n?", re.MULTILINE)
TICKS: Final = re.compile(r"`+")
ESCAPE: Final = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
TARGET: Final = r"""\(([^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+(?:\s++(?:"[^"\n]*+"|'[^'\n]*+'))?+)\)"""
LINK: Final = re.compile(rf"(!?\[)[^\[\]]*+(\]{TARGET})")
REFERENCE: Final = re.compile(r"(!?(?<![\w\]])\[)(?![0-9]+\])[^\[\]]++(\]\[([^\[\]\n]*+)\])")
FOOTNOTE: Final = re.compile(r"\[(\^[^\[\]\s]++)\](?!:)")
RULE: Final = re.compile(r"^[ \t]*(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|-{2,}[ \t]*|={2,}[ \t]*)$\n?", re.MULTILINE)
HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)
CLOSED_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]*?([ \t]#+[ \t]*)$", re.MULTILINE)
QUOTED_LINE: Final = re.compile(r"^ {0,3}(?:>[ \t]?)++(?![ \t]*[-+.=\d])", re.MULTILINE)
# Before a digit at the very start of a text a dash may be a sign: only a line break shows that an item begins.
BULLET: Final = re.compile(r"(?:(?<=\n)|\A(?![ \t]*[-+][ \t]+[\d.]))[ \t]*[-+*•‣◦▪][ \t]+(?:\[[ xX]\][ \t]+)?")
NUMBERED: Final = re.compile(r"^[ \t]*([0-9]{1,9})[.)][ \t]+", re.MULTILINE)
DELIMITER: Final = re.compile(r"\*{1,3}|_{1,3}|~~|\n[ \t]*\n")
FILLED: Final = re.compile(r"[^\n]")
FORMULA_END: Final = "\u0590"
"""Letters below it, of the alphabets that formulas use, make ``a*b*c`` a product and no emphasis."""
LINK_DEPTH: Final = 2
"""A link may hold an image."""


@dataclass(frozen=True, slots=True)
class Edit:
    """``[start, end)`` of a text is read as ``replacement``; ``carries`` is what is lost by it beside markup.

    ``half`` is 1 for what opens a pair, -1 for what closes one, else 0.
    """

    start: int
    end: int
    replacement: str = ""
    carries: str = ""
    half: int = 0

    def moved(self, by: int) -> "Edit":
        """The same edit of a text that begins ``by`` code points earlier."""
        return replace(self, start=self.start + by, end=self.end + by)


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """In ascending order and apart: where two overlap, the earlier one goes as far as both."""
    made: list[Edit] = []
    for edit in sorted(edits, key=lambda one: (one.start, -one.end)):
        if made and edit.start < made[-1].end:
            if edit.end > made[-1].end:
                last = made[-1]
                made[-1] = replace(last, end=edit.end)
        else:
            made.append(edit)
    return made


def edited(text: str, edits: Sequence[Edit]) -> str:
    """``text`` after ``edits``, ascending and apart."""
    if not edits:
        return text
    pieces: list[str] = []
    place = 0
    for edit in edits:
        pieces += text[place : edit.start], edit.replacement
        place = edit.end
    return "".join(pieces) + text[place:]


@dataclass(frozen=True, slots=True)
class Worded:
    """A text, and the entities and the markup that stand in it, each in ascending order and apart."""

    text: str
    entities: tuple[Edit, ...]
    markup: tuple[Edit, ...]

    @classmethod
    def read(cls, text: str, *, inline: bool = False) -> "Worded":
        """``inline`` as in :func:`markup_edits`."""
        return cls(text, tuple(entity_edits(text)), tuple(markup_edits(text, inline=inline)))

    def edits(self, *, entities: bool = True, markup: bool = True) -> list[Edit]:
        """Those of one kind, or of both."""
        return merged((*(self.entities if entities else ()), *(self.markup if markup else ())))

    def carried(self, *, entities: bool) -> tuple[str, ...]:
        """What the markup says beside its text: targets of links, numbers of items, attributes, in order."""
        carried = (edit.carries for edit in self.markup if edit.carries)
        return tuple(edited(one, entity_edits(one)) if entities else one for one in carried)


def entity_edits(text: str) -> list[Edit]:
    """Character references of HTML that end with a semicolon; what names no character stays."""
    return list(_entities(text)) if "&" in text else []


def _entities(text: str) -> Iterator[Edit]:
    for match in ENTITY.finditer(text):
        name = match[1]
        if name[0] != "#" and f"{name};" not in html5:
            continue
        character = html.unescape(f"&{name};")
        if character and not any(c in "\x00\ufffd" or "\ud800" <= c <= "\udfff" for c in character):
            yield Edit(match.start(), match.end(), character)


def markup_edits(text: str, *, inline: bool = False) -> list[Edit]:
    """HTML tags, and the Markdown that people write: code, links, headings, lists, block quotes, rules, emphasis.

    Read cautiously: what may as well be a sign, a comparison, a product or a number of its own is no markup. ``inline``
    says that the text begins inside a line, so that what makes a heading or an item there is text.
    """
    if inline:
        return [edit.moved(-1) for edit in markup_edits(f"\x00{text}")]
    found: list[Edit] = []
    rest = text

    def take(edits: Iterable[Edit]) -> None:
        nonlocal rest
        taken = merged(edits)
        found.extend(taken)
        rest = _masked(rest, ((one.start, one.end) for one in taken))

    def whole(pattern: re.Pattern[str], group: int = 0) -> Iterator[Edit]:
        return (Edit(match.start(group), match.end(group)) for match in pattern.finditer(rest))

    if "`" in text or "~~~" in text:
        take(Edit(match.start(), match.end(), carries=match[1]) for match in FENCE.finditer(rest))
        code = list(_code(rest))
        take(chain.from_iterable(edits for edits, _ in code))
        rest = _masked(rest, (content for _, content in code))
    if "\\" in text:
        take(whole(ESCAPE))
    if "<" in text:
        take(_comments(rest))
        take(_tags(rest))
        take(chain.from_iterable(_around(match, 1) for match in AUTOLINK.finditer(rest)))
    if "[" in text:
        for _ in range(LINK_DEPTH):
            take(_links(rest))
        take(Edit(match.start(), match.end(), carries=match[1]) for match in FOOTNOTE.finditer(rest))
    for marks, edits in _line_rules(whole):
        if any(mark in text for mark in marks):
            take(edits)
    take(_numbered(rest))
    if any(mark in text for mark in "*_~"):
        take(_emphasis(rest))
    return merged(found)


def _line_rules(whole: Callable[..., Iterator[Edit]]) -> Iterator[tuple[str, Iterator[Edit]]]:
    yield "#", chain(whole(HEADING), whole(CLOSED_HEADING, 1))
    yield ">", whole(QUOTED_LINE)
    yield "-=*_", whole(RULE)
    yield "-+*•‣◦▪", whole(BULLET)


def _around(match: re.Match[str], group: int) -> tuple[Edit, Edit]:
    return Edit(match.start(), match.start(group), half=1), Edit(match.end(group), match.end(), half=-1)


def _masked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Of the same length, with nothing but line breaks left at ``places``, which ascend and lie apart."""
    return edited(text, [Edit(start, end, FILLED.sub("\x00", text[start:end])) for start, end in places])


def _edges(text: str) -> tuple[int, int]:
    """Where a text begins and ends, beside white space."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _code(text: str) -> Iterator[tuple[tuple[Edit, ...], tuple[int, int]]]:
    """Runs of ticks in pairs of one length inside a paragraph, or alone at an edge; and the place of their content."""
    runs = [(match.start(), match.end()) for match in TICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        later.setdefault(end - start, []).append(number)
    first, last = _edges(text)
    number = 0
    while number < len(runs):
        start, end = runs[number]
        same = later[end - start]
        while same and same[-1] <= number:
            same.pop()
        if same and text.find("\n\n", end, runs[same[-1]][0]) < 0:
            number = same[-1]
            close = runs[number]
            yield (Edit(start, end, half=1), Edit(*close, half=-1)), (end, close[0])
        elif start == first or end == last:
            yield (Edit(start, end),), (end, end)
        number += 1


def _comments(text: str) -> Iterator[Edit]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        yield Edit(start, end + 3)
        start = text.find("<!--", end + 3)


def _tags(text: str) -> Iterator[Edit]:
    for match in TAG.finditer(text):
        name = match[1].lower()
        if name in RAISING and text[match.start() - 1 : match.start()].translate(SHAPE) == "0":
            continue
        between = BLOCKS.fullmatch(name)
        if between or INLINE.fullmatch(name):
            half = -1 if match[0][1] == "/" else 0 if VOID.fullmatch(name) or match[0][-2] == "/" else 1
            yield Edit(match.start(), match.end(), " " if between else "", match[2].strip(), half)


def _links(text: str) -> Iterator[Edit]:
    for pattern in (LINK, REFERENCE):
        for match in pattern.finditer(text):
            yield Edit(match.start(1), match.end(1), half=1)
            yield Edit(match.start(2), match.end(2), carries=match[3], half=-1)


def _numbered(text: str) -> Iterator[Edit]:
    """Numbers of list items: the first of a text or after an empty line, 1, or one more than the one before."""
    before = None
    for match in NUMBERED.finditer(text):
        number = int(match[1])
        if number in (1, before) or text[max(0, match.start() - 2) : match.start()] in ("", "\n", "\n\n"):
            before = number + 1
            yield Edit(match.start(), match.end(), carries=match[1])


def _emphasis(text: str) -> Iterator[Edit]:
    """Delimiters in pairs (CommonMark 0.31, section 6.2, without its rule of three), and alone at an edge."""
    open_at: dict[str, list[Edit]] = {}
    first, last = _edges(text)
    outermost: Edit | None = None
    for match in DELIMITER.finditer(text):
        run = match[0]
        if run[0] == "\n":
            open_at.clear()
            continue
        here = Edit(match.start(), match.end())
        opens, closes = _flanks(text, here.start, here.end, run)
        if closes and open_at.get(run):
            opened = open_at[run].pop()
            outermost = None if opened is outermost else outermost
            yield replace(opened, half=1)
            yield replace(here, half=-1)
        elif opens:
            open_at.setdefault(run, []).append(here)
            outermost = here if here.start == first else outermost
        elif closes and here.end == last:
            yield here
    if outermost:
        yield outermost


def _flanks(text: str, start: int, end: int, run: str) -> tuple[bool, bool]:
    """Whether a run of delimiters may open emphasis, and whether it may close it."""
    before, after = text[start - 1 : start], text[end : end + 1]
    outer, inner = before.translate(SHAPE), after.translate(SHAPE)
    opens = after != "" and inner not in " g" and not _joins(before, outer, run, inner)
    closes = before != "" and outer not in " g" and not _joins(after, inner, run, outer)
    return opens, closes


def _joins(outside: str, kind: str, run: str, inside: str) -> bool:
    """Whether a delimiter touches a word on its outer side in a way that no emphasis does."""
    if not is_word(kind):
        return False
    return kind == "0" or (outside < FORMULA_END and (inside == "0" or run == "*" or run[0] == "_"))
