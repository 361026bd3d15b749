"""What follows on failures that polls saw: outputs are kept, and the nodes on which tasks fail are determined."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from shared.services.files.output_keeper import OutputKeeper
from shared.services.polling.polling import PollingService
from shared.services.tasks.failing_node_digests import FailingNodeDigests

_BUDGET = timedelta(seconds=8)


@dataclass(frozen=True, slots=True)
class FailureFollowUp:
    polling: PollingService
    outputs: OutputKeeper
    nodes: FailingNodeDigests

    async def follow(self, budget: timedelta = _BUDGET) -> None:
        """Follows up polls since the last call. Some outputs are kept in any case; errors are logged."""
        began, failing = asyncio.get_running_loop().time(), self.polling.take_failing()
        self.outputs.note(failing)
        self.outputs.note(self.polling.take_failing_pools())
        await self.outputs.keep(budget)
        spent = timedelta(seconds=asyncio.get_running_loop().time() - began)
        await self.nodes.refresh(failing, budget - spent)
