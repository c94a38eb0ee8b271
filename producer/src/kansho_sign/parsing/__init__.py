"""Parsers: canonical text to elements, by media type (docs/spec/parsing.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kansho_sign.canonical_json import JsonObject, sha256_hex
from kansho_sign.errors import InputError
from kansho_sign.parsing.elements import Element
from kansho_sign.parsing.markdown import parse_markdown
from kansho_sign.parsing.plain import parse_plain

__all__ = ["PARSERS", "Element", "Parser", "parser_for"]


@dataclass(frozen=True, slots=True)
class Parser:
    """A function of canonical text, named by a revision and the hash of its configuration."""

    revision: str
    configuration: Mapping[str, object]
    parse: Callable[[str], list[Element]]

    @property
    def configuration_sha256(self) -> str:
        """SHA-256 of the canonical JSON of the configuration."""
        return sha256_hex(dict(self.configuration))

    def pipeline_entry(self, media_type: str) -> JsonObject:
        """This parser's member of the pipeline."""
        return {
            "media_type": media_type,
            "parser": self.revision,
            "configuration_sha256": self.configuration_sha256,
        }


PARSERS: dict[str, Parser] = {
    "text/markdown": Parser("markdown-blocks-v1", {"preset": "commonmark", "tables": True}, parse_markdown),
    "text/plain": Parser("plain-paragraphs-v1", {}, parse_plain),
}


def parser_for(media_type: str) -> Parser:
    """Raises InputError ``source.media_type`` for a type without parser."""
    try:
        return PARSERS[media_type]
    except KeyError:
        known = ", ".join(sorted(PARSERS))
        raise InputError("source.media_type", f"no parser for {media_type}", hint=f"known: {known}") from None
