"""Tries a request again while its failure is one that passes.

Those are: no connection, throttling, a busy service, a job that is still being deleted. Anything else is raised.
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
    """The call's result, after as many attempts as it takes; `what` completes "couldn't" in the log."""
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
    """True for a failure that is worth another attempt."""
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return error.status_code in _PASSING or code_of(error) in _SETTLING
    return isinstance(error, ServiceRequestError | ServiceResponseError | IncompleteReadError)


def code_of(error: HttpResponseError) -> str:
    """The service's error code; "" where there is none."""
    found = error.error or error.model
    return str(getattr(found, "code", None) or "")


def cause_of(error: AzureError) -> str:
    """A failure in one line."""
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return f"{error.status_code} {code_of(error)}".strip()
    return str(error).splitlines()[0] if str(error) else type(error).__name__
