"""The CPU that usage ledgers take in rounds over pools: moving them on with their nodes, and packing them."""

import time
from collections.abc import Callable
from unittest.mock import patch

from shared.services.pools.pool_usage import PoolUsage
from shared.stores.pools.packed_usage import packed_usage


class LedgerCpu:
    """Counts the seconds of this thread in the ledgers' functions from its creation on."""

    def __init__(self) -> None:
        self.seconds = 0.0
        patch.object(PoolUsage, "after", self._counted(PoolUsage.after)).start()
        patch("shared.stores.pools.nodes.packed_usage", self._counted(packed_usage)).start()

    def _counted[**Arguments, Result](self, act: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        def counted(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
            began = time.thread_time()
            try:
                return act(*arguments, **options)
            finally:
                self.seconds += time.thread_time() - began

        return counted
