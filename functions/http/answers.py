"""Parts common to all answers: the root of their JSON, shared headers, and the mapping of errors to HTTP statuses."""

import uuid
from datetime import UTC, datetime
from functools import cache
from typing import Any, Self, get_args

import azure.functions as func
import msgspec

from functions.http.identity import ForbiddenError, UnauthenticatedError
from functions.http.parameters import BadRequestError, BodyTooLargeError
from functions.http.rate_limit import TooManyRequestsError
from shared.domain.core.stamps import from_milliseconds
from shared.errors import (
    BatchError,
    BatchscopeError,
    BatchThrottledError,
    CacheConflictError,
    HistoryRangeError,
    MonitoringOffError,
    NotFoundError,
    SettingsError,
    StorageUnavailableError,
    TooManyBudgetsError,
    WhatIfError,
)

_SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class Answer(msgspec.Struct, rename="camel", kw_only=True):
    """Base class of JSON answers: fields become properties in camelCase."""

    @classmethod
    def of(cls, source: object, /, **given: Any) -> Self:
        """Returns an answer with the given fields; the others are the source's attributes of the same names.

        Times are converted to UTC. Raises AttributeError where neither has a field, TypeError for another given name.
        """
        copied, times = _fields(cls, tuple(given))
        values = given | {name: getattr(source, name) for name in copied}
        for name in times:
            values[name] = utc(values[name])
        return cls(**values)


@cache
def _fields(kind: type[Answer], given: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the names of the fields that aren't given, and of all that are times. Raises TypeError."""
    if unknown := set(given).difference(kind.__struct_fields__):
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    fields = msgspec.structs.fields(kind)
    times = tuple(field.name for field in fields if datetime in (field.type, *get_args(field.type)))
    return tuple(field.name for field in fields if field.name not in given), times


class ErrorDetail(Answer):
    """An error: a code for programs, a sentence for people, and the parameter, field or resource concerned."""

    code: str
    message: str
    target: str | None


class ErrorAnswer(Answer):
    """The body of every answer that isn't a success."""

    error: ErrorDetail


class UnreadableAnswer(Answer):
    """An entry missing from a list because its stored row can't be read, with the reason as a sentence."""

    id: str
    reason: str


def utc(moment: datetime | None) -> datetime | None:
    """Returns a time in UTC, in which answers state all times."""
    return None if moment is None else moment.astimezone(UTC)


def stamp(milliseconds: int) -> datetime | None:
    """Returns the time for milliseconds since 1970, None for 0."""
    return from_milliseconds(milliseconds) if milliseconds else None


def security_headers(request: func.HttpRequest) -> dict[str, str]:
    """Returns the headers of every answer; over https they include `Strict-Transport-Security`."""
    return {**_SECURITY_HEADERS, **(_HTTPS_ONLY if request.url.lower().startswith("https:") else {})}


def error_response(request: func.HttpRequest, error: BatchscopeError) -> func.HttpResponse:
    """Returns the response for an expected error, with `Retry-After` where the error has one."""
    status, code, target = status_of(error)
    response = failure(request, status, ErrorDetail(code=code, message=str(error), target=target))
    if isinstance(error, BatchThrottledError | StorageUnavailableError):
        response.headers["Retry-After"] = str(int(error.retry_after.total_seconds()) or 1)
    if isinstance(error, TooManyRequestsError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def status_of(error: BatchscopeError) -> tuple[int, str, str | None]:
    """Returns the HTTP status, error code and target of an error."""
    if isinstance(error, BadRequestError):
        return (413 if isinstance(error, BodyTooLargeError) else 400), error.code, error.target
    if isinstance(error, HistoryRangeError | WhatIfError):
        return 400, "InvalidParameter", error.target
    if isinstance(error, NotFoundError):
        return 404, f"{error.kind[:1].upper()}{error.kind[1:]}NotFound", error.kind
    status, code = next((found for kind, found in _STATUSES if isinstance(error, kind)), (502, "StorageFailed"))
    return status, code, None


_STATUSES: tuple[tuple[type[BatchscopeError], tuple[int, str]], ...] = (
    (UnauthenticatedError, (401, "Unauthenticated")),
    (ForbiddenError, (403, "Forbidden")),
    (TooManyRequestsError, (429, "TooManyRequests")),
    (SettingsError, (503, "NotConfigured")),
    (BatchThrottledError, (503, "BatchThrottled")),
    (BatchError, (502, "BatchFailed")),
    (MonitoringOffError, (409, "MonitoringOff")),
    (TooManyBudgetsError, (409, "TooManyBudgets")),
    (CacheConflictError, (503, "Busy")),
    (StorageUnavailableError, (503, "StorageUnavailable")),
)


def failure(request: func.HttpRequest, status: int, detail: ErrorDetail) -> func.HttpResponse:
    """Returns an error response that clients and proxies must not cache."""
    headers = {
        **security_headers(request),
        "Cache-Control": "no-store",
        "x-ms-error-code": detail.code,
        "x-ms-request-id": str(uuid.uuid4()),
    }
    body = msgspec.json.encode(ErrorAnswer(error=detail))
    return func.HttpResponse(body, status_code=status, headers=headers, mimetype="application/json")
