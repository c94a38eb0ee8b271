"""An answer's file: one JSON value, JSON Lines of events, or server-sent events (docs/spec/adapters.md, Input)."""

from typing import Any

from kansho_sign import strict_json
from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["parse_answer"]

FIELDS = ("data:", "event:", "id:", "retry:", ":")
END = "[DONE]"


def parse_answer(data: bytes) -> Any:
    """The value, or for the two kinds of stream an array of the events' values.

    Server-sent events are recognised by their first line, JSON Lines by a whole value in the first of several lines.
    Raises InputError as :func:`kansho_sign.strict_json.parse`, with the line.
    """
    text = strict_json.decode(data, LIMITS.answer_bytes, LIMITS.foreign_json_depth)
    if text.lstrip().startswith(FIELDS):
        return _server_sent(text)
    try:
        return strict_json.parse(data, LIMITS.answer_bytes)
    except InputError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if error.code != "json.syntax" or len(lines) < 2 or not _is_whole(lines[0][1]):  # noqa: PLR2004 - "several"
            raise
    return [_parse(line, number) for number, line in lines]


def _is_whole(line: str) -> bool:
    try:
        strict_json.parse(line.encode("utf-8"), LIMITS.answer_bytes)
    except InputError:
        return False
    return True


def _parse(text: str, line: int) -> Any:
    try:
        return strict_json.parse(text.encode("utf-8"), LIMITS.answer_bytes)
    except InputError as error:
        raise InputError(error.code, error.why, f"line {line}", error.hint) from None


def _server_sent(text: str) -> list[Any]:
    """The data of each event (WHATWG HTML, section 9.2.6); the mark of the end that some providers send is none."""
    events: list[Any] = []
    data: list[str] = []
    begun = 0
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith("data:"):
            begun = begun if data else number
            data.append(line[len("data:") :].removeprefix(" "))
        elif not line and data:
            joined, data = "\n".join(data), []
            if joined != END:
                events.append(_parse(joined, begun))
        elif line and not line.startswith(FIELDS):
            raise InputError("json.syntax", "no field of a server-sent event", f"line {number}")
    return events
