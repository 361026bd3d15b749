"""Keeping outputs by several hosts, and by one that dies."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, override

import pytest
import pytest_asyncio
from azure.batch.models import BatchTaskCreateOptions

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import stamp
from shared.clock import SteppedClock
from shared.composition.failures import output_limits_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import Job
from shared.domain.nodes.nodes import Node, StartRun
from shared.domain.outputs.failed_starts import FailingPool, failing_pools
from shared.domain.outputs.kept_outputs import OutputMark
from shared.services.accounts.registry import Registry
from shared.services.files.failed_run_finder import FailedRunFinder
from shared.services.files.output_keeper import OutputKeeper
from shared.services.files.run_keeper import RunKeeper
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.settings import read_settings
from shared.stores.batch.batch import BatchAccount
from shared.stores.jobs.outputs import OutputStore
from shared.stores.stores import Stores
from shared.stores.tables.tables import Tables
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
READ_LIMIT = timedelta(seconds=6)
COMMAND = "sh -c 'echo last words >&2; exit 3'"
TASKS = 4


class HostDiedError(BaseException):
    """Ends a host; its code can't catch it."""


class DyingStore(OutputStore):
    """The store of a host that dies after it kept outputs, before it notes how far it came."""

    @override
    async def save_mark(
        self, account_key: str, job_key: str, mark: OutputMark, etag: str | None, expires: int | None = None
    ) -> str:
        if mark.since:
            raise HostDiedError
        return await super().save_mark(account_key, job_key, mark, etag, expires)


type Host = Callable[[type[OutputStore]], OutputKeeper]


@pytest_asyncio.fixture(loop_scope="session")
async def host(world: World) -> AsyncIterator[tuple[Host, Callable[[], Awaitable[Job]]]]:
    """Yields a function that starts a host, and one that loads the job with four failed tasks as polled."""
    settings = read_settings(os.environ)
    (account,) = settings.accounts
    tables = Tables.connect(
        connection_string=settings.storage.connection_string,
        endpoint=None,
        credential=None,
        prefix=settings.table_prefix,
    )
    stores, source = Stores(tables), BatchAccount.connect(account, key=settings.keys["demo"], credential=None)
    clock = SteppedClock(lambda: _now(world))
    registry = Registry({account.id: account}, stores.monitoring, clock, settings.poll_interval)
    leaves = LeafReader(Queries(registry, stores), stores.cache)
    limits = output_limits_of(settings)

    def started(store: type[OutputStore]) -> OutputKeeper:
        outputs, finder = store(tables), FailedRunFinder(leaves, limits)
        runs = RunKeeper(outputs, limits, READ_LIMIT)
        return OutputKeeper({account.id: source}, registry, stores.rounds, finder, outputs, limits, runs)

    async def polled() -> Job:
        job = await stores.jobs.load(account.key, "hosts")
        assert job
        return job

    await add_pool(world.batch, "hosts", nodes=2)
    await add_job(world.batch, "hosts", pool="hosts")
    for at in range(TASKS):
        await world.batch.create_task("hosts", BatchTaskCreateOptions(id=f"t{at}", command_line=COMMAND))
    world.advance(900)
    await world.poll()
    yield started, polled
    await source.close()
    await tables.close()


async def _keep(keeper: OutputKeeper, one: Job | FailingPool) -> None:
    keeper.note({"demo": [one]})
    await keeper.keep()


async def _now(world: World) -> datetime:
    """Returns the emulator's time, without a connection that nobody could close."""
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


def _reads(world: World) -> int:
    counters = world.emulator.counters.items()
    return sum(counted["requests"] for route, counted in counters if route.startswith("GET") and "/files" in route)


async def _kept(world: World) -> list[str | None]:
    found = [await world.get(f"accounts/demo/jobs/hosts/tasks/t{at}/output") for at in range(TASKS)]
    return [one.body["stderr"]["text"] for one in found]


async def test_two_hosts_keep_each_output_once(world: World, host: Any) -> None:
    started, polled = host
    job = await polled()
    keepers = [started(OutputStore), started(OutputStore)]
    await asyncio.gather(*(_keep(keeper, job) for keeper in keepers))
    for keeper in keepers:
        await _keep(keeper, job)
    assert await _kept(world) == ["last words\n"] * TASKS


async def test_what_a_host_kept_before_it_died_is_not_read_again(world: World, host: Any) -> None:
    started, polled = host
    job = await polled()
    with pytest.raises(HostDiedError):
        await _keep(started(DyingStore), job)
    reads = _reads(world)
    assert reads == TASKS  # of stderr, as stdout is empty
    assert await _kept(world) == ["last words\n"] * TASKS
    await _keep(started(OutputStore), job)
    assert _reads(world) == reads


