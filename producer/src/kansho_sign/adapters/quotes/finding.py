"""Finds quotations and the references to their sources, block by block (docs/spec/adapters/quotes.md)."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kansho_sign.adapters.quotes.blocks import Block, Container, Content, Document, Leaf
from kansho_sign.adapters.quotes.inline import Scan, scan_html, scan_inline
from kansho_sign.adapters.quotes.marks import Lone, Pair, pair_marks
from kansho_sign.adapters.quotes.references import References, Target, footnotes_at_end

__all__ = ["Citation", "Finding", "Note", "Unreferenced", "find"]

WHITE = " \t\n"
# What stands between the reference in a footnote and the quotation in it.
BEFORE_A_QUOTATION = WHITE + ":,;—–-"  # noqa: RUF001 # dashes are what this is about


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """A quotation that names no source, so that nothing checks it: its first line, from 1, and its text."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation: its text to the letter, its lines, and what it names as its source."""

    excerpt: str
    place: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A part of the answer's prose as it stands, with the citations in it and the footnotes that it points to.

    ``label`` is that of the footnote which it is a part of.
    """

    source: str
    place: str
    citations: list[Citation]
    footnotes: list[str]
    label: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found; ``footnotes`` are the references in each of them, by label."""

    notes: list[Note] = field(default_factory=list)
    unreferenced: list[Unreferenced] = field(default_factory=list)
    footnotes: Mapping[str, tuple[Target, ...]] = field(default_factory=dict)


