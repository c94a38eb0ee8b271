"""The trust root: who may sign what (``docs/spec/statements.md``, Trust root; ``signatures.md``; ``verification.md``).

Loading checks the keys and the file's own signatures. :func:`check_signatures` then decides on the signatures of any
other statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kansho_verify import cose, ed25519
from kansho_verify.canonical_json import JsonObject
from kansho_verify.limits import LIMITS
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.statement import Statement, read_statement

__all__ = ["Key", "Moment", "Role", "TrustRoot", "check_signatures", "check_trust_root", "load_trust_root"]


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of checking: ``now`` in seconds since 1970, and whether the operator trusts claimed times."""

    now: int
    trust_claimed_time: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a role. Times are seconds since 1970, or None."""

    thumbprint: str
    public_key: bytes
    alg: int
    not_before: int
    not_after: int | None
    retired_at: int | None
    revoked_at: int | None


@dataclass(frozen=True, slots=True)
class Role:
    """A role: how many distinct keys must sign, which media types, and the keys by thumbprint."""

    name: str
    threshold: int
    media_types: tuple[str, ...]
    keys: Mapping[str, Key]


@dataclass(frozen=True, slots=True)
class TrustRoot:
    """A trust root whose keys are in order and which is signed by its own root role."""

    issuer: str
    corpus: str
    version: int
    sha256: str
    expires_at: int
    roles: tuple[Role, ...]
    doubts: tuple[Reason, ...]

    def role_of(self, media_type: str) -> Role | None:
        """The role that signs ``media_type``, if there is one."""
        return next((role for role in self.roles if media_type in role.media_types), None)


def load_trust_root(data: bytes, moment: Moment) -> TrustRoot:
    """The trust root that ``data`` is. What leaves it undecided stands in ``doubts``; expiry is not looked at.

    Raises VerifyError: the codes of :func:`~kansho_verify.statement.read_statement`, ``trust_root.threshold``,
    ``trust_root.key_repeated``, ``key.point``, ``key.low_order``, and those of :func:`check_signatures`.
    """
    statement = read_statement("trust-root", data, LIMITS.trust_root_bytes)
    payload = statement.payload
    roles = tuple(_role(name, role) for name, role in payload["roles"].items())
    thumbprints = [thumbprint for role in roles for thumbprint in role.keys]
    if len(set(thumbprints)) != len(thumbprints):
        detail = "one public key stands in two roles"
        raise VerifyError(Reason(Code.TRUST_ROOT_KEY_REPEATED, "$.payload.roles", detail))
    bare = TrustRoot(
        issuer=payload["issuer"],
        corpus=payload["corpus"],
        version=payload["version"],
        sha256=statement.sha256,
        expires_at=payload["expires_at"],
        roles=roles,
        doubts=(),
    )
    doubts = check_signatures(statement, bare, moment)
    return TrustRoot(bare.issuer, bare.corpus, bare.version, bare.sha256, bare.expires_at, roles, doubts)


def check_trust_root(
    trust_root: TrustRoot, public: JsonObject, *, live: JsonObject | None, now: int
) -> Iterator[Reason]:
    """Whether the trust root is that of the bundle, has not expired, and is as new as the live state demands.

    ``public`` is the public section's payload, ``live`` that of a verified live state, or None.
    """
    names = (
        ("issuer", trust_root.issuer, Code.TRUST_ROOT_ISSUER_MISMATCH),
        ("corpus", trust_root.corpus, Code.TRUST_ROOT_CORPUS_MISMATCH),
    )
    for member, value, code in names:
        if value != public[member]:
            detail = f"the bundle is of another {member} than the trust root"
            yield Reason(code, f"$.public.payload.{member}", detail)
    hint = "get the newest trust root (--trust-root)"
    if trust_root.expires_at < now:
        yield Reason(Code.TRUST_ROOT_EXPIRED, "", "the trust root has expired", hint=hint)
    if live is not None and trust_root.version < live["minimum_trust_root_version"]:
        yield Reason(Code.TRUST_ROOT_TOO_OLD, "", "the live state demands a newer trust root", hint=hint)


def check_signatures(statement: Statement, trust_root: TrustRoot, moment: Moment) -> tuple[Reason, ...]:
    """Check every signature of ``statement``, the threshold of its role, and that it is not from the future.

    Returns the reasons that leave it undecided (``key.retired_no_time``), with paths into the statement. Raises
    VerifyError: ``signature.key_unknown``, ``signature.wrong_role``, ``signature.invalid``, ``signature.threshold``,
    ``key.algorithm``, ``key.revoked``, ``key.not_yet_valid``, ``key.expired``, ``key.retired``, ``time.in_future``.
    """
    role = trust_root.role_of(statement.media_type)
    if role is None:
        detail = f"the trust root has no role for {statement.media_type}"
        raise VerifyError(Reason(Code.SIGNATURE_WRONG_ROLE, "$.signatures", detail))
    doubts: list[Reason] = []
    signers: set[bytes] = set()
    for i, envelope in enumerate(statement.envelopes):
        path = f"$.signatures[{i}]"
        try:
            key = _key_of(envelope.kid, role, trust_root)
            doubts += _check_validity(key, statement.payload["issued_at"], moment, path)
            cose.verify_envelope(
                envelope, public_key=key.public_key, alg=key.alg, payload=statement.payload, digest=statement.digest
            )
        except VerifyError as error:
            raise VerifyError(error.reason.under(path)) from error
        signers.add(key.public_key)
    if len(signers) < role.threshold:
        detail = f"the role {role.name} needs {role.threshold} keys; {len(signers)} signed"
        raise VerifyError(Reason(Code.SIGNATURE_THRESHOLD, "$.signatures", detail))
    if statement.payload["issued_at"] > moment.now + LIMITS.clock_skew_seconds:
        detail = "the statement says it was issued in the future"
        hint = "compare this machine's clock, or --at, with the issuer's"
        raise VerifyError(Reason(Code.TIME_IN_FUTURE, "$.payload.issued_at", detail, hint=hint))
    return tuple(doubts)


def _role(name: str, role: JsonObject) -> Role:
    path = f"$.payload.roles.{name}.keys"
    keys: dict[str, Key] = {}
    last = ""
    for i, item in enumerate(role["keys"]):
        try:
            public_key = cose.base64url(item["public_key"])
            ed25519.check_public_key(public_key)
        except VerifyError as error:
            raise VerifyError(error.reason.under(f"{path}[{i}].public_key")) from error
        thumbprint = ed25519.thumbprint(public_key)
        if thumbprint == last:
            detail = "one public key stands twice in a role"
            raise VerifyError(Reason(Code.TRUST_ROOT_KEY_REPEATED, f"{path}[{i}]", detail))
        if thumbprint < last:
            detail = "keys ascend by thumbprint"
            raise VerifyError(Reason(Code.SCHEMA_NOT_ASCENDING, f"{path}[{i}]", detail))
        last = thumbprint
        times = (item["not_before"], item["not_after"], item["retired_at"], item["revoked_at"])
        keys[thumbprint] = Key(thumbprint, public_key, item["alg"], *times)
    if role["threshold"] > len(keys):
        detail = f"the threshold {role['threshold']} is above the number of keys, {len(keys)}"
        raise VerifyError(Reason(Code.TRUST_ROOT_THRESHOLD, f"$.payload.roles.{name}.threshold", detail))
    return Role(name, role["threshold"], tuple(role["media_types"]), keys)


def _key_of(kid: str, role: Role, trust_root: TrustRoot) -> Key:
    key = role.keys.get(kid)
    if key is not None:
        return key
    for other in trust_root.roles:
        if kid in other.keys:
            detail = f"the key {kid[:16]}… has the role {other.name}; this statement needs the role {role.name}"
            raise VerifyError(Reason(Code.SIGNATURE_WRONG_ROLE, "$", detail))
    detail = f"the trust root does not know the key {kid[:16]}…"
    hint = "is this the trust root of this issuer and corpus, in its newest version?"
    raise VerifyError(Reason(Code.SIGNATURE_KEY_UNKNOWN, "$", detail, hint=hint))


def _check_validity(key: Key, issued_at: int, moment: Moment, path: str) -> list[Reason]:
    name = f"the key {key.thumbprint[:16]}…"
    if key.revoked_at is not None:
        raise VerifyError(Reason(Code.KEY_REVOKED, "$", f"{name} is revoked"))
    if issued_at < key.not_before:
        raise VerifyError(Reason(Code.KEY_NOT_YET_VALID, "$", f"issued before {name} was valid"))
    if key.not_after is not None and issued_at > key.not_after:
        raise VerifyError(Reason(Code.KEY_EXPIRED, "$", f"issued after {name} had expired"))
    if key.retired_at is not None and issued_at >= key.retired_at:
        raise VerifyError(Reason(Code.KEY_RETIRED, "$", f"issued after {name} was retired"))
    ended = [end for end in (key.retired_at, key.not_after) if end is not None and end <= moment.now]
    if ended and not moment.trust_claimed_time:
        detail = f"{name} has been retired or expired since; the time of issue is only claimed"
        hint = "--trust-claimed-time believes the time that the statement claims"
        return [Reason(Code.KEY_RETIRED_NO_TIME, path, detail, hint=hint)]
    return []
