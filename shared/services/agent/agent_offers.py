"""Puts the node agent's file into storage, and offers the start task of a pool that fetches it there."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from shared.clock import Clock
from shared.domain.agent.agent_file import NAME, AgentFile, agent_file
from shared.domain.agent.start_task import StartTaskOffer, offer_of
from shared.domain.agent.start_task_forms import az_form, bicep_form, python_form
from shared.errors import BatchscopeError, NotFoundError
from shared.log import logger
from shared.services.queries.pool_queries import PoolQueries

if TYPE_CHECKING:  # the blob library is loaded where storage is configured
    from shared.stores.blobs.agent_container import AgentContainer

_LOG = logger(__name__)
_PAUSE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AgentOffer:
    """The agent for a pool: its file and address, whether storage has it, and the start task with its three forms."""

    account: str
    pool: str
    file: AgentFile
    address: str
    is_uploaded: bool
    storage: str
    start_task: StartTaskOffer
    bicep: str
    az: str
    python: str


@dataclass(slots=True)
class AgentOffers:
    """Offers of the agent; `packaged` is its file's path. It and `container` are None without configured storage."""

    pools: PoolQueries
    container: "AgentContainer | None"
    packaged: Path | None
    clock: Clock
    _known: tuple[AgentFile, bytes] | None = field(default=None, init=False)
    _is_uploaded: bool = field(default=False, init=False)
    _due: datetime | None = field(default=None, init=False)

    async def upload(self) -> None:
        """Puts the file into storage once per process, unless it is there. A failure is logged, and repeated later."""
        now = await self.clock.now()
        if self.container is None or self._is_uploaded or (self._due and now < self._due):
            return
        self._due = now + _PAUSE
        try:
            file, content = await self._file()
            if await self.container.uploaded() != file:
                await self.container.upload(file, content)
                _LOG.info("The node agent %s is in storage.", file.version)
            self._is_uploaded = True
        except BatchscopeError as error:
            _LOG.warning("The node agent isn't in storage: %s", error)

    async def of_pool(self, account_id: str, pool_id: str) -> AgentOffer:
        """Returns the offer for a pool.

        Raises NotFoundError, also without configured storage or the agent's file; BlobError, StorageError.
        """
        report = await self.pools.pool(account_id, pool_id)
        if self.container is None:
            raise NotFoundError("container", "agent", ", as TELEMETRY_STORAGE isn't set")
        file, _ = await self._file()
        facts, address, storage = report.pool.facts, self.container.file_address, self.container.telemetry_address
        start_task = offer_of(facts.start_task, storage)
        return AgentOffer(
            account=report.account.id,
            pool=facts.id,
            file=file,
            address=address,
            is_uploaded=await self.container.uploaded() == file,
            storage=storage,
            start_task=start_task,
            bicep=bicep_form(start_task, address),
            az=az_form(start_task, address),
            python=python_form(report.account.endpoint, facts.id, address, storage),
        )

    async def _file(self) -> tuple[AgentFile, bytes]:
        """Returns the packaged file and its content. Raises NotFoundError."""
        if self._known is None:
            try:
                if self.packaged is None:
                    raise FileNotFoundError
                content = await asyncio.to_thread(self.packaged.read_bytes)
            except OSError as error:
                raise NotFoundError("file", NAME, " in this app; `python3 dev.py build` makes it") from error
            self._known = agent_file(content), content
        return self._known
