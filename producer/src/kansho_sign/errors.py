"""The one exception root of the producer, and its reason codes (docs/spec/reasons.md, Producer)."""

from dataclasses import dataclass
from typing import ClassVar, Self

__all__ = ["FaultError", "InputError", "KanshoError", "StateError", "UsageError"]


@dataclass(slots=True)
class KanshoError(Exception):
    """Something that a person can act on.

    ``code`` is a stable, dotted reason; ``where`` names a file, line, JSON path or code point; ``why`` says what is
    wrong; ``hint`` says what to do next. ``exit_code`` is that of the commands (docs/spec/verification.md).
    """

    exit_code: ClassVar[int] = 70

    code: str
    why: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.why} [{self.code}]"

    def at(self, where: str) -> Self:
        """The same error at a place that only the caller knows (it comes before the one already known)."""
        joined = f"{where}: {self.where}" if self.where else where
        return type(self)(self.code, self.why, joined, self.hint)


class InputError(KanshoError):
    """An input or a piece of evidence is refused."""

    exit_code = 3


class UsageError(KanshoError):
    """The call is wrong."""

    exit_code = 2


class StateError(KanshoError):
    """Something that is needed is not there yet, or no longer."""

    exit_code = 4


class FaultError(KanshoError):
    """The program, its store or its disk failed."""

    exit_code = 70
