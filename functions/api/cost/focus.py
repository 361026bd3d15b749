"""GET accounts/{account}/cost/focus: costs as a table in FOCUS 1.2, the FinOps Open Cost and Usage Specification.

Columns of our own begin with `x_`. Those named `x_Allocated…` are FOCUS 1.3's for the allocation of shared costs.
"""

import asyncio
import re
from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer
from functions.http.csv_table import MEDIA, csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError, Key, Time, given
from shared.domain.accounts.accounts import Account
from shared.domain.cost.focus_charges import METHODS, FocusCharge
from shared.domain.cost.priced_days import Sharing
from shared.services.cost.focus_queries import FocusPage, FocusPosition

_MAX_ROWS = 25_000
_POSITION = re.compile(r"([0-9]{1,7})-([0-9]{1,9})")
_RESOURCE_TYPE = "microsoft.batch/batchaccounts/pools"
_HOURS = "Hours"
_Rows = Annotated[int, Meta(ge=1, le=_MAX_ROWS, description=f"Rows a page, 1 to {_MAX_ROWS}.")]
_Sharing = Annotated[
    Sharing,
    Meta(
        description="How the cost of time that no task held is shared among the jobs with tasks on that day on nodes of"
        " that pool, VM size and priority."
    ),
]


class FocusQuery(Query):
    """The days (UTC), by default the last 30 with today, the sharing among jobs, and the page."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    sharing: _Sharing = "none"
    maxpagesize: _Rows = _MAX_ROWS
    continuation: Key = ""

    @property
    def position(self) -> FocusPosition | None:
        """Returns where the page begins. Raises BadRequestError."""
        if not self.continuation:
            return None
        found = _POSITION.fullmatch(self.continuation)
        if found is None:
            raise BadRequestError("Take the continuation from the header Link of a page.", target="continuation")
        return FocusPosition(int(found[1]), int(found[2]))


class FocusRow(Answer, rename="pascal"):
    """The table columns: the mandatory ones of FOCUS 1.2, some of its others, and our own. Amounts are estimates."""

    billing_account_id: str
    billing_account_name: str
    billing_currency: str
    billing_period_start: datetime
    billing_period_end: datetime
    charge_period_start: datetime
    charge_period_end: datetime
    charge_category: str
    charge_class: str | None
    charge_description: str
    charge_frequency: str
    billed_cost: str
    effective_cost: str
    list_cost: str
    contracted_cost: str
    pricing_category: str
    pricing_quantity: str
    pricing_unit: str
    commitment_discount_status: str | None
    consumed_quantity: str
    consumed_unit: str
    provider_name: str
    publisher_name: str
    invoice_issuer_name: str
    invoice_id: str | None
    service_category: str
    service_subcategory: str
    service_name: str
    region_id: str | None
    region_name: str | None
    resource_id: str
    resource_name: str
    resource_type: str
    cost_class: str = field(name="x_CostClass")
    vm_size: str = field(name="x_VmSize")
    dedicated: bool = field(name="x_Dedicated")
    hourly_price: str = field(name="x_HourlyPrice")
    price_origin: str = field(name="x_PriceOrigin")
    allocated_resource_id: str | None = field(name="x_AllocatedResourceId")
    allocated_resource_name: str | None = field(name="x_AllocatedResourceName")
    allocated_method_id: str | None = field(name="x_AllocatedMethodId")
    allocated_method_details: str | None = field(name="x_AllocatedMethodDetails")
    allocated_tags: dict[str, str] | None = field(name="x_AllocatedTags")


def add_focus(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/cost/focus", query=FocusQuery, returns=str, media=MEDIA)
    async def get_focus_costs(call: RouteRequest[FocusQuery, None]) -> RouteResponse:
        """Returns costs by day, pool, kind of node, cost class and job as a CSV table in FOCUS 1.2."""
        services, query = await call.services(), call.query
        page = await services.focus.page(
            call.path["account"],
            query.sharing,
            since=given(query.since),
            until=given(query.until),
            after=query.position,
            size=query.maxpagesize,
        )
        following = f"{page.following.day}-{page.following.charge}" if page.following else None
        # A page of 25,000 rows takes a second, which would block the event loop.
        return await asyncio.to_thread(_table, page, call.next_link(following))


def _table(page: FocusPage, next_link: str | None) -> RouteResponse:
    rows = [_row(page.account, page.currency, charge) for charge in page.charges]
    return csv_reply(Page(value=rows, next_link=next_link), FocusRow)


def _row(account: Account, currency: str, charge: FocusCharge) -> FocusRow:
    pool, kind, job = charge.pool, charge.kind, charge.job_id
    month, following = charge.billing_period
    base = f"microsoft.batch/batchaccounts/{account.name}".lower()
    cost, hours = f"{charge.cost:f}", f"{charge.hours:f}"
    nodes = f"{'dedicated' if kind.dedicated else 'spot'} nodes of {kind.vm_size}"
    schedule = job.rpartition(":")[0] if job else ""
    return FocusRow(
        billing_account_id=account.key,
        billing_account_name=account.name,
        billing_currency=currency,
        billing_period_start=month,
        billing_period_end=following,
        charge_period_start=charge.since,
        charge_period_end=charge.until,
        charge_category="Usage",
        charge_class=None,
        charge_description=f"Pool {pool.pool_id}: {nodes}, {charge.cost_class}",
        charge_frequency="Usage-Based",
        billed_cost=cost,
        effective_cost=cost,
        list_cost=cost,
        contracted_cost=cost,
        pricing_category="Standard" if kind.dedicated else "Dynamic",
        pricing_quantity=hours,
        pricing_unit=_HOURS,
        commitment_discount_status=None,
        consumed_quantity=hours,
        consumed_unit=_HOURS,
        provider_name="Microsoft",
        publisher_name="Microsoft",
        invoice_issuer_name="Microsoft",
        invoice_id=None,
        service_category="Compute",
        service_subcategory="Virtual Machines",
        service_name="Batch",
        region_id=pool.region,
        region_name=pool.region,
        resource_id=f"{base}/pools/{pool.pool_id.lower()}",
        resource_name=pool.pool_id,
        resource_type=_RESOURCE_TYPE,
        cost_class=charge.cost_class,
        vm_size=kind.vm_size,
        dedicated=kind.dedicated,
        hourly_price=f"{charge.price.hourly:f}",
        price_origin=charge.price.origin,
        allocated_resource_id=f"{base}/jobs/{job.lower()}" if job else None,
        allocated_resource_name=job,
        allocated_method_id=charge.method,
        allocated_method_details=METHODS[charge.method] if charge.method else None,
        allocated_tags={"jobSchedule": schedule} if schedule else None,
    )