def find(document: Document, references: References) -> Finding:
    """The quotations of a document, in their order."""
    finder = _Finder(document, references)
    finder.walk(document.root, _Place())
    return finder.finding


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: in a footnote, with what that names; in a block quote without attribution."""

    label: str | None = None
    targets: tuple[Target, ...] = ()
    in_quote: bool = False


class _Inline:
    """Quotations in the text of a block, and their lines."""

    __slots__ = ("_line", "_starts", "has_references", "lone", "pairs", "scan", "text", "titles")

    def __init__(self, content: Content, scan: Scan, *, has_references: bool = True) -> None:
        self.text = content.text
        self.scan = scan
        self.has_references = has_references
        self.titles = scan.link_texts()
        self.pairs, self.lone = pair_marks(content.text, scan.marks, self.titles)
        self._line = content.line
        self._starts = [place + 1 for place, character in enumerate(content.text) if character == "\n"]

    def line(self, position: int) -> int:
        return self._line + bisect_right(self._starts, position)

    def place(self, start: int, end: int) -> str:
        return _lines(self.line(start), self.line(max(start, end - 1)))

    def in_title(self, position: int) -> bool:
        number = bisect_right(self.titles, (position, len(self.text)))
        return number > 0 and position < self.titles[number - 1][1]

    def in_quotation(self, position: int) -> bool:
        number = bisect_right(self.pairs, position, key=lambda pair: pair.start)
        return number > 0 and position < self.pairs[number - 1].end

    def items(self) -> list[tuple[int, Pair | Lone]]:
        """Quotations and marks without a partner, by their starts."""
        made: list[tuple[int, Pair | Lone]] = [(pair.start, pair) for pair in self.pairs]
        made += [(lone.mark.start, lone) for lone in self.lone]
        return sorted(made, key=lambda item: item[0])


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


class _Finder:
    __slots__ = ("_document", "_named", "_references", "finding")

    def __init__(self, document: Document, references: References) -> None:
        self._document = document
        self._references = references
        # What quotations in a footnote may name, by the footnote's identity: several may have one label.
        self._named: dict[int, tuple[Target, ...]] = {}
        by_label: dict[str, tuple[Target, ...]] = {}
        for footnote in _footnotes(document.root):
            for_marks, for_own = self._define(footnote)
            self._named[id(footnote)] = for_own
            by_label.setdefault(footnote.label, for_marks)
        self.finding = Finding(footnotes=by_label)

    def _inlines(self, leaf: Leaf) -> Iterator[_Inline]:
        for content in leaf.contents:
            if leaf.kind == "html":
                yield _Inline(content, scan_html(content.text), has_references=False)
            else:
                yield _Inline(content, scan_inline(content.text, self._document.references))

    def _define(self, footnote: Container) -> tuple[tuple[Target, ...], tuple[Target, ...]]:
        """What the marks of a footnote name, and what the quotations in it do that name nothing themselves."""
        inlines = [one for leaf in _own_leaves(footnote) for one in self._inlines(leaf)]
        links = [
            Target(atom.kind, atom.value)
            for inline in inlines
            for atom in sorted(inline.scan.atoms.values(), key=lambda atom: atom.start)
            if atom.kind == "link" and not inline.in_quotation(atom.start)
        ]
        if links:
            return tuple(links), tuple(links)
        if not inlines:
            return (), ()
        first = inlines[0]
        text = first.text[: first.pairs[0].start] if first.pairs else first.text
        text = text.strip(BEFORE_A_QUOTATION) if first.pairs else text.strip(WHITE)
        if not text:
            return (), ()
        plain = self._references.plain_or_code(text)
        return (plain or Target("plain", text),), (plain,) if plain else ()

    def walk(self, container: Container, place: _Place) -> None:
        """Looks into the blocks of a container."""
        children = iter(_with_next(container.children))
        for child, following in children:
            if isinstance(child, Leaf):
                self._leaf(child, place)
            elif child.kind == "footnote":
                self.walk(child, _Place(child.label, self._named[id(child)]))
            elif child.kind == "quote" and child.content is not None:
                if self._quote(child, child.content, following, place):
                    next(children)
            else:
                self.walk(child, place)

    def _quote(self, quote: Container, content: Content, following: Block | None, place: _Place) -> bool:
        """Reads a block quote; whether the block after it is its attribution."""
        targets, end = self._attribution(quote, content.text)
        after: list[Target] = []
        source = quote.source
        if isinstance(following, Leaf) and following.kind == "paragraph":
            after = self._references.attribution(following.contents[0].text)
            source += f"\n\n{following.source}" if after else ""
        targets = [*targets, *after] or list(place.targets)
        if not targets:
            self.walk(quote, replace(place, in_quote=True))
            return False
        start = len(content.text) - len(content.text.lstrip(WHITE))
        citation = self._block_citation(content, start, max(start, end), tuple(targets))
        footnotes = [target.value for target in targets if target.kind == "footnote"]
        self.finding.notes.append(Note(source, _lines(quote.line, quote.line), [citation], footnotes, place.label))
        return bool(after)

    def _attribution(self, quote: Container, text: str) -> tuple[list[Target], int]:
        """The references at the end of a block quote, and where its text before them ends."""
        end = len(text.rstrip(WHITE))
        last = _last_leaf(quote)
        if last is None or last.kind != "paragraph":
            return [], end
        begin = text.rfind("\n", 0, end) + 1
        found = self._references.attribution(text[begin:end])
        if found:
            end = begin
        elif text.endswith("]", 0, end):
            found, end = footnotes_at_end(scan_inline(text[:end], self._document.references))
        return found, len(text[:end].rstrip(WHITE))

    def _block_citation(self, content: Content, start: int, end: int, targets: tuple[Target, ...]) -> Citation:
        """The text of a block quote; what is between the marks, if it is one quotation in marks and nothing else."""
        text = content.text[:end]
        inline = _Inline(Content(text, content.line), scan_inline(text, self._document.references))
        place = inline.place(start, end)
        whole = next((pair for pair in inline.pairs if (pair.start, pair.end) == (start, end)), None)
        if whole is not None:
            start, end = whole.inner_start, whole.inner_end
        return Citation(text[start:end], place, targets)

    def _leaf(self, leaf: Leaf, place: _Place) -> None:
        if leaf.kind == "break":
            return
        citations: list[Citation] = []
        missing: list[Unreferenced] = []
        footnotes: list[str] = []
        for inline in self._inlines(leaf):
            self._inline(inline, place, citations, missing)
            footnotes += [atom.value for atom in inline.scan.atoms.values() if atom.kind == "footnote"]
        if place.in_quote and not citations:
            text = leaf.contents[0].text if len(leaf.contents) == 1 else leaf.source
            missing = [Unreferenced(leaf.line, text)]
        self.finding.unreferenced.extend(missing)
        self.finding.notes.append(Note(leaf.source, _lines(leaf.line, leaf.line), citations, footnotes, place.label))

    def _inline(self, inline: _Inline, place: _Place, citations: list[Citation], missing: list[Unreferenced]) -> None:
        items = inline.items()
        done = 0
        for number, (start, item) in enumerate(items):
            # What stands in a reference is its title; so is the text of each link in a footnote.
            if start < done or (place.label is not None and inline.in_title(start)):
                continue
            end = item.end if isinstance(item, Pair) else item.mark.end
            targets, after = self._references.after(inline.scan, end) if inline.has_references else ([], end)
            if isinstance(item, Pair):
                text = inline.text[item.inner_start : item.inner_end]
                named = tuple(targets) or place.targets
                if named:
                    citations.append(Citation(text, inline.place(start, end), named))
                else:
                    missing.append(Unreferenced(inline.line(start), text))
            elif item.opens:
                after = items[number + 1][0] if number + 1 < len(items) else len(inline.text)
                missing.append(Unreferenced(inline.line(start), inline.text[start:after]))
                after = end
            elif targets:
                missing.append(Unreferenced(inline.line(done), inline.text[done:end]))
            done = after


def _with_next(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block | None]]:
    return zip(blocks, (*blocks[1:], None), strict=False)


def _footnotes(container: Container) -> Iterator[Container]:
    for child in container.children:
        if isinstance(child, Container):
            if child.kind == "footnote":
                yield child
            yield from _footnotes(child)


def _own_leaves(footnote: Container) -> Iterator[Leaf]:
    """The leaves of a footnote that are not those of a footnote in it."""
    for child in footnote.children:
        if isinstance(child, Leaf):
            yield child
        elif child.kind != "footnote":
            yield from _own_leaves(child)


def _last_leaf(block: Block) -> Leaf | None:
    """The leaf at the end of a block; None where that is a footnote, or nothing."""
    while isinstance(block, Container):
        if block.kind == "footnote" or not block.children:
            return None
        block = block.children[-1]
    return block
