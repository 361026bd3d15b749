"""The roles that a route requires by its method and path, tested on routes that the app doesn't have."""

import json

import azure.functions as func
import pytest

from functions.http.handling import Query, RouteRequest, Routes, respond
from functions.http.rate_limit import RateLimit
from functions.http.recent_answers import RecentAnswers
from functions.http.rendering import EncodedResponse
from shared.runtime import Runtime
from shared.settings import Settings, read_settings
from tests.functions.access.two_accounts import OPERATORS_OF_ALPHA, OPERATORS_OF_BRAVO, principal

pytestmark = pytest.mark.asyncio(loop_scope="function")
HOSTED = {
    "BATCH_ACCOUNTS": " ".join(f"https://{name}.westeurope.batch.azure.com" for name in ("alpha", "bravo")),
    "AzureWebJobsStorage__accountName": "store",
    "WEBSITE_SITE_NAME": "batchscope",
    "WEBSITE_AUTH_ENABLED": "True",
}
RESTRICTED = HOSTED | {
    "ACCOUNT_ROLES": f"alpha=Operator:{OPERATORS_OF_ALPHA} bravo=Operator:{OPERATORS_OF_BRAVO} bravo=Reader:Reader"
}
READER, OPERATOR = ("roles", "Reader"), ("roles", "Operator")
OF_ALPHA, OF_BRAVO = ("groups", OPERATORS_OF_ALPHA), ("groups", OPERATORS_OF_BRAVO)


async def written(environment: dict[str, str], *claims: tuple[str, str]) -> tuple[int, str]:
    """Returns the status and the error code that a caller with these claims gets from PUT rules."""
    settings = read_settings(environment)
    routes = routes_of(settings, "PUT")
    route, handler = routes.handlers["write_rules"]
    request = func.HttpRequest(
        method="PUT", url="https://batchscope.example/api/rules", headers=principal(*claims), body=b""
    )
    response = await respond(
        Runtime(settings), route, handler, request, limit=RateLimit(9), recent=RecentAnswers[EncodedResponse]()
    )
    found = json.loads(response.get_body())
    return response.status_code, found["error"]["code"] if "error" in found else ""


def routes_of(settings: Settings, method: str, *, anonymous: bool = False) -> Routes:
    routes = Routes(settings)

    @routes.route(method, "rules", returns=dict, anonymous=anonymous)
    async def write_rules(_call: RouteRequest[Query, None]) -> dict[str, str]:
        """Changes the rules of all accounts."""
        return {}

    return routes


@pytest.mark.parametrize("claims", [[READER], [OF_ALPHA], [OF_BRAVO], [OF_ALPHA, READER], [OPERATOR, OF_ALPHA]])
async def test_routes_of_all_accounts_refuse_writes_by_readers_and_operators_of_some(
    claims: list[tuple[str, str]],
) -> None:
    assert await written(RESTRICTED, *claims) == (403, "Forbidden")


async def test_routes_of_all_accounts_accept_writes_by_operators_of_each() -> None:
    assert await written(RESTRICTED, OF_ALPHA, OF_BRAVO) == (200, "")
    assert await written(HOSTED, OPERATOR) == (200, "")
    assert await written(HOSTED, READER) == (403, "Forbidden")


async def test_nothing_is_changed_for_all_accounts_while_the_settings_are_wrong() -> None:
    wrong = RESTRICTED | {"POLL_SECONDS": "soon"}
    assert (await written(wrong, OF_ALPHA, OF_BRAVO))[0] == (await written(wrong, OPERATOR))[0] == 503


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
async def test_a_route_that_writes_cannot_be_open_to_anybody(method: str) -> None:
    settings = read_settings(HOSTED)
    assert routes_of(settings, "GET", anonymous=True).handlers["write_rules"][0].role is None
    with pytest.raises(ValueError, match=rf"{method} rules can't be anonymous"):
        routes_of(settings, method, anonymous=True)
