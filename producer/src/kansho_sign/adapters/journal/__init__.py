"""Journals: a model's reconstruction of a conversation, verified (docs/spec/adapters/journal.md).

What the user said is the only content. The model may quote it and propose an order; of its answer nothing goes on but
the places of quotes that stand. Domain words are at home in this package alone.
"""

from kansho_sign.adapters.journal.conversation import (
    Arrangement,
    Conversation,
    JournalError,
    Turn,
    arrange,
    policy,
    registry_json,
)
from kansho_sign.adapters.journal.stages import (
    EntryInput,
    FirstStage,
    Outcome,
    entry_input,
    read_first_stage,
    verify_reconstruction,
)

__all__ = [
    "Arrangement",
    "Conversation",
    "EntryInput",
    "FirstStage",
    "JournalError",
    "Outcome",
    "Turn",
    "arrange",
    "entry_input",
    "policy",
    "read_first_stage",
    "registry_json",
    "verify_reconstruction",
]
