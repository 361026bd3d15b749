"""Blobs with more concurrent tasks or nodes as writers than can be kept apart."""

import json
import random
from collections.abc import Callable, Iterable, Iterator

import pytest
from msgspec.structs import replace

from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.folding import LEFT_TO_NODES, MAX_BLOB_SERIES, MAX_SERIES
from shared.domain.telemetry.sessions.blob_state import IngestResult, State
from shared.domain.telemetry.sessions.intake import Intake
from shared.domain.telemetry.sessions.sessions import MAX_NODES, MAX_TASKS
from tests.domain.telemetry.support.nodes import BEGIN, at, counted, flat, intake, once, step, taken, used
from tests.profiles import share_of


def grown(found: IngestResult) -> float:
    return sum(one.sum for part in found.rollups.values() for one in flat(part).values())


@pytest.mark.parametrize("singly", [False, True])
def test_of_very_many_tasks_at_a_time_the_samples_of_the_last_are_left_out(*, singly: bool) -> None:
    tasks = range(MAX_TASKS + 3)
    lines = [used(second + task / 100, f"node_id=n,task_id={task}") for second in (1, 2) for task in tasks]
    lines += [used(second, "node_id=n") for second in (1, 2)]
    expected = {Identity(node="n", task=str(task)): 2 for task in range(MAX_TASKS)} | {Identity(node="n"): 2}
    assert counted(lines, singly=singly) == expected
    found = taken(*lines)
    assert (found.dropped.records, found.dropped.of_too_many_tasks, found.dropped.of_too_many_nodes) == (
        len(lines),
        6,
        0,
    )


def test_startup_records_of_the_last_of_many_tasks_add_nothing_to_its_node() -> None:
    node, tags = {"node_id": "n"}, {"node_id": "n", "task_id": "last"}
    tasks = [used(1, f"node_id=n,task_id={task}") for task in range(MAX_TASKS)]
    own = [once("exec.env", 2, tags, key="AZ_BATCH_TASK_ID", value="last"), once("linux_boot", 2, tags)]
    own.append(once("vm_lscpu_metadata", 2, tags, CPUs="2"))
    last = used(3, "node_id=n,task_id=last")
    found = taken(once("linux_boot", 0, node), *tasks, used(1, "node_id=n"), *own, *tasks, last)
    assert [session.identity.task for session in found.sessions.values()] == ["", *map(str, range(MAX_TASKS))]
    assert {session.facts.cpu_count for session in found.sessions.values()} == {None}
    assert found.dropped.of_too_many_tasks == len([*own, last])


def test_a_record_of_one_task_too_many_is_counted_as_such() -> None:
    tasks = [used(1, f"host=h,task_id={task}") for task in range(MAX_TASKS)]
    tags = {"host": "h", "task_id": "x", "interface": "e"}
    found = taken(*tasks, Metric("net", tags, {"bytes_sent": 1}, None))
    assert (found.dropped.without_time, found.dropped.of_too_many_tasks) == (0, 1)


@pytest.mark.parametrize("every", [60, 180, 250])
def test_tasks_that_are_heard_of_rarely_do_not_displace_each_other_in_turn(every: int) -> None:
    tasks, rounds = MAX_TASKS + 1, 20
    found = taken(*(
        at(number * every + task * every / tasks, f"net,host=h,task_id=t{task},interface=e bytes_sent={number}i")
        for number in range(rounds) for task in range(tasks)
    ))  # fmt: skip
    assert grown(found) == MAX_TASKS * (rounds - 1)
    assert len(found.sessions) == MAX_TASKS
    assert found.dropped.of_too_many_tasks >= rounds - 1


