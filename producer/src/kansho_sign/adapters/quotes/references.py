"""What a quotation names as its source, and which source that is (docs/spec/adapters/quotes.md, References)."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from kansho_sign.adapters.quotes.inline import Scan, scan_inline
from kansho_sign.adapters.reading import Reference, SourcesMap
from kansho_sign.adapters.values import SCHEME
from kansho_sign.limits import LIMITS

__all__ = ["References", "Target", "footnotes_at_end"]

PARENTHESES = {"(": ")", "（": "）"}  # noqa: RUF001 # both kinds of parentheses are what this is about
# Emphasis around a quotation or a reference is passed over; after a stop only what cannot begin a sentence follows.
EMPHASIS = r"[*_]*+"
BETWEEN = re.compile(rf"{EMPHASIS}(?P<stop>[.,;:!?…]?+){EMPHASIS}\s*+{EMPHASIS}")
SIGNS = re.compile(r"[\s*_]*+")
SEPARATOR = re.compile(r"[\s*_]*+(?:[,;][\s*_]*+)?")
IN_PARENTHESES = re.compile(rf"[^()（）]{{1,{LIMITS.uri_characters}}}+")  # noqa: RUF001 # both kinds
PATH = re.compile(r"\S*[^\s/\\.]\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{2,10}")
DASH = re.compile(r"\s*+[*_]*+(?:[—–―]|-{2,3}+)\s*+")  # noqa: RUF001 # dashes are what this is about
NAMED_BY = ("id", "filename", "title", "uri")


class Target(NamedTuple):
    """How a source is named: a ``link``'s target, a ``plain`` text, or the label of a ``footnote``."""

    kind: str
    value: str


class References:
    """Reads references, and says what they mean to the caller's map; without one, paths are the sources' ids."""

    __slots__ = ("_labels", "_sources")

    def __init__(self, labels: Mapping[str, str], sources: SourcesMap | None) -> None:
        self._labels = labels
        self._sources = sources

    def after(self, scan: Scan, position: int) -> tuple[list[Target], int]:
        """The references that follow one another right after ``position``, and where they end."""
        found: list[Target] = []
        end = position
        while (gap := BETWEEN.match(scan.text, end)) is not None:
            atom = scan.atoms.get(gap.end())
            if atom is not None and (atom.kind == "footnote" or (atom.kind == "link" and not gap["stop"])):
                found.append(Target(atom.kind, atom.value))
                end = atom.end
            elif (group := self._parenthesised(scan, gap.end())) is not None:
                found += group[0]
                end = group[1]
            else:
                break
        return found, end

    def _parenthesised(self, scan: Scan, position: int) -> tuple[list[Target], int] | None:
        closing = PARENTHESES.get(scan.text[position : position + 1])
        if closing is None:
            return None
        found, end = self._listed(scan, position + 1)
        if found and scan.text.startswith(closing, end):
            return found, end + 1
        inside = IN_PARENTHESES.match(scan.text, position + 1)
        if inside is None or not scan.text.startswith(closing, inside.end()):
            return None
        plain = self.plain(inside[0].strip())
        return ([plain], inside.end() + 1) if plain else None

    def _listed(self, scan: Scan, position: int) -> tuple[list[Target], int]:
        """References with a comma, a semicolon or nothing between them, and where they and the signs after them end."""
        found: list[Target] = []
        end = _after(SIGNS, scan.text, position)
        while (atom := scan.atoms.get(end)) is not None:
            target = self.plain(atom.value, is_code=True) if atom.kind == "code" else Target(atom.kind, atom.value)
            if target is None:
                break
            found.append(target)
            end = _after(SEPARATOR, scan.text, atom.end)
        return found, end

    def attribution(self, line: str) -> list[Target]:
        """The references of a dash and nothing but references after it; none where a text is no such thing."""
        dash = DASH.match(line)
        if dash is None:
            return []
        scan = scan_inline(line, self._labels)
        found, end = self._listed(scan, dash.end())
        if found and end == len(line):
            return found
        plain = self.plain(line[dash.end() :].strip())
        return [plain] if plain else []

    def plain(self, text: str, *, is_code: bool = False) -> Target | None:
        """A reference without markup: what the map knows, or what looks like a path; in code white space may be in it.

        None where it is neither.
        """
        target = Target("plain", text)
        if self._sources is not None and any(one in self._sources.sources for one in self.of(target)):
            return target
        if len(text) > LIMITS.uri_characters:
            return None
        return target if PATH.fullmatch(text.replace(" ", "") if is_code else text) else None

    def plain_or_code(self, text: str) -> Target | None:
        """As :meth:`plain`, of a text that may be a code span as a whole."""
        code = scan_inline(text, {}).atoms.get(0)
        is_code = code is not None and code.kind == "code" and code.end == len(text)
        return self.plain(code.value, is_code=True) if code is not None and is_code else self.plain(text)

    def of(self, target: Target) -> list[Reference]:
        """The ways to look a target up, the most specific first."""
        if target.kind == "footnote":
            return [Reference("footnote", target.value)]
        if self._sources is None:
            return [Reference("uri" if target.kind == "link" else "filename", target.value)]
        known = self._sources.sources
        if target.kind == "plain":
            return [Reference(by, target.value) for by in NAMED_BY]
        whole, without = Reference("uri", target.value), Reference("uri", target.value.partition("#")[0])
        path = _path_of_link(target.value)
        return [without if whole not in known and without in known else whole] + (
            [Reference("filename", path)] if path else []
        )

    def sources(self, targets: Iterable[Target]) -> SourcesMap:
        """The caller's map; without one, the map of these targets that are paths to the sources of these names."""
        if self._sources is not None:
            return self._sources
        paths = ((target, _path_of(target)) for target in set(targets))
        return SourcesMap({one: path for target, path in paths if path for one in self.of(target)})


def _path_of(target: Target) -> str | None:
    if target.kind == "link":
        return _path_of_link(target.value)
    is_path = target.kind == "plain" and SCHEME.match(target.value) is None
    return _bounded(target.value.removeprefix("./")) if is_path else None


def _path_of_link(target: str) -> str | None:
    """The path in a relative reference, decoded; None where it is none, or its octets are no UTF-8."""
    if SCHEME.match(target):
        return None
    path = target.partition("#")[0].partition("?")[0].removeprefix("./")
    try:
        return _bounded(unquote_to_bytes(path).decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _bounded(path: str) -> str | None:
    # A longer one names no document, and must not become one by being cut.
    return path if 0 < len(path) <= LIMITS.document_code_points else None


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def footnotes_at_end(scan: Scan) -> tuple[list[Target], int]:
    """The footnote marks at the end of a text, in their order, and where the text before them ends."""
    by_end = {one.end: one for one in scan.atoms.values() if one.kind == "footnote"}
    found: list[Target] = []
    end = len(scan.text)
    while (atom := by_end.get(end)) is not None:
        found.append(Target(atom.kind, atom.value))
        end = atom.start
        while end and scan.text[end - 1].isspace():
            end -= 1
    return found[::-1], end
