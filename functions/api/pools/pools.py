"""GET accounts/{account}/pools, …/{pool}, its autoscaleruns, nodes and nodes/{node}: from storage, not Batch."""

from operator import attrgetter
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from functions.api.endpoints import ACCOUNT, POOL
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.api.jobs.job_models import JudgedPage, judged
from functions.api.pools.node_models import NodeAnswer, NodeLine, node_answer
from functions.api.pools.pool_models import EvaluationAnswer, PoolAnswer, PoolLine, evaluation_answer, pool_answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import listed, page_by_key
from functions.http.parameters import Format, Key, PageSize
from functions.http.rendering import LOOKS
from shared.domain.core.keys import key_of
from shared.domain.nodes.node_causes import cause_of
from shared.domain.reports.reports import NodeReport, PoolReport
from shared.domain.retirements.retirement_finding import retirement_findings

CausePart = Annotated[str, Meta(max_length=1_000)]
PoolState = Literal["active", "deleting"]
AllocationState = Literal["steady", "resizing", "stopping"]
NodeState = Literal[
    "idle", "rebooting", "reimaging", "running", "unusable", "creating", "starting", "waitingforstarttask",
    "starttaskfailed", "unknown", "leavingpool", "offline", "preempted", "upgradingos", "deallocated", "deallocating",
]  # fmt: skip


class PoolDetailAnswer(PoolAnswer):
    """A single pool, with `findings` on nodes on which tasks fail, on start-ups, and on what Azure retires.

    Those on start-ups rest on the last seven days. What is retired is named from 180 days before its last day on.
    """

    findings: list[FindingAnswer]


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
    @routes.route("GET", f"{ACCOUNT}/pools", query=PoolsQuery, returns=JudgedPage[PoolAnswer], cacheable=True)
    async def list_pools(call: RouteRequest[PoolsQuery, None]) -> JudgedPage[PoolAnswer] | RouteResponse:
        """Lists an account's pools by id, with node figures and the verdict on them."""
        services, query = await call.services(), call.query
        pools = await services.pools.listed_pools(call.path["account"])
        found = [report for report in pools.reports if query.wants(report)]
        found = await services.pools.with_tasks(call.path["account"], found)
        section = page_by_key(found, attrgetter("pool.key"), after=query.continuation, size=query.maxpagesize)
        page = judged(listed(call, section, pool_answer, pools.unreadable), pools.verdict)
        return csv_reply(page, PoolLine) if query.format == "csv" else page

    @routes.route("GET", POOL, returns=PoolDetailAnswer, cacheable=True)
    async def get_pool(call: RouteRequest[Query, None]) -> PoolDetailAnswer:
        """Returns one pool."""
        services = await call.services()
        pool = await services.pools.pool(call.path["account"], call.path["pool"])
        (report,) = await services.pools.with_tasks(call.path["account"], [pool])
        failing, slow = await services.pools.failing_nodes(report), await services.start_ups.findings(report)
        retired = retirement_findings(report.retirements, report.pool.facts.id, report.now.date())
        findings = list(map(finding_answer, [*failing, *slow, *retired]))
        return PoolDetailAnswer.of(pool_answer(report), findings=findings)

    @routes.route("GET", f"{POOL}/autoscaleruns", returns=Page[EvaluationAnswer], cacheable=True)
    async def list_autoscale_runs(call: RouteRequest[Query, None]) -> Page[EvaluationAnswer]:
        """Lists the latest evaluations of a pool's autoscale formula that polls saw, latest first, at most 20."""
        services = await call.services()
        report = await services.pools.pool(call.path["account"], call.path["pool"])
        runs = list(map(evaluation_answer, report.pool.all_evaluations))
        return Page(value=runs, count=len(runs))

    @routes.route("GET", f"{POOL}/nodes", query=NodesQuery, returns=JudgedPage[NodeAnswer], looks=LOOKS)
    async def list_nodes(call: RouteRequest[NodesQuery, None]) -> JudgedPage[NodeAnswer] | RouteResponse:
        """Lists a pool's nodes by id, with their time in state and its cause."""
        services, query = await call.services(), call.query
        pool, reports = await services.pools.pool_with_nodes(call.path["account"], call.path["pool"])
        found = [report for report in reports if query.wants(report)]
        section = page_by_key(found, attrgetter("node.key"), after=query.continuation, size=query.maxpagesize)
        page = judged(listed(call, section, node_answer), pool.verdict)
        return csv_reply(page, NodeLine) if query.format == "csv" else page

    @routes.route("GET", f"{POOL}/nodes/{{node}}", returns=NodeAnswer, looks=LOOKS)
    async def get_node(call: RouteRequest[Query, None]) -> NodeAnswer:
        """Returns one node."""
        services = await call.services()
        return node_answer(await services.pools.node(call.path["account"], call.path["pool"], call.path["node"]))
