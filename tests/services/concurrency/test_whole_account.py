"""Random histories of a whole account with two or three hosts that poll concurrently.

No claim mixes incarnations, no `asOf` goes back, and lists and counts agree wherever a report says `exact`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from shared.domain.jobs.snapshots import JobSnapshot
from shared.errors import BatchUnreachableError
from shared.services.pools import pool_rounds
from shared.services.reading.incarnation import Incarnation
from tests.profiles import deep_examples, nightly
from tests.services.concurrency.whole_account import Visit, WholeAccount, sources_of
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import ACTIVE, COMPLETED, RUNNING
from tests.services.mutants.mutants import confirmed_in_its_own_version, nobody_asks
from tests.services.worlds.world import SECOND

JOBS, POOLS, SCHEDULES = ("Render", "nightly:job-1"), ("Alpha", "Beta"), ("nightly", "weekly")
type Script = Sequence[tuple[float, tuple[Visit, ...], Sequence[tuple[float, str, int, int]]]]
AHEAD = ((0, 0, 0), (0, 600, -600), (3600, 0, -3600))

faults = st.none() | st.builds(Fault, call=st.integers(1, 40), committed=st.booleans(), kills=st.booleans())
visits = st.builds(
    Visit,
    delay=st.sampled_from([0, 0, 3, 11, 31]),
    takes=st.sampled_from([0, 0.5, 2, 5]),
    stores=st.sampled_from([0, 0, 0.3, 4]),
    fault=st.none() | faults,
)
happenings = st.tuples(
    st.floats(0, 60, allow_nan=False).map(lambda moment: round(moment, 1)),
    st.sampled_from(
        sorted(
            ["job anew", "task", "tasks", "end", "pool anew", "node", "nodes", "schedule anew", "schedule", "refused"]
        )
    ),
    st.integers(0, 1),
    st.integers(0, 3),
)
storms = st.tuples(st.sampled_from([1, 31, 61]), st.tuples(visits, visits, visits), st.lists(happenings, max_size=5))
scripts = st.lists(storms, min_size=1, max_size=6)


def job_anew(world: WholeAccount, which: int, tasks: int) -> None:
    """Deletes and immediately re-creates a job, with some of its previous tasks and one new task."""
    now, name = world.now(), JOBS[which]
    before = world.truth.at(name, now)
    if before and before.created < now:
        before.deleted = now
    if before is None or before.deleted:
        anew = world.truth.create(name, now)
        for task in [*list(before.tasks if before else ())[:tasks], f"own-{now:%H%M%S%f}"][: tasks + tasks % 2]:
            anew.add(task, now)


def task(world: WholeAccount, which: int, number: int) -> None:
    job = world.truth.at(JOBS[which], world.now())
    if job and job.tasks and not job.completed:
        name = list(job.tasks)[number % len(job.tasks)]
        state = (ACTIVE, RUNNING, COMPLETED, COMPLETED)[number]
        job.change(name, state, at=world.now(), lag=number * SECOND, skew=timedelta(), code=number % 2)


def tasks(world: WholeAccount, which: int, number: int) -> None:
    job = world.truth.at(JOBS[which], world.now())
    for each in range(number if job and not job.completed else 0):
        assert job
        job.add(f"task-{each}-{world.now():%H%M%S%f}", world.now())


def end(world: WholeAccount, which: int, number: int) -> None:
    job = world.truth.at(JOBS[which], world.now())
    if job and not job.completed and job.created < world.now():
        job.complete(world.now(), lag=number * SECOND)


def pool_anew(world: WholeAccount, which: int, nodes: int) -> None:
    now = world.now()
    before = next((pool for pool in world.pools.service.there(now) if pool.id == POOLS[which]), None)
    if before and before.created < now:
        before.deleted = now
    if before is None or before.deleted:
        world.pools.create(POOLS[which], nodes)


def nodes(world: WholeAccount, which: int, number: int) -> None:
    """Adds or removes one node."""
    for pool in world.pools.service.there(world.now()):
        names = sorted(pool.at(world.now()))
        if pool.id == POOLS[which] and number % 2 and names:
            world.pools.remove_node(pool, names[number % len(names)])
        elif pool.id == POOLS[which]:
            world.pools.add_node(pool)


def node(world: WholeAccount, which: int, number: int) -> None:
    for pool in world.pools.service.there(world.now()):
        names = sorted(pool.at(world.now()))
        if pool.id == POOLS[which] and names:
            state = ("idle", "running", "preempted", "running")[number]
            world.pools.change_node(pool, names[number % len(names)], state, slots=number if state == "running" else 0)


def schedule_anew(world: WholeAccount, which: int, _number: int) -> None:
    world.schedules.delete(SCHEDULES[which])
    world.schedules.create(SCHEDULES[which])


def schedule(world: WholeAccount, which: int, number: int) -> None:
    if SCHEDULES[which] in world.schedules.service.there:
        world.schedules.change(SCHEDULES[which], state=("active", "disabled")[number % 2])


def refused(world: WholeAccount, which: int, number: int) -> None:
    """Makes Batch fail one kind of request for a while."""
    refusals, request = (
        (world.pools.service.refusals, "pools"),
        (world.pools.service.refusals, f"pools/{POOLS[which]}/nodes"),
        (world.schedules.service.refusals, "list"),
        (world.schedules.service.refusals, f"get {SCHEDULES[which]}"),
    )[number]
    refusals[request] = BatchUnreachableError("http://127.0.0.1:1", "no answer")
    world.loop.call_later(20 * (1 + which), refusals.pop, request, None)


def nobody_is_another(*_: object) -> bool:
    """Replaces the check of which incarnation owns the tasks or nodes."""
    return False


HAPPENINGS: Mapping[str, Callable[[WholeAccount, int, int], None]] = {
    "job anew": job_anew,
    "task": task,
    "tasks": tasks,
    "end": end,
    "pool anew": pool_anew,
    "nodes": nodes,
    "node": node,
    "schedule anew": schedule_anew,
    "schedule": schedule,
    "refused": refused,
}


def play(hosts: int, ahead: Sequence[int], short_read: int, script: Script) -> None:
    world = WholeAccount()
    try:
        world.service.short_read = short_read
        world.set_clocks(*(seconds * SECOND for seconds in ahead[:hosts]))
        for which, begin in product((0, 1), (job_anew, pool_anew, schedule_anew)):
            begin(world, which, 2)
        for wait, all_visits, meanwhile in script:
            world.wait(wait)
            for moment, kind, which, number in meanwhile:
                world.loop.call_later(moment, partial(HAPPENINGS[kind], world, which, number))
            world.visit(all_visits[:hosts])
            world.deliver()
            world.check_all()
        world.wait(60)
        world.come_to_rest()
    finally:
        world.close()


BUGS: tuple[tuple[object, str, object], ...] = (
    (Incarnation, "confirm", nobody_asks),
    (pool_rounds, "may_be_anothers", nobody_is_another),
    (JobSnapshot, "confirmed", confirmed_in_its_own_version),
)

histories = given(
    hosts=st.sampled_from([2, 3, 3]),
    ahead=st.sampled_from(AHEAD),
    short_read=st.sampled_from([3, 20_000, 20_000]),
    script=scripts,
)


@settings(max_examples=deep_examples() // 4)
@histories
def test_claims_of_several_hosts_about_an_account_are_always_true(
    hosts: int, ahead: Sequence[int], short_read: int, script: Script
) -> None:
    play(hosts, ahead, short_read, script)


@nightly
@pytest.mark.parametrize(("place", "name", "bug"), BUGS, ids=[name for _, name, _ in BUGS])
def test_random_histories_of_an_account_show_a_planted_bug(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, bug: object
) -> None:
    monkeypatch.setattr(place, name, bug)
    search = settings(max_examples=2000, phases=[Phase.generate], derandomize=True, database=None, deadline=None)
    with pytest.raises(AssertionError):
        search(histories(play))()


def test_a_round_of_an_account_in_which_nothing_changes_asks_for_each_thing_once() -> None:
    """One list each of jobs, pools, node counts and schedules, and one request for each job and pool."""
    world = WholeAccount()
    try:
        world.create("Render", "a", "b")
        world.create("Encode", "a")
        world.pools.create("Alpha", 2)
        world.schedules.create("nightly")
        for _ in range(3):
            world.wait(61)
            world.poll()
        asked = [requests(world) for _ in range(2)]
        beside = ["pools", "nodecounts", "pools/Alpha/changes", "list"]
        counts, changes = (
            ["jobs", f"jobs/Encode/{resource}", f"jobs/Render/{resource}"] for resource in ("counts", "tasks")
        )
        assert [sorted(one) for one in asked] == [sorted(counts + beside), sorted(changes + beside)]
    finally:
        world.close()


def requests(world: WholeAccount) -> list[str]:
    """Returns the requests to Batch in the first host's next round."""
    sources = sources_of(world.processes[0])
    for source in sources:
        source.requests.clear()
    world.wait(61)
    world.poll()
    return [request for source in sources for request in source.requests]
