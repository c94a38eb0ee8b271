"""``plain-paragraphs-v1``: runs of lines with something on them (docs/spec/parsing.md, Plain text)."""

from kansho_sign.parsing.elements import Element

__all__ = ["parse_plain"]

BLANK = " \t"


def parse_plain(text: str) -> list[Element]:
    """Elements of kind ``text``, ascending, never overlapping."""
    elements: list[Element] = []
    start: int | None = None
    end = position = 0
    for line in text.split("\n"):
        held = line.strip(BLANK)
        if held:
            first = position + len(line) - len(line.lstrip(BLANK))
            start = first if start is None else start
            end = first + len(held)
        elif start is not None:
            elements.append(Element("text", start, end))
            start = None
        position += len(line) + 1
    if start is not None:
        elements.append(Element("text", start, end))
    return elements
