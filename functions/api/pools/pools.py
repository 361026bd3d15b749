"""GET accounts/{account}/pools, …/{pool}, its autoscaleruns, nodes and nodes/{node}: from storage, not Batch."""

from operator import attrgetter
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from functions.api.jobs.job_models import JudgedPage, utc, verdict_answer
from functions.api.jobs.jobs import Format, Key, PageSize
from functions.api.pools.node_models import NodeAnswer, NodeLine, node_answer
from functions.api.pools.pool_models import EvaluationAnswer, PoolAnswer, PoolLine, evaluation_answer, pool_answer
from functions.http.answers import unreadable_answers
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import page_by_key
from functions.http.rendering import LOOKS
from shared.domain.core.keys import key_of
from shared.domain.nodes.node_causes import cause_of
from shared.domain.reports.reports import NodeReport, PoolReport

CausePart = Annotated[str, Meta(max_length=1_000)]
PoolState = Literal["active", "deleting"]
AllocationState = Literal["steady", "resizing", "stopping"]
NodeState = Literal[
    "idle", "rebooting", "reimaging", "running", "unusable", "creating", "starting", "waitingforstarttask",
    "starttaskfailed", "unknown", "leavingpool", "offline", "preempted", "upgradingos", "deallocated", "deallocating",
]  # fmt: skip


class PoolsQuery(Query):
    """Filters of the pool list."""

    state: tuple[PoolState, ...] = ()
    allocation_state: tuple[AllocationState, ...] = ()
    prefix: Key = ""
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: PoolReport) -> bool:
        """Returns whether a pool passes all filters; ids are compared without case, as in Batch."""
        facts = report.pool.facts
        return (
            (not self.state or facts.state in self.state)
            and (not self.allocation_state or facts.allocation_state in self.allocation_state)
            and facts.key.startswith(key_of(self.prefix))
        )


class NodesQuery(Query):
    """Filters of the node list; `cause` is a part of the cause's text, in any case."""

    state: tuple[NodeState, ...] = ()
    is_dedicated: bool | UnsetType = UNSET
    cause: CausePart = ""
    flapping: bool | UnsetType = UNSET
    prefix: Key = ""
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: NodeReport) -> bool:
        """Returns whether a node passes all filters."""
        node = report.node
        return (
            (not self.state or node.state in self.state)
            and (self.is_dedicated is UNSET or node.dedicated == self.is_dedicated)
            and (not self.cause or self.cause.casefold() in (cause_of(node) or "").casefold())
            and (self.flapping is UNSET or report.is_flapping == self.flapping)
            and node.key.startswith(key_of(self.prefix))
        )


def add_pools(routes: Routes) -> None:
    @routes.route("GET", "accounts/{account}/pools", query=PoolsQuery, returns=JudgedPage[PoolAnswer], repeats=True)
    async def list_pools(call: RouteRequest[PoolsQuery, None]) -> JudgedPage[PoolAnswer] | RouteResponse:
        """Lists an account's pools by id, with node figures and the verdict on them."""
        services = await call.services()
        listed = await services.pools.listed_pools(call.path["account"])
        found = [report for report in listed.reports if call.query.wants(report)]
        cut = page_by_key(found, attrgetter("pool.key"), after=call.query.continuation, size=call.query.maxpagesize)
        page = JudgedPage(
            value=[pool_answer(report) for report in cut.shown],
            next_link=call.next_link(cut.continuation),
            count=cut.count,
            unreadable=unreadable_answers(listed.unreadable),
            as_of=utc(listed.verdict.as_of),
            verdict=verdict_answer(listed.verdict),
        )
        return csv_reply(page, PoolLine) if call.query.format == "csv" else page

    @routes.route("GET", "accounts/{account}/pools/{pool}", returns=PoolAnswer, repeats=True)
    async def get_pool(call: RouteRequest[Query, None]) -> PoolAnswer:
        """Returns one pool."""
        services = await call.services()
        return pool_answer(await services.pools.pool(call.path["account"], call.path["pool"]))

    @routes.route("GET", "accounts/{account}/pools/{pool}/autoscaleruns", returns=Page[EvaluationAnswer], repeats=True)
    async def list_autoscale_runs(call: RouteRequest[Query, None]) -> Page[EvaluationAnswer]:
        """Lists the latest evaluations of a pool's autoscale formula that polls saw, latest first, at most 20."""
        services = await call.services()
        report = await services.pools.pool(call.path["account"], call.path["pool"])
        runs = [evaluation_answer(found) for found in report.pool.all_evaluations]
        return Page(value=runs, count=len(runs))

    @routes.route(
        "GET", "accounts/{account}/pools/{pool}/nodes", query=NodesQuery, returns=JudgedPage[NodeAnswer], looks=LOOKS
    )
    async def list_nodes(call: RouteRequest[NodesQuery, None]) -> JudgedPage[NodeAnswer] | RouteResponse:
        """Lists a pool's nodes by id, with their time in state and its cause."""
        services = await call.services()
        pool, reports = await services.pools.pool_with_nodes(call.path["account"], call.path["pool"])
        found = [report for report in reports if call.query.wants(report)]
        cut = page_by_key(found, attrgetter("node.key"), after=call.query.continuation, size=call.query.maxpagesize)
        page = JudgedPage(
            value=[node_answer(report) for report in cut.shown],
            next_link=call.next_link(cut.continuation),
            count=cut.count,
            as_of=utc(pool.verdict.as_of),
            verdict=verdict_answer(pool.verdict),
        )
        return csv_reply(page, NodeLine) if call.query.format == "csv" else page

    @routes.route("GET", "accounts/{account}/pools/{pool}/nodes/{node}", returns=NodeAnswer, looks=LOOKS)
    async def get_node(call: RouteRequest[Query, None]) -> NodeAnswer:
        """Returns one node."""
        services = await call.services()
        return node_answer(await services.pools.node(call.path["account"], call.path["pool"], call.path["node"]))
