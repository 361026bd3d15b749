"""Memory of ingestion over a real Azurite, in a separate process: `python -m bench.measured.ingest_memory JSON`.

The app's own sweep reads, decodes, rolls up and stores existing blobs of a container, in parallel for several accounts.
A first sweep of another container loads everything that the first frame needs.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from shared.clock import SharedClock
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import telemetry_ingest_partition
from shared.domain.telemetry.records.labels import PathPattern
from shared.garbage import collect_rarely
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from shared.stores.blobs.blobs import BlobContainer
from shared.stores.blobs.checkpoints import BlobEntryStore
from shared.stores.tables.tables import Tables

_PATTERN = "accounts/{account}/pools/{pool}/nodes/{node}/*"
_LONG, _WEEK = timedelta(minutes=10), timedelta(days=7)


def blob_of(account: int) -> str:
    return f"accounts/a{account}/pools/p/nodes/n/vm_perf_metrics.0"


async def _swept(storage: str, container: str, accounts: int) -> None:
    """Sweeps a container. Raises ValueError if not everything was read."""
    watched = [Account(name, name, name, None, "http://127.0.0.1:1") for name in (f"a{n}" for n in range(accounts))]
    async with AsyncExitStack() as stack:
        tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix=container)
        stack.push_async_callback(tables.close)
        await tables.create()
        blobs = BlobContainer.connect(container, connection_string=storage, endpoint=None, credential=None)
        stack.push_async_callback(blobs.close)
        pattern, stores = PathPattern(_PATTERN), IngestionStores.of(tables)
        clock = SharedClock()
        intake = TelemetryIntake(watched, pattern, stores, clock=clock, retention=_WEEK)
        sweep = BlobSweep(BlobReader(blobs, intake, stores, clock), retention=_WEEK)
        await sweep.run(_LONG)
        for account in watched:
            ingest_partition = await BlobEntryStore(tables).load_sweep(telemetry_ingest_partition(account.key))
            if ingest_partition is None or ingest_partition.behind_blobs or ingest_partition.problems:
                raise ValueError(f"not all was read: {ingest_partition}")


def _peak() -> float:
    """Returns peak resident MB of this program alone, whereas getrusage would include its parent's."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


async def _measured(storage: str, warm: str, container: str, accounts: int) -> float:
    await _swept(storage, warm, accounts)
    before = _peak()
    await _swept(storage, container, accounts)
    return _peak() - before


def main(argument: str) -> None:
    collect_rarely()
    print(json.dumps({"peak": asyncio.run(_measured(**json.loads(argument)))}))


if __name__ == "__main__":
    main(sys.argv[1])
