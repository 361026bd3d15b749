"""Node seconds as the API shows them, compared with the emulator's own log of states, which polls don't see in full."""

import csv
import io
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models
from azure.core.exceptions import HttpResponseError

from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.wire.usage import UsageWindow, account_usage
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled, true_nodes
from tests.profiles import NIGHTLY

pytestmark = pytest.mark.asyncio(loop_scope="session")
POLL = 60.0
HOURS = 12 if NIGHTLY else 4
CONFLICT = 409
CLASSES = {
    "creating": "starting", "starting": "starting", "waitingforstarttask": "startTask",
    "starttaskfailed": "startTaskFailed", "leavingpool": "leaving", "reimaging": "rebooting",
}  # fmt: skip
DISABLE = models.BatchNodeDisableSchedulingOptions(
    node_disable_scheduling_option=models.BatchNodeDisableSchedulingOption.REQUEUE
)
REBOOT: Any = {"nodeRebootOption": "requeue"}  # the SDK fails without one
READY = ("running", "idle", "ready")
type Seconds = Counter[str]


def truth(world: World, since: int) -> dict[tuple[str, bool], Seconds]:
    """Returns the seconds of each pool's nodes by class, dedicated (True) and spot ones apart."""
    simulation, now = world.emulator.simulations["demo"], world.emulator.clock.now
    found: dict[tuple[str, bool], Seconds] = {}
    for row in account_usage(simulation.context.usage, simulation.account, UsageWindow(since, now), now)["nodes"]:
        seconds = found.setdefault((row["pool"], row["dedicated"]), Counter())
        seconds[CLASSES.get(row["state"], row["state"])] += row["seconds"]
    return found


def changes(world: World) -> dict[str, Counter[str]]:
    """Returns how often nodes of each pool left each class."""
    simulation = world.emulator.simulations["demo"]
    found: dict[str, Counter[str]] = {}
    for interval in simulation.context.usage.node_intervals(simulation.account, world.emulator.clock.now):
        found.setdefault(interval.pool, Counter())[CLASSES.get(interval.state, interval.state)] += 1
    return found


async def cost(world: World, pool: str, query: str = "") -> Any:
    found = await world.get(f"accounts/demo/pools/{pool}/cost{query}")
    assert found.status == 200, found.body
    return found.body


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> AsyncIterator[World]:
    """Yields an empty account that is polled each minute."""
    await begin_anew(_running)
    yield _running
    _running.emulator.reset()


def resize(dedicated: int, spot: int) -> models.BatchPoolResizeOptions:
    return models.BatchPoolResizeOptions(target_dedicated_nodes=dedicated, target_low_priority_nodes=spot)


