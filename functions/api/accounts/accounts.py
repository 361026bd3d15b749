"""GET accounts, GET accounts/{account}."""

from functions.api.accounts.account_models import AccountAnswer, account_answer
from functions.http.handling import Page, Query, RouteRequest, Routes
from functions.http.rendering import LOOKS


def add_accounts(routes: Routes) -> None:
    @routes.route("GET", "accounts", returns=Page[AccountAnswer], repeats=True, looks=LOOKS)
    async def list_accounts(call: RouteRequest[Query, None]) -> Page[AccountAnswer]:
        """Lists the watched accounts that the caller may read, with jobs and tasks by state and totals of pools."""
        services = await call.services()
        accounts = [account_answer(report) for report in await services.queries.accounts(call.readable)]
        return Page(value=accounts, count=len(accounts))

    @routes.route("GET", "accounts/{account}", returns=AccountAnswer, repeats=True, looks=LOOKS)
    async def get_account(call: RouteRequest[Query, None]) -> AccountAnswer:
        """Returns one watched account."""
        services = await call.services()
        return account_answer(await services.queries.account(call.path["account"]))
