"""The envelope: every byte of it counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import Code, VerifyError, cbor, cose
from tests.consumer.checking import refused
from tests.support import forge as forging
from tests.support.forge import Forge, TestKey, b64

PAYLOAD = Forge().public["payload"]
GOOD = forging.envelope(PAYLOAD, TestKey("citation"))

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.binary(max_size=300) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.integers(-40, 300) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=6,
)


def test_the_good_envelope_is_read() -> None:
    envelope = cose.read_envelope(b64(GOOD), PAYLOAD)
    assert (envelope.alg, envelope.kid) == (-19, TestKey("citation").kid.hex())


@pytest.mark.parametrize("position", range(len(GOOD)))
def test_no_changed_byte_survives(position: int) -> None:
    for bit in (1, 0x80):
        changed = bytes([*GOOD[:position], GOOD[position] ^ bit, *GOOD[position + 1 :]])
        assert _code(changed) is not None
    assert _code(GOOD) is None


def _code(raw: bytes) -> Code | None:
    """Why an envelope is refused under the key that signed, if it is; another kid finds no key."""
    key = TestKey("citation")
    try:
        envelope = cose.read_envelope(b64(raw), PAYLOAD)
        if envelope.kid != key.kid.hex():
            return Code.SIGNATURE_KEY_UNKNOWN
        digest = bytes.fromhex(forging.sha(forging.canonical(PAYLOAD)))
        cose.verify_envelope(envelope, public_key=key.public, alg=-19, payload=PAYLOAD, digest=digest)
    except VerifyError as error:
        return error.reason.code
    return None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", Code.COSE_STRUCTURE),
        ("A", Code.BASE64URL_INVALID),
        ("AA==", Code.BASE64URL_INVALID),
        ("AB", Code.BASE64URL_INVALID),
        ("A A", Code.BASE64URL_INVALID),
        ("AA\n", Code.BASE64URL_INVALID),
        ("A+A", Code.BASE64URL_INVALID),
        ("\uff21A", Code.BASE64URL_INVALID),
        (b64(GOOD + b"\0"), Code.CBOR_MALFORMED),
        (b64(b"\xd2\x84" + b"\x40" * 4000), Code.LIMITS_BYTES),
        (b64(b"\xd2\x84" + b"\x40" * 1_530), Code.CBOR_MALFORMED),
        (b64(b"\xd2\x84\x9b" + b"\xff" * 8), Code.CBOR_MALFORMED),
        (b64(b"\xd2\x84" + b"\x81" * 64), Code.CBOR_MALFORMED),
    ],
)
def test_hostile_envelopes(text: str, code: Code) -> None:
    assert refused(cose.read_envelope, text, PAYLOAD) is code


@given(VALUES)
def test_cbor_survives_writing_and_reading(value: object) -> None:
    data = cbor.encode(value)
    assert data == forging.cbor(value)
    try:
        again = cbor.decode(data)
    except VerifyError as error:
        code = error.reason.code
    else:
        assert cbor.encode(again) == data
        return
    assert code is Code.CBOR_MALFORMED  # nesting deeper than an envelope's


@given(st.binary(max_size=64))
def test_any_bytes_give_a_value_or_a_reason(data: bytes) -> None:
    try:
        value = cbor.decode(data)
    except VerifyError:
        return
    assert cbor.encode(value) == data
