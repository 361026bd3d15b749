"""GET accounts/{account}/pools/{pool}/agent, the node agent's start task, and …/agent/nodes, which nodes report."""

from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from functions.api.endpoints import POOL
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer
from functions.http.handling import Page, Query, RouteRequest, Routes
from functions.http.lists import page_by_key
from functions.http.parameters import Key, PageSize

if TYPE_CHECKING:
    from shared.domain.agent.node_reports import AgentReport
    from shared.services.agent.agent_offers import AgentOffer


class AgentFileAnswer(Answer):
    """The agent's file: its version, SHA-256, bytes and address; `uploaded` if storage has exactly this file."""

    version: str
    sha256: str
    size: int
    address: str
    uploaded: bool


class StartTaskFormsAnswer(Answer):
    """The start task as text to copy: for the pool's Bicep file, for `az batch pool set`, and as a Python program."""

    bicep: str
    az_batch: str
    python: str


class AgentAnswer(Answer):
    """The start task of a pool that runs the agent first and then the pool's own command line.

    `storage` is the container that nodes write to. `environment` has the agent's variables, `keptVariables` the names
    of the pool's own. `included`: the pool's start task names the agent already. `notes` are sentences for operators.
    """

    account: str
    pool: str
    file: AgentFileAnswer
    storage: str
    included: bool
    command_line: str
    environment: dict[str, str]
    kept_variables: list[str]
    forms: StartTaskFormsAnswer
    notes: list[str]


class AgentNodesQuery(Query):
    """A page of a pool's nodes, of all or only of those that are `reporting` or aren't."""

    reporting: bool | UnsetType = UNSET
    maxpagesize: PageSize = 100
    continuation: Key = ""


class AgentNodeAnswer(Answer):
    """A node: whether it reports, and its last minute with any data; null if there never was any.

    Of its agent the version, the start, bytes in its spool at the last report, and records that it dropped within an
    hour, null where that isn't known. `reason` is the most likely one for which a node doesn't report.
    """

    id: str
    state: str
    reporting: bool
    seen: datetime | None
    agent_version: str | None
    agent_began: datetime | None
    waiting_bytes: int | None
    dropped_records: int | None
    reason: FindingAnswer | None


class AgentNodesAnswer(Page[AgentNodeAnswer], kw_only=True):
    """A page of a pool's nodes, and how many nodes it has in all (`listed`) and how many of them report."""

    listed: int
    reporting: int


def add_pool_agent(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/agent", returns=AgentAnswer)
    async def get_pool_agent(call: RouteRequest[Query, None]) -> AgentAnswer:
        """Returns the start task that runs the node agent on a pool, ready to copy and without secrets."""
        services = await call.services()
        return _answer(await services.agent.of_pool(call.path["account"], call.path["pool"]))

    @routes.route("GET", f"{POOL}/agent/nodes", query=AgentNodesQuery, returns=AgentNodesAnswer)
    async def list_agent_nodes(call: RouteRequest[AgentNodesQuery, None]) -> AgentNodesAnswer:
        """Lists which nodes of a pool report, and why the others don't."""
        services, query = await call.services(), call.query
        found = await services.agent_reports.of_pool(call.path["account"], call.path["pool"])
        reporting = found.reporting
        wanted = [one for one in found.nodes if query.reporting in (UNSET, one.node.key in reporting)]
        section = page_by_key(wanted, attrgetter("node.key"), after=query.continuation, size=query.maxpagesize)
        shown = await services.agent_reports.described(found, section.shown)
        return AgentNodesAnswer(
            value=list(map(_node_answer, shown)),
            next_link=call.next_link(section.continuation),
            count=section.count,
            listed=len(found.nodes),
            reporting=len(reporting),
        )


def _node_answer(node: "AgentReport") -> AgentNodeAnswer:
    return AgentNodeAnswer.of(
        node,
        reporting=node.is_reporting,
        agent_version=node.version or None,
        agent_began=node.began,
        reason=finding_answer(node.reason) if node.reason else None,
    )


def _answer(offer: "AgentOffer") -> AgentAnswer:
    task = offer.start_task
    return AgentAnswer(
        account=offer.account,
        pool=offer.pool,
        file=AgentFileAnswer.of(offer.file, address=offer.address, uploaded=offer.is_uploaded),
        storage=offer.storage,
        included=task.is_included,
        command_line=task.command_line,
        environment=dict(task.environment),
        kept_variables=list(task.own_variables),
        forms=StartTaskFormsAnswer(bicep=offer.bicep, az_batch=offer.az, python=offer.python),
        notes=list(task.notes),
    )
