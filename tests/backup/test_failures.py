"""What a failed backup says: why, and what helps."""

from typing import Any

import pytest
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
)

from local.backup.__main__ import reason_of


def answered(kind: type[HttpResponseError], status: int) -> HttpResponseError:
    error: Any = kind("This request is not authorized.\nRequestId:1")
    error.status_code = status
    return error  # type: ignore[no-any-return]  # the SDK's constructor takes a response only


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ClientAuthenticationError("Many\nlines"), "run `az login`"),
        (answered(HttpResponseError, 403), "Storage refused: This request is not authorized. The roles"),
        (answered(ClientAuthenticationError, 401), "Storage refused: This request is not authorized. The roles"),
        (answered(HttpResponseError, 500), "Storage didn't do what was asked: This request is not authorized."),
        (ServiceRequestError(""), "Storage didn't do what was asked: ServiceRequestError"),
    ],
)
def test_a_failure_says_why_and_what_helps(error: AzureError, said: str) -> None:
    assert said in reason_of(error)
    assert "\n" not in reason_of(error)
