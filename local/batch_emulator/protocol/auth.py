"""Full authentication: shared key by the documented algorithm, bearer tokens by equality or by signature.

Source: the page "Authenticate via Shared Key" of the Batch reference. Where it is unclear, clients differ and the
service accepts all readings: query names as sent or in lower case, an empty body's length as nothing or as 0.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from local.batch_emulator.core.errors import BatchError, invalid_header
from local.batch_emulator.core.stamps import SECOND, parse_http_date
from local.batch_emulator.protocol.tokens import TokenError, TokenKey

DEVELOPMENT_KEY = base64.b64encode((b"batchscope-emulator-key" * 3)[:64]).decode()
DEVELOPMENT_TOKEN = "batchscope-development-token"  # noqa: S105 - opens nothing but an emulator
_MAX_SKEW = 15 * 60 * SECOND
_SIGNED_HEADERS = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """The signed parts of a request: the path as on the wire, query pairs decoded, headers by lower-case name."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Keys by account name, the development token, and the optional key of other tokens.

    A token opens the account named by the Host header's first label.
    """

    keys: Mapping[str, str]
    token: str
    token_key: TokenKey | None = None

    def account_of(self, request: SignedRequest, now: int) -> str:
        """Returns the account of a request. Raises BatchError (401, 403); `now` is real time in ticks."""
        scheme, _, credential = request.headers.get("authorization", "").partition(" ")
        if scheme == "SharedKey":
            return self._by_key(request, credential, now)
        if scheme == "Bearer":
            return self._by_token(request, credential.strip())
        raise _unauthorized("No SharedKey or Bearer authorization was sent.")

    def _by_key(self, request: SignedRequest, credential: str, now: int) -> str:
        account, _, signature = credential.partition(":")
        key = self.keys.get(account.lower())
        if key is None:
            raise _forbidden(f"There is no account '{account}'.")
        _check_date(request.headers, now)
        strings_to_sign = list(_strings_to_sign(request, account))
        if not any(hmac.compare_digest(sign(key, text).encode(), signature.encode()) for text in strings_to_sign):
            raise _forbidden(
                f"The signature '{signature}' is not the one computed of the string to sign {strings_to_sign[0]!r} "
                f"with the key of '{account}'."
            )
        return account.lower()

    def _by_token(self, request: SignedRequest, token: str) -> str:
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            if self.token_key is None:
                raise _unauthorized("The bearer token is not one that this service accepts.")
            try:
                self.token_key.check(token)
            except TokenError as error:
                raise _unauthorized(str(error)) from None
        label = request.headers.get("host", "").partition(":")[0].partition(".")[0].lower()
        return label if label in self.keys else next(iter(self.keys))


def sign(key: str, text: str) -> str:
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def is_key(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except binascii.Error:
        return False


def _strings_to_sign(request: SignedRequest, account: str) -> Iterator[str]:
    length = request.headers.get("content-length", "")
    lengths = (length,) if length not in ("", "0") else ("", "0")
    for lower_case, size in product((True, False), lengths):
        yield _string_to_sign(request, account, lower_case=lower_case, length=size)


def _string_to_sign(request: SignedRequest, account: str, *, lower_case: bool, length: str) -> str:
    headers = {**request.headers, "content-length": length}
    lines = [request.method, *(headers.get(name, "") for name in _SIGNED_HEADERS)]
    lines += [f"{name}:{value}" for name, value in sorted(headers.items()) if name.startswith("ocp-") and value]
    lines.append(f"/{account}{request.path}")
    pairs = sorted((name.lower() if lower_case else name, value) for name, value in request.query if value)
    return "\n".join(lines + [f"{name}:{value}" for name, value in pairs])


def _check_date(headers: Mapping[str, str], now: int) -> None:
    name = "ocp-date" if headers.get("ocp-date") else "date"
    text = headers.get(name, "")
    try:
        sent = parse_http_date(text)
    except ValueError:
        raise (invalid_header(name, text) if text else _forbidden("Neither ocp-date nor Date was sent.")) from None
    if abs(now - sent) > _MAX_SKEW:
        raise _forbidden(f"The request's time, {text}, is more than 15 minutes off.")


def _forbidden(reason: str) -> BatchError:
    return BatchError(
        403,
        "AuthenticationFailed",
        "The request could not be authenticated. Check that the Authorization header and its signature are right.",
        {"AuthenticationErrorDetail": reason},
    )


def _unauthorized(reason: str) -> BatchError:
    return BatchError(
        401,
        "AuthenticationFailed",
        "The request could not be authenticated.",
        {"AuthenticationErrorDetail": reason},
        {"WWW-Authenticate": 'Bearer resource="https://batch.core.windows.net/"'},
    )