async def test_a_restarted_host_looks_at_a_job_once(world: World, host: Any) -> None:
    started, polled = host
    job, keeper = await polled(), started(OutputStore)
    await _keep(keeper, job)
    again = started(DyingStore)
    await _keep(again, job)  # there is nothing to note
    assert await _kept(world) == ["last words\n"] * TASKS


async def test_two_hosts_keep_each_start_task_once(world: World, host: Any) -> None:
    started, _ = host
    nodes, pool = await _failed_starts(world)
    keepers = [started(OutputStore), started(OutputStore)]
    await asyncio.gather(*(_keep(keeper, pool) for keeper in keepers))
    for keeper in keepers:
        await _keep(keeper, pool)
    assert await _kept_starts(world, nodes) == ["last words\n"] * len(nodes)
    reads = _reads(world)
    for keeper in (*keepers, started(OutputStore)):
        await _keep(keeper, pool)
    assert _reads(world) == reads


async def test_a_node_that_left_the_pool_before_its_turn_stays_due(world: World, host: Any) -> None:
    started, _ = host
    nodes, pool = await _failed_starts(world)
    keeper, (first, *others) = started(OutputStore), pool.runs
    keeper.note({"demo": [pool._replace(runs=(first,))]})
    await _keep(keeper, pool._replace(runs=tuple(others)))
    assert await _kept_starts(world, nodes) == ["last words\n"] * len(nodes)


async def _failed_starts(world: World) -> tuple[list[str], FailingPool]:
    """Returns the nodes of a pool whose start tasks failed, and the pool as a poll sees it."""
    await add_pool(world.batch, "failing", nodes=3, start=COMMAND)
    world.advance(900)
    await world.poll()
    found = [node.as_dict() async for node in world.batch.list_nodes("failing")]
    nodes = [Node(one["id"], one["state"], start=_run(one["startTaskInfo"])) for one in found]
    (pool,) = failing_pools("failing", nodes).values()
    return [node.id for node in nodes], pool


def _run(info: Any) -> StartRun:
    start, end = (to_milliseconds(datetime.fromisoformat(info[name])) for name in ("startTime", "endTime"))
    return StartRun(info["state"], info["result"].lower(), info["exitCode"], start, end)


async def _kept_starts(world: World, nodes: list[str]) -> list[str | None]:
    found = [await world.get(f"accounts/demo/pools/failing/nodes/{node}/output") for node in nodes]
    return [one.body["stderr"]["text"] for one in found]


async def test_a_node_that_hangs_holds_up_no_other_and_spends_no_budget(world: World, host: Any) -> None:
    started, polled = host
    keeper, job = started(OutputStore), await polled()
    world.emulator.faults.add(Fault(path="/jobs/hosts/tasks/t0/files/*", delaySeconds=60))
    account = keeper.sources["demo"].account.key
    before = (await keeper.store.load_spent(account)).at(await _now(world))
    await _keep(keeper, job)
    assert await _kept(world) == [None, *["last words\n"] * (TASKS - 1)]
    spent = await keeper.store.load_spent(account)
    assert spent.read - before.read == (TASKS - 1) * len("last words\n")
    world.emulator.faults.clear()
    world.advance(61)
    await keeper.keep()
    assert await _kept(world) == ["last words\n"] * TASKS


async def test_a_task_that_ran_again_before_its_turn_gets_no_output_of_another_run(world: World, host: Any) -> None:
    started, polled = host
    keeper, job = started(OutputStore), await polled()
    await world.batch.reactivate_task("hosts", "t0")
    world.advance(300)
    await _keep(keeper, job)
    found = await world.get("accounts/demo/jobs/hosts/tasks/t0/output")
    assert (found.body["stderr"]["text"], found.body["stderr"]["reason"]) == (None, "RanAgain")
    await world.app.fire("tick")
    await _keep(keeper, await polled())
    assert await _kept(world) == ["last words\n"] * TASKS


async def test_some_outputs_are_kept_however_long_a_tick_took(world: World, host: Any) -> None:
    started, polled = host
    keeper = started(OutputStore)
    keeper.note({"demo": [await polled()]})
    reads = _reads(world)
    await keeper.keep(timedelta(seconds=-30))
    assert _reads(world) == reads + TASKS
    assert await _kept(world) == ["last words\n"] * TASKS
