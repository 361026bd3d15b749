"""Who may call what, how often, and how much may be sent; the app in Azure, behind Easy Auth and not."""

import asyncio
import base64
import json
from typing import Any

import azure.functions as func
import pytest

from functions.http import Call, Query, Route, respond
from functions.rate_limit import RateLimit, TooManyRequestsError
from shared.runtime import Runtime
from shared.settings import read_settings

STORAGE = {"BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com", "AzureWebJobsStorage__accountName": "store"}
LOCAL = STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Development"}
AZURE = STORAGE | {"WEBSITE_SITE_NAME": "batchscope"}
GUARDED = AZURE | {"WEBSITE_AUTH_ENABLED": "True"}
FORGED = "x" * 20


def principal(*roles: str, kind: str = "roles", role_type: str | None = None) -> str:
    claims = [{"typ": "name", "val": "Operator"}, *({"typ": kind, "val": role} for role in roles)]
    value: dict[str, Any] = {"auth_typ": "aad", "claims": claims}
    return base64.b64encode(json.dumps(value | ({"role_typ": role_type} if role_type else {})).encode()).decode()


def status(environment: dict[str, str], *, method: str = "GET", header: str | None = None, open_: bool = False) -> int:
    """What a call of a route of its own ends in."""

    async def handler(_call: Call[Query, None]) -> dict[str, bool]:
        return {"reached": True}

    role: Any = None if open_ else "Reader" if method == "GET" else "Operator"
    route = Route("route", method, "route", "", Query, None, dict, (200,), (), role, "application/json", None)
    headers = {"x-ms-client-principal": header} if header else {}
    request = func.HttpRequest(method=method, url="https://batchscope.example/api/route", headers=headers, body=b"")
    runtime = Runtime(read_settings(environment))
    response = asyncio.run(respond(runtime, route, handler, request, limit=RateLimit(9)))
    return int(response.status_code)


def test_on_a_persons_own_machine_the_api_is_open() -> None:
    assert status(LOCAL) == status(LOCAL, method="POST") == 200


def test_wherever_else_the_api_is_closed_even_to_a_forged_principal() -> None:
    for environment in (STORAGE, STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Production"}):
        assert status(environment) == status(environment, method="POST") == 401
        assert status(environment, header=principal("Operator")) == 401


def test_in_azure_the_api_is_closed_until_easy_auth_is_on_whatever_header_is_sent() -> None:
    assert status(AZURE) == status(AZURE, header=principal("Operator")) == 401


def test_behind_easy_auth_callers_need_an_identity_with_a_role() -> None:
    assert status(GUARDED) == 401
    assert status(GUARDED, header=principal()) == 403
    assert status(GUARDED, header=principal("Reader")) == 200
    assert status(GUARDED, header=principal("reader")) == 403


def test_readers_change_nothing_and_operators_may_all() -> None:
    assert status(GUARDED, method="POST", header=principal("Reader")) == 403
    assert status(GUARDED, method="POST", header=principal("Operator")) == 200
    assert status(GUARDED, method="GET", header=principal("Operator")) == 200


def test_roles_are_found_under_the_claim_type_that_the_principal_names() -> None:
    kind = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"
    assert status(GUARDED, header=principal("Reader", kind=kind, role_type=kind)) == 200
    assert status(GUARDED, header=principal("Reader", kind=kind)) == 403


@pytest.mark.parametrize(
    "header", [FORGED, "bm8ganNvbg==", base64.b64encode(b"[]").decode(), base64.b64encode(b"{}").decode(), "é"]
)
def test_a_principal_that_makes_no_sense_is_nobody(header: str) -> None:
    assert status(GUARDED, header=header) == 401


def test_open_routes_need_nobody() -> None:
    assert status(GUARDED, open_=True) == status(AZURE, open_=True) == 200


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
