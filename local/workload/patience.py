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
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 5.0
_PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_SETTLING = {"JobBeingDeleted", "PoolBeingDeleted", "OperationInvalidForCurrentState"}


async def insist[T](what: str, call: Callable[[], Awaitable[T]]) -> T:
    """Returns the call's result after any number of attempts; `what` completes "couldn't" in the log."""
    wait = _FIRST_WAIT
    while True:
        try:
            return await call()
        except AzureError as error:
            if not passes(error):
                raise
            LOG.warning("Couldn't %s (%s); trying again.", what, cause_of(error))
        await asyncio.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


def passes(error: AzureError) -> bool:
    """Returns True for a transient failure."""
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return error.status_code in _PASSING or code_of(error) in _SETTLING
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
