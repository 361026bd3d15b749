"""Parts common to all answers: the root of their JSON, shared headers, and the mapping of errors to HTTP statuses."""

import uuid
from collections.abc import Iterable

import azure.functions as func
import msgspec

from functions.http.identity import ForbiddenError, UnauthenticatedError
from functions.http.parameters import BadRequestError, BodyTooLargeError
from functions.http.rate_limit import TooManyRequestsError
from shared.domain.reports.reports import UnreadableRow
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
)

_SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class Answer(msgspec.Struct, rename="camel", kw_only=True):
    """Base class of JSON answers: fields become properties in camelCase."""


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


def unreadable_answers(rows: Iterable[UnreadableRow]) -> list[UnreadableAnswer] | None:
    """Returns one answer per unreadable row, or None where all rows can be read."""
    return [UnreadableAnswer(id=row.id, reason=row.why) for row in rows] or None


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
    if isinstance(error, HistoryRangeError):
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
