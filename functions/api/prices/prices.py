"""GET accounts/{account}/prices: what an hour of the account's nodes costs, or why no price is known."""

from datetime import datetime
from decimal import Decimal

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.prices.price_keys import (
    NO_PRICE,
    LicenseKind,
    NoPriceReason,
    OperatingSystem,
    Price,
    PriceOrigin,
    Priority,
)
from shared.services.prices.price_queries import NodePriceReport


class PriceQuery(Query):
    """The format of the list."""

    format: Format = "json"


class PriceAnswer(Answer):
    """What an hour of nodes of a VM size costs, from `validFrom` to before `validTo`; it is of `pools` pools.

    `hourly` is null where no price is known, for the `reason` that `detail` has as a sentence. `source` is `retail`
    for list prices, `file` for prices and discounts of your own. `asOf` is when the retail prices of the size were read
    last. `meterId` is that of the retail meter. `additionalHourly` is the part of `hourly` for disks and addresses
    from your own entries.
    """

    vm_size: str
    region: str | None
    os: OperatingSystem | None
    license: LicenseKind | None
    priority: Priority
    pools: int
    hourly: Decimal | None
    additional_hourly: Decimal | None
    currency: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    source: PriceOrigin | None
    meter_id: str | None
    as_of: datetime | None
    reason: NoPriceReason | None
    detail: str | None


class PricesPage[T](Page[T], kw_only=True):
    """Prices in one `currency`; retail prices can't be read since `failedSince`, null where they can."""

    currency: str
    as_of: datetime | None
    failed_since: datetime | None
    problem: str | None


def add_prices(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/prices", query=PriceQuery, returns=PricesPage[PriceAnswer])
    async def list_prices(
        call: RouteRequest[PriceQuery, None],
    ) -> PricesPage[PriceAnswer] | RouteResponse:
        """Lists what an hour of the nodes of an account's pools costs, by VM size, region, OS, licence and priority."""
        services = await call.services()
        found = await services.prices.prices(call.path["account"])
        prices = [price_answer(one) for one in found.prices]
        if call.query.format == "csv":
            return csv_reply(Page(value=prices, count=len(prices)), PriceAnswer)
        return PricesPage(
            value=prices,
            count=len(prices),
            currency=found.currency,
            as_of=utc(found.status.as_of),
            failed_since=utc(found.status.failed_since),
            problem=found.status.problem or None,
        )


def price_answer(report: NodePriceReport) -> PriceAnswer:
    key, price = report.key, report.price if isinstance(report.price, Price) else None
    reason = None if isinstance(report.price, Price) else report.price
    return PriceAnswer(
        vm_size=key.vm_size,
        region=key.region,
        os=key.os,
        license=key.license,
        priority=key.priority,
        pools=report.pools,
        hourly=price and price.hourly,
        additional_hourly=price and price.additional,
        currency=price and price.currency,
        valid_from=utc(price.valid_from) if price else None,
        valid_to=utc(price.valid_to) if price else None,
        source=price and price.origin,
        meter_id=(price and price.meter_id) or None,
        as_of=utc(report.as_of),
        reason=reason,
        detail=reason and NO_PRICE[reason],
    )
