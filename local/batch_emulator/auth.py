"""Authentication, really verified: shared key by the documented algorithm, and a bearer token for development.

Source: "Authenticate via Shared Key" of the Batch REST reference. Query values are signed decoded, names in lower case;
the path is signed as it stands on the wire. Clients differ where the text is unclear, and the service takes them all:
names as they were sent, and an empty body's length as nothing or as 0, whatever the header then says.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from local.batch_emulator.faults import BatchFaultError
from local.batch_emulator.stamps import SECOND, parse_http_date

DEVELOPMENT_KEY = base64.b64encode((b"batchscope-emulator-key" * 3)[:64]).decode()
DEVELOPMENT_TOKEN = "batchscope-development-token"  # noqa: S105 - it opens an emulator on loopback only
_LARGEST_SKEW = 15 * 60 * SECOND
_SIGNED_HEADERS = (
    "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date",
    "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signed:
    """What of a request is signed. `path` as on the wire; headers in lower case; query pairs decoded."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]


def authenticate(request: Signed, *, keys: Mapping[str, str], token: str, default: str, now: int) -> str:
    """The account that the request is for. Raises BatchFaultError 401 or 403."""
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "sharedkey":
        return _shared_key(request, credential, keys, now)
    if scheme.lower() == "bearer":
        if not hmac.compare_digest(credential.strip().encode(), token.encode()):
            raise _refused(401, "The token isn't the one this emulator was started with.")
        host = request.headers.get("host", "").partition(".")[0].lower()
        return host if host in keys else default
    raise _refused(401, "The Authorization header is missing, or its scheme is neither SharedKey nor Bearer.")


def _shared_key(request: Signed, credential: str, keys: Mapping[str, str], now: int) -> str:
    account, _, signature = credential.strip().partition(":")
    key = keys.get(account.lower())
    if key is None:
        raise _refused(403, f"There is no account '{account}' here.")
    _check_date(request, now)
    length = request.headers.get("content-length", "")
    for lowered, signed_length in product((True, False), ("", "0") if length in ("", "0") else (length,)):
        expected = _sign(key, _text(request, account, lowered=lowered, length=signed_length))
        if hmac.compare_digest(expected.encode(), signature.encode()):
            return account.lower()
    raise _refused(403, f"The signature of account '{account}' doesn't match; the key is wrong.")


def _check_date(request: Signed, now: int) -> None:
    text = request.headers.get("ocp-date") or request.headers.get("date") or ""
    try:
        skew = abs(parse_http_date(text) - now)
    except (ValueError, TypeError):
        raise _refused(403, f"The date of the request, '{text}', can't be read.") from None
    if skew > _LARGEST_SKEW:
        raise _refused(403, "The date of the request is more than 15 minutes off.")


def _text(request: Signed, account: str, *, lowered: bool, length: str) -> str:
    headers = {**request.headers, "content-length": length}
    lines = [request.method, *(headers.get(name, "") for name in _SIGNED_HEADERS)]
    lines += [f"{name}:{headers[name]}" for name in sorted(headers) if name.startswith("ocp-")]
    pairs = [(name.lower() if lowered else name, value) for name, value in request.query]
    resource = f"/{account}{request.path}" + "".join(f"\n{name}:{value}" for name, value in sorted(pairs))
    return "\n".join([*lines, resource])


def _sign(key: str, text: str) -> str:
    try:
        secret = base64.b64decode(key)
    except binascii.Error:
        return ""
    return base64.b64encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).decode()


def _refused(status: int, detail: str) -> BatchFaultError:
    message = (
        "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly."
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}  # noqa: PLR2004 - HTTP's own number
    return BatchFaultError(status, "AuthenticationFailed", message, {"AuthenticationErrorDetail": detail}, headers)
