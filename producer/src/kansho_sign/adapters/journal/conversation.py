"""A conversation, what of it is content, and in which order (docs/spec/adapters/journal.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kansho_sign.adapters.journal.times_of_day import confirmed_time, unconfirmed_pair
from kansho_sign.canonical_json import JsonObject
from kansho_sign.characters import only_invisible
from kansho_sign.errors import InputError
from kansho_sign.evidence import Boundary, Coverage, Policy, Registry, Source, make_registry
from kansho_sign.limits import LIMITS
from kansho_sign.sources.names import check_document_id

__all__ = [
    "TURNS",
    "Arrangement",
    "Conversation",
    "JournalError",
    "Turn",
    "arrange",
    "arranged_policy",
    "policy",
    "registry_json",
    "require_sources",
]

USER, ASSISTANT = "user", "assistant"
NO_SOURCES = "no_user_sources"
TURNS = 16_384  # as many sources as kansho.registry.v1 holds


@dataclass(slots=True)
class JournalError(InputError):
    """There is no verified artifact, or none for a next stage.

    ``code`` is ``reconstruction_invalid``, ``no_user_sources`` or ``prompt_budget_exceeded``. ``diagnostics`` always
    has ``reason``, beside it numbers, codes and JSON paths: nothing that a model wrote, nothing of a masking map.
    """

    diagnostics: JsonObject = field(default_factory=dict)

    def at(self, where: str) -> "JournalError":
        """As for every error; the diagnostics stay."""
        joined = f"{where}: {self.where}" if self.where else where
        return JournalError(self.code, self.why, joined, self.hint, self.diagnostics)

    def to_json(self) -> JsonObject:
        """``{code, diagnostics}``, a value of canonical JSON."""
        return {"code": self.code, "diagnostics": self.diagnostics}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said. ``source_id`` is made by the host, ``role`` is ``user`` or ``assistant``."""

    source_id: str
    role: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in the order of encounter. One that is made can be materialised, or has nothing that a user said.

    Making it raises InputError ``journal.role``, ``name.document`` for an id that is no document id, ``limits.items``
    for too many turns, ``limits.bytes`` for too long a one, and as :func:`~kansho_sign.evidence.make_registry`.
    ``registry`` has every turn, in canonical form; ``selected`` those of the user with something to be seen in them.
    """

    turns: tuple[Turn, ...]
    registry: Registry = field(init=False, repr=False, compare=False)
    selected: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Refuses what could not be materialised, or not be signed."""
        if len(self.turns) > TURNS:
            raise InputError("limits.items", f"more than {TURNS} turns", "$.turns")
        for position, turn in enumerate(self.turns):
            if turn.role not in {USER, ASSISTANT}:
                why = f"a turn is of {USER!r} or {ASSISTANT!r}, not of {turn.role[:40]!a}"
                raise InputError("journal.role", why, f"$.turns[{position}].role", "leave out what nobody said")
            check_document_id(turn.source_id)
        registry = make_registry(Source(turn.source_id, turn.role, turn.text) for turn in self.turns)
        for position, turn in enumerate(self.turns):
            if len(turn.text.encode("utf-8")) > LIMITS.source_bytes:
                why = f"a turn of more than {LIMITS.source_bytes} bytes"
                raise InputError("limits.bytes", why, f"$.turns[{position}].text")
        said = (source for source in registry.values() if source.role == USER and not only_invisible(source.text))
        object.__setattr__(self, "registry", registry)
        object.__setattr__(self, "selected", tuple(source.source_id for source in said))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An order of all selected sources. ``deciding`` are two that were proposed in this order, against that of
    encounter, without times of day that confirm it: for them the order of encounter stays.
    """

    order: tuple[str, ...]
    deciding: tuple[str, str] | None = None


def require_sources(conversation: Conversation) -> None:
    """Raises JournalError ``no_user_sources``."""
    if not conversation.selected:
        raise JournalError(NO_SOURCES, "the user said nothing", "$.turns", "", {"reason": NO_SOURCES})


def registry_json(conversation: Conversation) -> JsonObject:
    """The conversation as ``kansho.registry.v1``, texts as they were said. Raises JournalError ``no_user_sources``."""
    require_sources(conversation)
    sources = [{"source_id": turn.source_id, "role": turn.role, "text": turn.text} for turn in conversation.turns]
    return {"schema": "kansho.registry.v1", "sources": sources}


def policy(
    conversation: Conversation, *, order: Sequence[str] | None = None, excerpt_boundary: Boundary = Boundary.SAFE
) -> Policy:
    """The policy under which a reconstruction is verified: the user's turns, all of them, whole.

    ``order`` is a proposal as in :func:`arrange`, whose errors are raised. Raises JournalError ``no_user_sources``.
    """
    require_sources(conversation)
    return arranged_policy(conversation, arrange(conversation, order).order, excerpt_boundary)


def arranged_policy(conversation: Conversation, order: tuple[str, ...], boundary: Boundary) -> Policy:
    """The policy for an order of all selected sources that is arranged already."""
    whole = Coverage.ALL_SELECTED_SOURCES
    return Policy((USER,), whole, order, conversation.selected, False, boundary)  # noqa: FBT003 - members of a record


def arrange(conversation: Conversation, proposed: Sequence[str] | None) -> Arrangement:
    """The proposed order where times of day confirm each change, else that of encounter (the page's Order).

    Raises InputError ``journal.order_unknown``, ``journal.order_duplicate``, ``journal.order_incomplete`` for a
    proposal that is no order of the selected sources.
    """
    selected = conversation.selected
    if proposed is None:
        return Arrangement(selected)
    numbers = {source_id: number for number, source_id in enumerate(selected)}
    seen: set[str] = set()
    for position, source_id in enumerate(proposed):
        where = f"$.order[{position}]"
        if source_id not in numbers:
            raise InputError("journal.order_unknown", "no selected source of the user", where)
        if source_id in seen:
            raise InputError("journal.order_duplicate", "it stands twice", where)
        seen.add(source_id)
    if len(seen) < len(selected):
        raise InputError("journal.order_incomplete", "a selected source is missing", "$.order")
    if tuple(proposed) == selected:
        return Arrangement(selected)
    times = [confirmed_time(conversation.registry[source_id].text) for source_id in selected]
    pair = unconfirmed_pair([numbers[source_id] for source_id in proposed], times)
    return Arrangement(selected, (selected[pair[0]], selected[pair[1]])) if pair else Arrangement(tuple(proposed))