def _batches(tasks: int, seconds: int, batches: int) -> bytes:
    """Returns batches of `seconds` each, in which the order of tasks varies."""
    chance = random.Random(tasks)  # noqa: S311 - made up the same way each time
    lines = []
    for batch in range(batches):
        records = [
            {"name": "net", "tags": {"host": "h", "task_id": f"t{task}", "interface": "e"},
             "fields": {"bytes_sent": 1000 * task + second}, "timestamp": BEGIN // 10**9 + second}
            for second in range(batch * seconds, (batch + 1) * seconds, 10)
            for task in chance.sample(range(tasks), tasks)
        ]  # fmt: skip
        lines.append(json.dumps({"metrics": records}))
    return "\n".join([*lines, ""]).encode()


_LENGTHS = ((60, 10), (160, 5), (300, 3))  # longer together than tasks are quiet
_TASKS = (MAX_TASKS, MAX_TASKS + 1, MAX_TASKS + 4)


@pytest.mark.parametrize(
    ("tasks", "seconds", "batches"), share_of([(tasks, *length) for tasks in _TASKS for length in _LENGTHS], 4)
)
def test_no_task_is_quiet_while_a_batch_is_read_that_holds_its_samples(tasks: int, seconds: int, batches: int) -> None:
    whole = batches * seconds - 10
    for together in (False, True):
        reader, found = intake(), IngestResult(0)
        for part in Decoder(together=together).steps(_batches(tasks, seconds, batches), 0):
            reader.gather(part, found)
        reader.sum_up(found)
        left_out = (tasks - MAX_TASKS) * batches * seconds // 10
        assert (reader.state.sessions.begun, grown(found)) == (MAX_TASKS, MAX_TASKS * whole)
        assert found.dropped.of_too_many_tasks == left_out


def _of_nodes_that_were_above_tasks() -> Iterator[Metric]:
    yield used(0, "host=a")
    yield used(100, "host=a,task_id=a")
    yield from (used(150, f"host=b{number}") for number in range(MAX_NODES - 2))
    yield used(200, "host=x")
    yield used(260, "host=b0,task_id=y")
    yield used(310, "host=x")


def _of_a_stamp_from_before() -> Iterator[Metric]:
    yield from (used(1, f"host=h,task_id=t{task}") for task in range(MAX_TASKS))
    yield used(400, "host=h,task_id=t0")
    yield used(1.5, "host=h,task_id=t0")
    yield from (used(300, f"host=h,task_id=t{task}") for task in range(1, MAX_TASKS))
    yield used(420, "host=h,task_id=new")


@pytest.mark.parametrize("lines", [_of_nodes_that_were_above_tasks, _of_a_stamp_from_before])
def test_who_makes_room_does_not_depend_on_how_much_is_read_at_once(lines: Callable[[], Iterable[Metric]]) -> None:
    assert counted(lines()) == counted(lines(), singly=True)


def test_samples_of_one_task_too_many_are_not_of_the_task_in_the_blobs_name() -> None:
    named = Identity("p", "", "j", "t1", "1")
    lines = [used(1 + task / 100, f"node_id=n,task_id=k{task}") for task in range(MAX_TASKS + 2)]
    assert {whose.task for whose in counted(lines, named)} == {f"k{task}" for task in range(MAX_TASKS)}
    assert intake(named).take(step(lines)).dropped.of_too_many_tasks == 2


def test_a_sample_of_a_task_on_one_node_too_many_is_counted_as_such() -> None:
    nodes = [used(1, f"node_id=n{number}") for number in range(MAX_NODES)]
    found = taken(*nodes, used(2, "node_id=x,task_id=t"))
    assert (found.dropped.of_too_many_nodes, found.dropped.of_too_many_tasks) == (0, 1)


def test_growth_of_the_largest_counters_does_not_depend_on_how_much_is_read_at_once() -> None:
    lines = [at(second, f"net,interface=e bytes_sent={2**53 + second}i") for second in range(1, 5)]
    reader, growth = intake(), 0
    for line in lines:
        found = reader.take(step([line]))
        growth += round(grown(found))
        reader = intake(state=State.unpack(reader.state.pack()))
    assert growth == grown(taken(*lines)) == 3


@pytest.mark.parametrize("singly", [False, True])
def test_tasks_that_have_ended_make_room_at_once_so_that_many_short_ones_all_count(*, singly: bool) -> None:
    tasks = range(MAX_TASKS + 60)
    lines = []
    for task in tasks:
        tags = f"node_id=n,job_id=j,task_id={task},task_attempt={task}"
        lines += [
            at(task, f"batchscope_task,{tags} memory_rss=1i"),
            at(task, f"batchscope_task_attempt,{tags},cpu_time_from=samples duration=1,memory_peak=1i"),
        ]
    expected = {Identity(node="n", job="j", task=str(task), attempt=str(task)): 3 for task in tasks}
    assert counted(lines, singly=singly) == expected


@pytest.mark.parametrize("singly", [False, True])
def test_an_ended_task_makes_room_also_where_another_found_none_before(*, singly: bool) -> None:
    lines = [at(1, f"mem,node_id=n,task_id=r{task} used=1i") for task in range(MAX_TASKS)]
    lines += [
        at(2, "mem,node_id=n,task_id=early used=1i"),
        at(3, "batchscope_task_attempt,node_id=n,task_id=r0 memory_peak=1i"),
    ]
    lines += [at(4, "mem,node_id=n,task_id=next used=1i")]
    tasks = {whose.task for whose in counted(lines, singly=singly)}
    assert ("early" in tasks, "next" in tasks) == (False, True)


@pytest.mark.parametrize("singly", [False, True])
def test_a_task_that_goes_on_behind_the_end_of_an_attempt_keeps_its_room(*, singly: bool) -> None:
    lines = [at(1, f"mem,node_id=n,task_id=r{task} used=1i") for task in range(MAX_TASKS)]
    lines.append(at(2, "batchscope_task_attempt,node_id=n,task_id=r0 memory_peak=1i"))
    lines.append(at(3, "mem,node_id=n,task_id=r0 used=1i"))
    lines += [at(4, "mem,node_id=n,task_id=next used=1i")]
    assert "next" not in {whose.task for whose in counted(lines, singly=singly)}


def test_a_task_that_still_runs_does_not_make_room_for_one_that_ended() -> None:
    running = [at(1, f"mem,node_id=n,task_id=r{task} used=1i") for task in range(MAX_TASKS)]
    late = at(2, "batchscope_task_attempt,node_id=n,job_id=j,task_id=late,task_attempt=1 duration=1")
    assert taken(*running, late).dropped.of_too_many_tasks == 1


def _drops(second: float, tags: str) -> list[Metric]:
    """Returns as many series as a node or task has at most."""
    one = at(second, f"net,{tags},interface=e drop_in=1i")
    return [replace(one, tags={**one.tags, "interface": f"e{number}"}) for number in range(MAX_SERIES)]


def _series(reader: Intake) -> list[int]:
    """Returns the numbers of series of a blob's sessions, by the order in which these began."""
    return [reader.state.memories[session.number].count for session in reader.state.sessions.current.values()]


@pytest.mark.parametrize("singly", share_of([True, False], 2))
def test_series_of_very_many_tasks_are_bounded_together_and_leave_room_for_their_node(*, singly: bool) -> None:
    whole = (MAX_BLOB_SERIES - LEFT_TO_NODES) // MAX_SERIES
    parts = [*(_drops(1, f"node_id=n,task_id={task}") for task in range(whole + 3)), _drops(2, "node_id=n")]
    reader, beyond = intake(), 0
    for some in parts if singly else [[metric for part in parts for metric in part]]:
        beyond += reader.take(step(some)).dropped.beyond_limit
        reader = intake(state=State.unpack(reader.state.pack()))
    assert sorted(_series(reader)) == [0] * 3 + [MAX_SERIES] * (whole + 1)
    assert beyond == 3 * MAX_SERIES
    assert len(reader.state.pack()) < 30 * MAX_BLOB_SERIES


def test_a_quiet_task_makes_room_for_series_of_another() -> None:
    whole = (MAX_BLOB_SERIES - LEFT_TO_NODES) // MAX_SERIES
    reader = intake()
    reader.take(step([metric for task in range(whole) for metric in _drops(task, f"node_id=n,task_id={task}")]))
    early = reader.take(step(_drops(200, "node_id=n,task_id=early")))
    late = reader.take(step(_drops(310, "node_id=n,task_id=late")))
    assert (early.dropped.beyond_limit, late.dropped.beyond_limit) == (MAX_SERIES, 0)
    assert sum(_series(reader)) == whole * MAX_SERIES
