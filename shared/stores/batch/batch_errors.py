"""Translation of the Batch SDK's exceptions into those of the app."""

import re
import zlib
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import orjson
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    IncompleteReadError,
    ServiceRequestError,
    ServiceResponseError,
)

from shared.domain.accounts.accounts import Account
from shared.domain.polling.rounds import MAX_WAIT
from shared.domain.redaction.redaction import redacted
from shared.errors import (
    BatchAnswerError,
    BatchError,
    BatchMissingError,
    BatchRefusedError,
    BatchThrottledError,
    BatchUnreachableError,
)
from shared.stores.batch.batch_rows import NONSENSE

_DEFAULT_WAIT = timedelta(seconds=30)
_THROTTLED, _UNAVAILABLE, _MISSING, _CONFLICT = 429, 503, 404, 409
_REFUSED = (401, 403)
_NOT_AUTHENTICATED = "AuthenticationFailed"
_NONSENSE = (ValueError, TypeError, KeyError, AttributeError, zlib.error)  # errors from parsing invalid bodies


@asynccontextmanager
async def translated(account: Account, intent: str, *, missing: Collection[str] = ()) -> AsyncIterator[None]:
    """Raises a BatchError for an exception of the SDK; `intent` names the operation, like "list jobs".

    `missing` are the service's error codes for a missing resource: with one of them a 404, or a 409 as for files on a
    node that is gone, raises BatchMissingError. Any other 404 may be a proxy's and raises BatchAnswerError.
    """
    try:
        yield
    except HttpResponseError as error:
        raise await _of_response(account, intent, error, missing) from error
    except (ServiceRequestError, ServiceResponseError) as error:
        raise BatchUnreachableError(account.endpoint, _first_line(error)) from error
    except (TimeoutError, ConnectionError) as error:
        raise BatchUnreachableError(account.endpoint, _first_line(error) or "it doesn't answer") from error
    except (AzureError, *_NONSENSE) as error:
        raise BatchAnswerError(
            f"{account.endpoint} sent an answer that makes no sense to the request to {intent}: {_first_line(error)}"
        ) from error


def parsed[T](account: Account, body: bytes, parse: Callable[[bytes], T], intent: str, *, explains: bool = True) -> T:
    """Returns a parsed body. Raises BatchAnswerError, which names only the error's kind unless it `explains`."""
    try:
        return parse(body)
    except NONSENSE as error:
        why = repr(error) if explains else type(error).__name__
        raise BatchAnswerError(
            f"{account.endpoint} sent an answer that makes no sense to the request to {intent}: {why}"
        ) from error


async def _of_response(account: Account, intent: str, error: HttpResponseError, missing: Collection[str]) -> BatchError:
    status = error.status_code
    if status is None or isinstance(error, IncompleteReadError):
        return _unanswered(account, intent, error)
    response: Any = error.response
    code, message = await _body(response)
    if status in (_THROTTLED, _UNAVAILABLE):
        return BatchThrottledError(account.endpoint, _wait(response.headers.get("Retry-After")), status=status)
    if status in _REFUSED:
        return BatchRefusedError(_refusal(account, status, code, message))
    sentence = f"{account.endpoint} answered {status} {code or 'without an error code'} to the request to {intent}."
    if status in (_MISSING, _CONFLICT) and code in missing:
        return BatchMissingError(f"{sentence} {message}".strip(), code=code)
    if status == _MISSING and missing:
        sentence += f" Only {' or '.join(missing)} means that it is gone; see what answers in the service's place."
    return BatchAnswerError(f"{sentence} {message}".strip())


def _unanswered(account: Account, intent: str, error: HttpResponseError) -> BatchError:
    if isinstance(error, IncompleteReadError):
        return BatchAnswerError(f"{account.endpoint} cut its answer to the request to {intent} short.")
    if isinstance(error, ClientAuthenticationError):
        return BatchRefusedError(
            f"No token could be had for {account.endpoint}: give the app a managed identity,"
            f" or sign in with `az login` on a laptop. {_first_line(error)}"
        )
    return BatchUnreachableError(account.endpoint, _first_line(error))


def _refusal(account: Account, status: int, code: str, message: str) -> str:
    if account.is_local and code == _NOT_AUTHENTICATED:
        return (
            f"{account.endpoint} answered {status} {code}: the key of '{account.name}' in BATCH_ACCOUNT_KEYS is wrong."
            f" {message}"
        )
    return (
        f"{account.endpoint} answered {status} {code}: the app's identity lacks a role on the Batch account"
        f" '{account.name}'; assign it 'Azure Batch Account Reader'. {message}"
    )


async def _body(response: Any) -> tuple[str, str]:
    """Returns code and message of the service's error body, empty without a valid one."""
    try:
        body = orjson.loads(await response.read())
        text = str(body["message"]["value"])
        return str(body["code"]), redacted(text.splitlines()[0]) if text else ""
    except (AzureError, ValueError, KeyError, TypeError):
        return "", ""


def _wait(retry_after: str | None) -> timedelta:
    """Returns Retry-After in seconds; anything else, such as a date, counts as the default."""
    if retry_after and re.fullmatch(r"\d{1,6}", retry_after):
        return min(timedelta(seconds=int(retry_after)), MAX_WAIT)
    return _DEFAULT_WAIT


def _first_line(error: Exception) -> str:
    line = (str(error).strip().splitlines() or [""])[0]
    return redacted(line.replace(" ssl:default", ""))  # aiohttp adds that for http, too
