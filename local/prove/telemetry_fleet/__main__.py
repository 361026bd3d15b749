"""Proves that hosts share the telemetry of a large fleet: 5,000 nodes that flush 312 lines every two minutes.

Each storage request of the hosts takes 30 ms more, by a proxy. First the nodes flush without any host: where storage or
this machine can't take that in two minutes, the interval is lengthened until they can; `--interval` begins with a
longer one, as hosts need cores as well. Then two hosts run, one of which is killed twice: each
flush must be stored within two minutes, and every minute of every series must equal what was written. The same follows
with one host and with four, where the lag is only shown, as is the machine's load: hosts add up as far as its cores do.
The tick is every 15 seconds, as docs/operations.md advises for such fleets.
"""

import argparse
import asyncio
import os
import secrets
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from aiohttp import ClientSession, ClientTimeout
from azure.data.tables.aio import TableClient
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import StorageAddresses
from local.dev.running.stack import Options, base_environment, fresh_key, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children, Program
from local.dev.system.console import say
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import headline
from local.prove.stack.services import start_storage
from local.prove.telemetry_fleet.findings import HostsFindings, table
from local.prove.telemetry_fleet.nodes import FLUSH, Minutes, Nodes, minutes_of, name_of

MEASURED_PATHS = ("functions", "shared")
_LOGS = HERE.logs / "telemetry_fleet"
_LOOK_EVERY = 10.0
_PATIENCE = 600.0
_LONGER = 1.5
_COMPARED_AT_ONCE = 8
_KILLED = "host-2"


@dataclass(slots=True)
class Fleet:
    """Storage, directly for nodes and slowly for hosts, and what the options ask for."""

    children: Children
    storage: StorageAddresses
    slow: StorageAddresses
    nodes: int
    flushes: int

    async def alone(self, interval: float) -> float:
        """Returns the interval in which storage takes the flushes of all nodes without hosts."""
        while True:
            async with AsyncExitStack() as stack:
                nodes = await self._nodes(stack, f"alone-{secrets.token_hex(4)}")
                await nodes.flush(interval)
            if nodes.slowest <= interval * 1.02:
                return interval
            say(f"storage alone took {nodes.slowest:.0f} s for {self.nodes} flushes in {interval:.0f} s")
            interval *= _LONGER

    async def run(self, hosts: int, interval: float, *, kills: int) -> HostsFindings:
        """Lets nodes flush while hosts read, and compares all minutes at the end."""
        name = f"f{secrets.token_hex(4)}"
        found = HostsFindings(hosts, self.nodes, interval)
        async with AsyncExitStack() as stack:
            nodes = await self._nodes(stack, name)
            programs = {f"host-{number + 1}": self._program(f"host-{number + 1}", name) for number in range(hosts)}
            apis = {one: await asyncio.to_thread(self._start, program) for one, program in programs.items()}
            entries = TableClient.from_connection_string(self.storage.connection_string, f"{name}blobs")
            await stack.enter_async_context(entries)
            looking = asyncio.create_task(self._look(nodes, entries, found))
            killing = asyncio.create_task(self._kill(programs, interval, found, kills))
            for flush in range(self.flushes):
                await nodes.flush(interval)
                lag = max(found.lags, default=0.0)
                say(f"  {found.hosts} hosts, flush {flush + 1} of {self.flushes}: longest lag {lag:.0f} s")
            apis |= await killing
            found.late = await self._until_read(nodes, entries)
            if looking.done():
                looking.result()
            looking.cancel()
            found.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
            say(f"  {found.hosts} hosts, comparing all minutes of {self.nodes:,} nodes")
            await self._compare(nodes, list(apis.values()), found)
            for one in programs:
                await asyncio.to_thread(self.children.kill, one)
        return found

    async def _nodes(self, stack: AsyncExitStack, container: str) -> Nodes:
        service = BlobServiceClient.from_connection_string(self.storage.connection_string)
        client = (await stack.enter_async_context(service)).get_container_client(container)
        await client.create_container()  # never deleted: Azurite removes the blocks in its next pass, serving nothing
        begin = int(time.time()) // 60 * 60 - self.flushes * FLUSH - 3600
        nodes = Nodes(client, self.nodes, begin)
        await nodes.create()
        return nodes

    def _program(self, host: str, name: str) -> Program:
        settings = {
            "AzureWebJobsStorage": self.slow.connection_string,
            "TELEMETRY_STORAGE": self.slow.connection_string,
            "TELEMETRY_CONTAINER": name,
            "TABLE_PREFIX": name,
            "AzureFunctionsWebHost__hostid": name,
            "FUNCTIONS_WORKER_RUNTIME": "python",
            "BATCH_ACCOUNTS": "demo=http://127.0.0.1:1",
            "BATCH_ACCOUNT_KEYS": f"demo={fresh_key()}",
            "POLL_SECONDS": "86400",
            "TICK_SCHEDULE": "*/15 * * * * *",
        }
        program = host_program(HERE, Options(port=0), settings)
        return replace(program, name=host, command=(*program.command, "--quiet"))

    def _start(self, program: Program) -> str:
        log = next(log for life in count(1) if not (log := _LOGS / f"{program.name}.{life:03}.log").exists())
        return self.children.start(replace(program, log=log))["address"].rstrip("/")

    async def _kill(
        self, programs: Mapping[str, Program], interval: float, found: HostsFindings, kills: int
    ) -> dict[str, str]:
        """Kills and restarts a host, evenly over the run; returns its address after the last kill."""
        apis = {}
        for _ in range(kills):
            await asyncio.sleep(interval * self.flushes / (kills + 1))
            await asyncio.to_thread(self.children.kill, _KILLED)
            apis[_KILLED] = await asyncio.to_thread(self._start, programs[_KILLED])
            found.kills += 1
        return apis

    async def _look(self, nodes: Nodes, entries: TableClient, found: HostsFindings) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            asked = time.monotonic()
            found.lags.append(nodes.lag(await _read(entries), asked))

    async def _until_read(self, nodes: Nodes, entries: TableClient) -> float | None:
        began = time.monotonic()
        while time.monotonic() - began < _PATIENCE:
            if not nodes.lag(await _read(entries), time.monotonic()):
                return time.monotonic() - began
            await asyncio.sleep(1)
        return None

    async def _compare(self, nodes: Nodes, apis: list[str], found: HostsFindings) -> None:
        waiting = iter(range(self.nodes))
        async with ClientSession(timeout=ClientTimeout(total=120)) as session:

            async def some(api: str) -> None:
                for node in waiting:
                    since = datetime.fromtimestamp(nodes.begin, UTC)
                    shown = await _minutes(session, api, name_of(node), since)
                    written = minutes_of(node, nodes.begin, self.flushes)
                    found.compared += len(written)
                    keys = written.keys() | shown.keys()
                    found.differing += [
                        f"{name_of(node)} {key}: {shown.get(key)}, not {written.get(key)}"
                        for key in sorted(keys)
                        if shown.get(key) != written.get(key)
                    ]

            await asyncio.gather(*(some(apis[number % len(apis)]) for number in range(_COMPARED_AT_ONCE)))


