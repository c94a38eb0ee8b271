"""Placeholders that went out instead of what they stand for (docs/spec/evidence.md, Masking)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from kansho_sign.canonical_json import JsonObject
from kansho_sign.errors import InputError
from kansho_sign.evidence.sources import Source
from kansho_sign.limits import LIMITS
from kansho_sign.schema import validate
from kansho_sign.text import canonical_text

__all__ = ["Masking"]


@dataclass(frozen=True, slots=True)
class Masking:
    """What each placeholder stands for, one to one. It stays here: no bundle, message or log has any of it.

    Making one raises InputError ``masking.ambiguous`` for two placeholders of one text or a placeholder inside another,
    and ``masking.not_canonical`` for a placeholder or text that canonicalisation would change.
    """

    texts: tuple[str, ...] = field(repr=False)
    placeholders: tuple[str, ...]
    _finder: AhoCorasick = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Checks the pairs, by their numbers alone: what a placeholder stands for is never shown."""
        for position, pair in enumerate(zip(self.placeholders, self.texts, strict=True)):
            if not all(pair) or any(_canonical(one) != one for one in pair):
                raise InputError("masking.not_canonical", "empty, or not canonical text", f"$.placeholders[{position}]")
        for column in (self.placeholders, self.texts):
            seen: set[str] = set()
            for position, one in enumerate(column):
                if one in seen:
                    why = "a placeholder, or what it stands for, stands twice"
                    raise InputError("masking.ambiguous", why, f"$.placeholders[{position}]")
                seen.add(one)
        object.__setattr__(self, "_finder", AhoCorasick(self.placeholders, store_patterns=False))
        for position, placeholder in enumerate(self.placeholders):
            if len(self._found(placeholder)) > 1:
                why = "another placeholder stands inside this one"
                raise InputError("masking.ambiguous", why, f"$.placeholders[{position}]")

    @classmethod
    def from_json(cls, value: JsonObject) -> "Masking":
        """From ``kansho.masking.v1``. Raises InputError ``schema.violation``, which shows nothing of the value."""
        try:
            validate(value, "masking")
        except InputError as error:
            raise InputError(error.code, "not a kansho.masking.v1", error.where, error.hint) from None
        pairs = value["placeholders"]
        return cls(tuple(item["text"] for item in pairs), tuple(item["placeholder"] for item in pairs))

    def _found(self, text: str) -> list[tuple[int, int, int]]:
        return self._finder.find_matches_as_indexes(text, overlapping=True)

    def check_sources(self, sources: Iterable[Source]) -> None:
        """Raises InputError ``masking.placeholder_in_source`` where a source holds a placeholder literally."""
        for source in sources:
            found = self._found(source.text)
            if found:
                number, start, _ = found[0]
                raise InputError(
                    "masking.placeholder_in_source",
                    f"holds the placeholder {self.placeholders[number][:80]!a} literally, at code point {start}",
                    f"source {source.source_id[:80]!a}",
                    "mask with placeholders that no source holds",
                )

    def unmask(self, text: str, longest: int = LIMITS.answer_bytes) -> str | None:
        """Canonical text with what the placeholders stand for; None where two of them overlap, so that either may be
        meant. A placeholder that is not in the map stays, and then stands in no source.

        Raises InputError ``limits.bytes`` where the result would have more than ``longest`` code points.
        """
        parts: list[str] = []
        done = 0
        size = len(text)
        for number, start, end in sorted(self._found(text), key=lambda found: found[1]):
            size += len(self.texts[number]) - (end - start)
            if size > longest:
                why = "unmasked, the excerpts would have more text than an answer may have"
                raise InputError("limits.bytes", why, "$.evidence", "quote less")
            if start < done:
                return None
            parts += (text[done:start], self.texts[number])
            done = end
        return "".join((*parts, text[done:]))

    def shown_in(self, text: str) -> bool:
        """Whether something that was masked stands in ``text`` openly, in any case."""
        folded = text.casefold()
        return any(one.casefold() in folded for one in self.texts)


def _canonical(text: str) -> str | None:
    try:
        return canonical_text(text)
    except InputError:
        return None
