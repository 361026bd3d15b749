"""GET accounts/{account}/pools/{pool}/agent: the node agent's file, and the start task that runs it on a pool."""

from typing import TYPE_CHECKING

from functions.api.endpoints import POOL
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, Routes

if TYPE_CHECKING:
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


def add_pool_agent(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/agent", returns=AgentAnswer)
    async def get_pool_agent(call: RouteRequest[Query, None]) -> AgentAnswer:
        """Returns the start task that runs the node agent on a pool, ready to copy and without secrets."""
        services = await call.services()
        return _answer(await services.agent.of_pool(call.path["account"], call.path["pool"]))


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