async def _read(entries: TableClient) -> dict[str, int]:
    """Returns the bytes stored of each blob; none before the first."""
    rows = entries.query_entities("PartitionKey eq 'demo~telemetry' and RowKey ne '!'", select=["name", "read"])
    try:
        return {row["name"]: int(getattr(row["read"], "value", row["read"])) async for row in rows}
    except Exception as error:  # the hosts may not have made the table yet
        if getattr(error, "status_code", None) != 404:  # noqa: PLR2004 - not found
            raise
        return {}


async def _minutes(session: ClientSession, api: str, node: str, since: datetime) -> Minutes:
    query = {"name": "system.filesystem.usage", "step": "PT1M", "from": f"{since:%Y-%m-%dT%H:%M:%SZ}"}
    async with session.get(f"{api}/api/accounts/demo/pools/fleet/nodes/{node}/telemetry", params=query) as answer:
        answer.raise_for_status()
        body: dict[str, Any] = await answer.json()
    return {
        (series["attributes"]["system.filesystem.mountpoint"], _minute(point["time"])): (
            point["count"], point["min"], point["max"], point["sum"],
        )
        for series in body["value"]
        for point in series["points"]
    }  # fmt: skip


def _minute(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) // 60


def _slow(children: Children, storage: StorageAddresses, milliseconds: float) -> StorageAddresses:
    """Starts the proxy; returns the addresses at which storage is slow."""
    ports = [str(port) for port in (storage.blob_port, storage.queue_port, storage.table_port)]
    command = (sys.executable, "-m", "local.prove.telemetry_fleet.slow_storage", str(milliseconds), *ports)
    program = Program(
        name="slow storage",
        command=command,
        log=_LOGS / "slow_storage.log",
        cwd=HERE.root,
        environment=base_environment(),
        announces=(r"delaying: (?P<blob>\d+) (?P<queue>\d+) (?P<table>\d+)",),
    )
    return StorageAddresses.announced(
        {name: f"http://127.0.0.1:{port}" for name, port in children.start(program).items()}
    )


async def prove(options: argparse.Namespace, children: Children) -> list[HostsFindings]:
    storage = await asyncio.to_thread(start_storage, children, _LOGS)
    slow = await asyncio.to_thread(_slow, children, storage, options.latency)
    fleet = Fleet(children, storage, slow, options.nodes, max(round(options.minutes * 60 / FLUSH), 1))
    interval = await fleet.alone(options.interval)
    say(f"storage alone takes {options.nodes} flushes in {interval:.0f} s")
    found = []
    for hosts in options.hosts:
        found.append(await fleet.run(hosts, interval, kills=2 if hosts == options.hosts[0] > 1 else 0))
        say(table(found[-1:]))
    return found


def main() -> int:
    parser = proof_parser("telemetry-fleet", __doc__)
    add = parser.add_argument
    add("--nodes", type=int, default=5000, help=DEFAULT)
    add("--minutes", type=float, default=10.0, help=f"how long nodes write for each number of hosts {DEFAULT}")
    add("--interval", type=float, default=float(FLUSH), metavar="SECONDS", help=f"between flushes, at least {DEFAULT}")
    add("--hosts", type=_numbers, default="2,1,4", help=f"how many, one after the other; the first is judged {DEFAULT}")
    add("--latency", type=float, default=30.0, help=f"of storage, in ms {DEFAULT}")
    options = parser.parse_args()
    return run_proof("telemetry-fleet", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    with Children() as children:
        found = asyncio.run(prove(options, children))
    faults = [fault for place, one in enumerate(found) for fault in one.problems(is_bounded=place == 0)]
    verdict = "As it should be." if not faults else "\n".join(faults)
    text = f"{headline('telemetry-fleet', datetime.now(UTC))}\n\n{table(found)}\n\n{verdict}"
    return Outcome(text, text, not faults, faults)


def _numbers(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


if __name__ == "__main__":
    sys.exit(main())
