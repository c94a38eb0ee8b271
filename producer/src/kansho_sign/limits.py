"""Every bound that the producer enforces (docs/spec/limits.md)."""

from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of format version 1; sizes in bytes unless the name says otherwise."""

    source_bytes: int = 16_777_216
    event_line_bytes: int = 33_554_432
    answer_bytes: int = 67_108_864
    registry_bytes: int = 536_870_912
    policy_bytes: int = 8_388_608
    statement_bytes: int = 1_048_576
    bundle_bytes: int = 536_870_912
    json_depth: int = 32
    json_digits: int = 4_000
    foreign_json_depth: int = 100
    json_items: int = 16_777_216
    nonstarter_run_code_points: int = 256
    question_code_points: int = 8_192
    label_code_points: int = 256
    document_code_points: int = 512
    uri_characters: int = 2_048
    groups: int = 256
    top_k: int = 100
    evidence_items: int = 131_072
    annotations: int = 16_384
    evidence_of_an_annotation: int = 16_384
    markdown_nesting: int = 100
    occurrence_work_code_points: int = 1 << 36
    diagnosis_work_code_points: int = 1 << 30
    work_of_an_occurrence: int = 1_024
    key_bytes: int = 65_536
    passphrase_bytes: int = 1_023
    latest_time_seconds: int = 253_402_300_799


LIMITS = Limits()
