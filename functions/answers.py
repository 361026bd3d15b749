"""What every answer is made of: the root of its JSON, the headers that all bear, and errors as statuses."""

import uuid
from collections.abc import Iterable

import azure.functions as func
import msgspec

from functions.identity import ForbiddenError, UnauthenticatedError
from functions.parameters import BadRequestError, BodyTooLargeError
from functions.rate_limit import TooManyRequestsError
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
    """The root of answers: fields are JSON properties in camelCase."""


class ErrorDetail(Answer):
    """What went wrong, in a word for programs and a sentence for people, and where."""

    code: str
    message: str
    target: str | None


class ErrorAnswer(Answer):
    """The body of every answer that isn't a success."""

    error: ErrorDetail


class UnreadableAnswer(Answer):
    """What should be among a list's entries, but whose stored row can't be read: why, in a sentence."""

    id: str
    reason: str


def unreadable_answers(rows: Iterable[UnreadableRow]) -> list[UnreadableAnswer] | None:
    """None where all rows of a list can be read."""
    return [UnreadableAnswer(id=row.id, reason=row.why) for row in rows] or None


def security_headers(request: func.HttpRequest) -> dict[str, str]:
    """What every answer bears, whatever it is; over https also that the host is to be asked over https only."""
    return {**_SECURITY_HEADERS, **(_HTTPS_ONLY if request.url.lower().startswith("https:") else {})}


def error_response(request: func.HttpRequest, error: BatchscopeError) -> func.HttpResponse:
    """The answer that an expected error becomes."""
    status, code, target = status_of(error)
    response = failure(request, status, ErrorDetail(code=code, message=str(error), target=target))
    if isinstance(error, BatchThrottledError | StorageUnavailableError):
        response.headers["Retry-After"] = str(int(error.retry_after.total_seconds()) or 1)
    if isinstance(error, TooManyRequestsError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def status_of(error: BatchscopeError) -> tuple[int, str, str | None]:
    """The HTTP status, error code and target that an error becomes."""
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
    """An answer that isn't a success, which nobody keeps."""
    headers = {
        **security_headers(request),
        "Cache-Control": "no-store",
        "x-ms-error-code": detail.code,
        "x-ms-request-id": str(uuid.uuid4()),
    }
    body = msgspec.json.encode(ErrorAnswer(error=detail))
    return func.HttpResponse(body, status_code=status, headers=headers, mimetype="application/json")
