"""Who is let in by which principal, and how often; what each function asks of its callers is in test_access.py."""

import base64
import json
from typing import Any

import azure.functions as func
import pytest

from functions.identity import ForbiddenError, Role, UnauthenticatedError, may, require
from functions.rate_limit import RateLimit, TooManyRequestsError
from shared.settings import read_settings

STORAGE = {"BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com", "AzureWebJobsStorage__accountName": "store"}
LOCAL = STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Development"}
AZURE = STORAGE | {"WEBSITE_SITE_NAME": "batchscope"}
GUARDED = AZURE | {"WEBSITE_AUTH_ENABLED": "True"}
FORGED = "x" * 20
CLAIM = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"


def principal(*roles: str, kind: str = "roles", role_type: str | None = None) -> str:
    claims = [{"typ": "name", "val": "Operator"}, *({"typ": kind, "val": role} for role in roles)]
    value: dict[str, Any] = {"auth_typ": "aad", "claims": claims}
    return base64.b64encode(json.dumps(value | ({"role_typ": role_type} if role_type else {})).encode()).decode()


def outcome(environment: dict[str, str], header: str | None = None, role: Role = "Reader") -> int:
    """The status that a caller with that principal gets, 200 where they pass."""
    settings = read_settings(environment)
    headers = {"x-ms-client-principal": header} if header else {}
    request = func.HttpRequest(method="GET", url="https://batchscope.example/api/route", headers=headers, body=b"")
    try:
        require(settings, request, role)
    except (UnauthenticatedError, ForbiddenError) as error:
        assert not may(settings, request, role)
        return 401 if isinstance(error, UnauthenticatedError) else 403
    assert may(settings, request, role)
    return 200


def test_on_a_persons_own_machine_everybody_may_everything() -> None:
    assert outcome(LOCAL) == outcome(LOCAL, role="Operator") == 200


def test_wherever_else_nobody_may_anything_without_easy_auth_whatever_header_is_sent() -> None:
    for environment in (STORAGE, STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Production"}, AZURE):
        assert outcome(environment) == outcome(environment, principal("Operator")) == 401
        assert outcome(environment, principal("Operator"), "Operator") == 401


def test_behind_easy_auth_callers_need_an_identity_with_a_role() -> None:
    assert outcome(GUARDED) == 401
    assert outcome(GUARDED, principal()) == 403
    assert outcome(GUARDED, principal("Reader")) == 200
    assert outcome(GUARDED, principal("reader")) == 403


def test_readers_are_no_operators_and_operators_may_all_that_readers_may() -> None:
    assert outcome(GUARDED, principal("Reader"), "Operator") == 403
    assert outcome(GUARDED, principal("Operator"), "Operator") == 200
    assert outcome(GUARDED, principal("Operator")) == 200


def test_roles_are_found_under_the_claim_type_that_the_principal_names() -> None:
    assert outcome(GUARDED, principal("Reader", kind=CLAIM, role_type=CLAIM)) == 200
    assert outcome(GUARDED, principal("Reader", kind=CLAIM)) == 403


@pytest.mark.parametrize(
    "header", [FORGED, "bm8ganNvbg==", base64.b64encode(b"[]").decode(), base64.b64encode(b"{}").decode(), "é"]
)
def test_a_principal_that_makes_no_sense_is_nobody(header: str) -> None:
    assert outcome(GUARDED, header) == 401


def test_a_limit_lets_so_many_pass_a_minute() -> None:
    limit = RateLimit(3)
    for second in (0, 10, 20):
        limit.take(second)
    with pytest.raises(TooManyRequestsError) as caught:
        limit.take(30)
    assert caught.value.retry_after == 31
    limit.take(61)
    with pytest.raises(TooManyRequestsError):
        limit.take(62)
