"""Retries a request while its failure is transient.

Transient failures are: no connection, throttling, a busy service, a job that is still being deleted. All others are
raised.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from azure.core.exceptions import (
    AzureError,
    HttpResponseError,
    IncompleteReadError,
    ServiceRequestError,
    ServiceResponseError,
)

LOG = logging.getLogger("workload")
_INITIAL_WAIT, _MAX_WAIT = 0.5, 5.0
_TRANSIENT_STATUSES = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_TRANSIENT_CODES = {"JobBeingDeleted", "PoolBeingDeleted", "OperationInvalidForCurrentState"}


async def retry[T](action: str, call: Callable[[], Awaitable[T]]) -> T:
    """Returns the call's result after any number of attempts; `action` completes "couldn't" in the log."""
    wait = _INITIAL_WAIT
    while True:
        try:
            return await call()
        except AzureError as error:
            if not is_transient(error):
                raise
            LOG.warning("Couldn't %s (%s); trying again.", action, cause_of(error))
        await asyncio.sleep(wait)
        wait = min(2 * wait, _MAX_WAIT)


def is_transient(error: AzureError) -> bool:
    """Returns True for a transient failure."""
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return error.status_code in _TRANSIENT_STATUSES or code_of(error) in _TRANSIENT_CODES
    return isinstance(error, ServiceRequestError | ServiceResponseError | IncompleteReadError)


def code_of(error: HttpResponseError) -> str:
    """Returns the service's error code, or ""."""
    found = error.error or error.model
    return str(getattr(found, "code", None) or "")


def cause_of(error: AzureError) -> str:
    """Returns a failure in one line."""
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return f"{error.status_code} {code_of(error)}".strip()
    return str(error).splitlines()[0] if str(error) else type(error).__name__