class Churn:
    """Three pools that a seeded user and chance change all the time; one is deleted."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = world.emulator.simulations["demo"].context.rng
        self.rng.seed(seed)
        self.names = {name: f"cost-{name}-{world.emulator.epoch}" for name in ("steady", "spot", "brief")}
        self.since = world.emulator.clock.now

    async def begin(self) -> None:
        batch, settings = self.world.batch, self.world.emulator.settings
        settings.preemptionSeconds, settings.nodeLossSeconds = 5_400, 14_400
        await add_pool(batch, self.names["steady"], nodes=8, start="sleep 45")
        await add_pool(batch, self.names["spot"], nodes=1, spot=8, start="sleep 20")
        await add_pool(batch, self.names["brief"], nodes=4, start="sleep 30; exit 1")
        for name in ("steady", "spot"):
            await add_job(batch, name, pool=self.names[name])

    async def run(self) -> None:
        for minute in range(int(HOURS * 3_600 / POLL)):
            if minute % 25 == 10:
                await self._act(minute)
            if minute == HOURS * 25:
                await self.world.batch.begin_delete_pool(self.names["brief"])
            self.world.advance(POLL)
            await polled(self.world)

    async def _act(self, minute: int) -> None:
        """Does one thing to each pool at a moment between two polls."""
        self.world.advance(self.rng.uniform(1, 40))
        batch, rng, spot = self.world.batch, self.rng, self.names["spot"]
        await add_tasks(batch, 12, job="steady", command=f"sleep {rng.randint(30, 1_500)}", prefix=f"t{minute}")
        await add_tasks(batch, 6, job="spot", command=f"sleep {rng.randint(30, 900)}", prefix=f"t{minute}")
        await self._tried(batch.begin_resize_pool(spot, resize(1, rng.randint(5, 10))))
        nodes = sorted(true_nodes(self.world, self.names["steady"]))
        if minute % 2:
            await self._tried(batch.begin_reboot_node(self.names["steady"], rng.choice(nodes), REBOOT))
        else:
            await self._tried(batch.begin_resize_pool(self.names["steady"], resize(rng.randint(6, 10), 0)))

    async def _tried(self, operation: Any) -> None:
        """Carries out an operation that the pool or node may refuse in its present state."""
        try:
            await operation
        except HttpResponseError as error:
            if error.status_code != CONFLICT:
                raise


@pytest.mark.parametrize("seed", [1])
async def test_hours_of_churn_have_the_seconds_of_the_emulators_own_log(world: World, seed: int) -> None:
    churn = Churn(world, seed)
    await polled(world)
    await churn.begin()
    await churn.run()
    theirs, moved = truth(world, churn.since), changes(world)
    print(f"\n{'pool':8}{'class':17}{'seconds':>11}{'true':>11}{'changes':>9}")
    for name, pool in churn.names.items():
        shown = await cost(world, pool, f"?from={stamp(churn.since)}")
        for kind in ("dedicated", "spot"):
            ours = Counter(shown["nodeSeconds"][kind])
            true = theirs.get((pool, kind == "dedicated"), Counter())
            for one in sorted(ours | true):
                print(f"{name:8}{one:17}{ours[one]:11.1f}{true[one]:11.1f}{moved[pool][one]:9}")
            compare(ours, true, moved[pool])
        assert shown["deleted"] == (name == "brief")


def compare(ours: Seconds, true: Seconds, moved: Counter[str]) -> None:
    """Within 0.5 %, in total and while ready; another class also by half a poll for each time that nodes left it."""
    total = true.total()
    assert abs(ours.total() - total) <= 0.005 * total
    assert ours["unwatched"] <= 0.01 * total
    ready = [sum(one[name] for name in READY) for one in (ours, true)]
    assert abs(ready[0] - ready[1]) <= 0.005 * total
    for name in (ours.keys() | true.keys()) - {*READY, "unwatched"}:
        assert abs(ours[name] - true[name]) <= 0.005 * true[name] + POLL / 2 * moved[name], name


async def test_an_outage_is_unwatched_to_the_second_where_stamps_do_not_bound_it(world: World) -> None:
    pool = f"cost-outage-{world.emulator.epoch}"
    world.emulator.settings.nodeClockSkewSeconds = 0
    await polled(world)
    whole = f"?from={stamp(world.emulator.clock.now)}"  # not only today
    await add_pool(world.batch, pool, nodes=4)
    for _ in range(5):
        world.advance(POLL)
        await polled(world)
    since = world.emulator.clock.now
    same, barred, rebooted, removed = sorted(true_nodes(world, pool))
    world.advance(300)
    await world.batch.disable_node_scheduling(pool, barred, DISABLE)
    world.advance(300)
    await world.batch.begin_reboot_node(pool, rebooted, REBOOT)
    world.advance(300)
    await world.batch.begin_remove_nodes(pool, models.BatchNodeRemoveOptions(node_ids=[removed]))
    world.advance(300)
    nodes, account = true_nodes(world, pool), world.emulator.simulations["demo"].account
    before = Counter((await cost(world, pool, whole))["nodeSeconds"]["dedicated"])
    await polled(world)
    found = Counter((await cost(world, pool, whole))["nodeSeconds"]["dedicated"]) - before
    ready, booted = nodes[rebooted].changed, nodes[rebooted].booted
    assert booted
    ended = account.pools[pool.lower()].allocation_changed
    spans = {
        "unwatched": [300 * SECOND, booted - since, ended - since],
        "starting": [ready - booted],
        "idle": [1_200 * SECOND, since + 1_200 * SECOND - ready],
        "offline": [900 * SECOND],
    }
    assert same in nodes
    assert found == pytest.approx({name: sum(one) / SECOND for name, one in spans.items()}, abs=0.01)


async def test_steps_add_up_and_are_a_table_too(world: World) -> None:
    pool = f"cost-steps-{world.emulator.epoch}"
    await polled(world)
    await add_pool(world.batch, pool, nodes=2, spot=1)
    for _ in range(5):
        world.advance(1_500)
        await polled(world)
    now = datetime.fromisoformat(stamp(world.emulator.clock.now))
    since = (now - timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    whole = await cost(world, pool, f"?from={since}&step=P1D")
    hourly = await cost(world, pool, f"?from={since}")
    assert (hourly["step"], whole["step"], len(whole["value"]), hourly["deleted"]) == ("PT1H", "P1D", 1, False)
    assert 6 <= len(hourly["value"]) <= 7
    assert whole["nodeSeconds"] == hourly["nodeSeconds"] == whole["value"][0]["nodeSeconds"]
    for kind in ("dedicated", "spot"):
        summed = total(step["nodeSeconds"][kind] for step in hourly["value"])
        assert summed == pytest.approx(hourly["nodeSeconds"][kind])
        unbilled = summed["preempted"] + summed["unwatched"]
        assert hourly["billedSeconds"][kind] == pytest.approx(summed.total() - unbilled)
        assert sum(step["billedSeconds"][kind] for step in hourly["value"]) == pytest.approx(
            hourly["billedSeconds"][kind]
        )
    assert datetime.fromisoformat(hourly["asOf"]) <= now
    assert datetime.fromisoformat(hourly["knownSince"]) <= datetime.fromisoformat(hourly["asOf"])
    table = (await world.get(f"accounts/demo/pools/{pool}/cost?from={since}&format=csv")).body
    lines = list(csv.DictReader(io.StringIO(table)))
    assert lines[0].keys() == {"from", "to", "kind", "billingClass", "billed", "seconds"}
    dedicated = [line for line in lines if line["kind"] == "dedicated"]
    assert sum(float(line["seconds"]) for line in dedicated) == pytest.approx(
        sum(hourly["nodeSeconds"]["dedicated"].values())
    )


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("?step=PT30M", "step"),
        ("?step=PT90M", "step"),
        ("?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to"),
        ("?to=2020-01-01T00:00:00Z", "to"),
        ("?groupBy=job", "groupBy"),
    ],
)
async def test_a_range_that_makes_no_sense_is_refused(world: World, query: str, target: str) -> None:
    found = await world.get(f"accounts/demo/pools/none/cost{query}")
    assert (found.status, found.body["error"]["target"]) == (400, target)


def total(many: Iterable[dict[str, float]]) -> Seconds:
    found: Seconds = Counter()
    for one in many:
        found.update(one)
    return found
