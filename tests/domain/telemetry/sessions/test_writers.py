"""The writer of each record in a shared blob: nodes, their tasks and attempts, and startup records."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.query.task_runs import TaskAffinity, attempts_of, tie_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.sessions.blob_state import IngestResult, State
from shared.domain.telemetry.sessions.sessions import MAX_NODES, MAX_SESSIONS, MAX_TASKS
from tests.domain.telemetry.support.nodes import (
    BEGIN,
    SECOND,
    at,
    counted,
    flat,
    intake,
    once,
    step,
    taken,
    used,
    variable,
)

TASKS = {"t1": range(5), "t2": range(5, 10)}


@pytest.mark.parametrize("order", [lambda second: second, lambda second: second * 5 % 9])
def test_tasks_that_differ_only_by_tags_are_kept_apart(order: Callable[[int], int]) -> None:
    lines = [used(second, f"job_id=j,task_id={task}") for task, times in TASKS.items() for second in times]
    lines = [lines[place] for place in sorted(range(10), key=order)]
    expected = {Identity(job="j", task="t1"): 5, Identity(job="j", task="t2"): 5}
    for singly in (False, True):
        found = counted(lines, singly=singly)
        assert found == expected
        for task in TASKS:
            own = [whose for whose in found if tie_of(whose, "j", task) is TaskAffinity.TASK]
            assert own == [Identity(job="j", task=task)]


def test_attempts_that_differ_only_by_tags_are_kept_apart() -> None:
    found = counted(used(second, f"task_id=t,task_attempt={second // 5 + 1}") for second in range(10))
    assert found == {Identity(task="t", attempt="1"): 5, Identity(task="t", attempt="2"): 5}
    assert attempts_of(found) == ["1", "2"]


def test_records_of_several_tasks_in_one_batch_are_kept_apart() -> None:
    records = ",".join(
        f'{{"name":"mem","tags":{{"task_id":"t{number % 2}"}},"fields":{{"used":1}},"timestamp":{1713204200 + number}}}'
        for number in range(8)
    )
    (batch,) = Decoder(together=True).steps(f'{{"metrics":[{records}]}}\n'.encode(), 0)
    assert batch.bundles
    found = intake().take(batch)
    assert {session.identity.task for session in found.sessions.values()} == {"t0", "t1"}
    assert [one.count for part in found.rollups.values() for one in flat(part).values()] == [4, 4]


def test_counters_of_tasks_are_read_apart() -> None:
    lines = [at(second, f"net,interface=e,task_id=t{second % 2} bytes_sent={1000 * (second % 2) + second}i")
             for second in range(6)]  # fmt: skip
    found = taken(*lines)
    assert ([one.sum for part in found.rollups.values() for one in flat(part).values()], found.dropped.late) == (
        [4, 4],
        0,
    )


def test_a_tasks_records_have_the_facts_of_its_node() -> None:
    lines = [once("batch_agent_data", batch_vm_name="n1", batch_pool_name="p"), once("vm_lscpu_metadata", CPUs="2"),
             used(5, "task_id=t1"), used(6, "task_id=t2"), at(7, "mem used=1")]  # fmt: skip
    found = taken(*lines).sessions
    assert [session.identity for session in found.values()] == [
        Identity("p", "n1"), Identity("p", "n1", task="t1"), Identity("p", "n1", task="t2"),
    ]  # fmt: skip
    assert {session.facts.cpu_count for session in found.values()} == {2}


def test_a_nodes_next_session_ends_those_of_its_tasks() -> None:
    def batch(second: float, node: str) -> list[Metric]:
        return [once("batch_agent_data", second, batch_vm_name=node), used(second + 5, "task_id=t")]

    found = counted([*batch(0, "n1"), *batch(100, "n2")])
    assert found == {Identity(node="n1", task="t"): 1, Identity(node="n2", task="t"): 1}


@pytest.mark.parametrize("tag", ["node_id", "host"])
def test_sessions_of_tasks_end_with_that_of_their_node(tag: str) -> None:
    lines = list[Metric]()
    for start in range(20):
        second, tags = 100 * start, {tag: "n"}
        lines += [once("batch_agent_data", second, tags, batch_pool_name="p"),
                  once("vm_lscpu_metadata", second, tags, CPUs=start)]  # fmt: skip
        lines += [used(second + 1, f"{tag}=n,job_id=j,task_id=t{task}") for task in range(8)]
    sessions = [session for session in taken(*lines).sessions.values() if session.identity.task]
    node = "n" if tag == "node_id" else ""
    assert [(session.identity, session.facts.cpu_count) for session in sessions] == [
        (Identity("p", node, "j", f"t{task}"), start) for start in range(20) for task in range(8)
    ]


def test_a_task_of_the_same_name_is_another_if_its_node_has_another_job_or_name() -> None:
    def batch(second: float, name: str, value: str) -> list[Metric]:
        sent = once("exec.env", second, {"host": "h"}, key=name, value=value)
        return [sent, used(second + 4, "host=h"), used(second + 5, "host=h,task_id=t")]

    for name, part in (("AZ_BATCH_JOB_ID", "job"), ("AZ_BATCH_NODE_ID", "node")):
        found = counted([*batch(0, name, "a"), *batch(100, name, "b")])
        expected = {Identity(**{"node": "h", "task": "t", part: sent}): 1 for sent in ("a", "b")}
        assert {whose: values for whose, values in found.items() if whose.task} == expected


def test_a_tasks_own_opening_begins_its_next_session() -> None:
    tags = {"node_id": "n", "task_id": "t"}
    lines = [line for second in (0, 100, 200) for line in (
        once("linux_boot", second, {"node_id": "n"}), once("linux_boot", second, tags),
        used(second + 5, "node_id=n,task_id=t"), used(second + 6, "node_id=n"),
    )]  # fmt: skip
    assert [session.identity.task for session in taken(*lines).sessions.values()] == ["", "t"] * 3


def test_samples_of_a_task_are_left_out_where_the_blob_may_have_no_more_tasks() -> None:
    reader = intake()
    reader.take(step([used(1, "node_id=n,task_id=first")]))
    reader.state.sessions.begun = MAX_SESSIONS - 1
    found = reader.take(step(used(1000 * second, f"node_id=n,task_id={second}") for second in range(1, 9)))
    assert (found.rollups, found.dropped.of_too_many_tasks) == ({}, 8)


@pytest.mark.parametrize("singly", [False, True])
def test_tasks_that_follow_each_other_make_room(*, singly: bool) -> None:
    tasks = range(MAX_TASKS + 40 if singly else 3 * MAX_TASKS)
    lines = [used(60 * task + second, f"host=h,task_id={task}") for task in tasks for second in (1, 2)]
    assert counted(lines, singly=singly) == {Identity(node="h", task=str(task)): 2 for task in tasks}


def test_no_session_makes_room_where_the_blob_may_have_no_more() -> None:
    reader, tasks = intake(), range(MAX_TASKS)
    reader.take(step(used(1, f"node_id=n,task_id={task}") for task in tasks))
    reader.state.sessions.begun = MAX_SESSIONS
    reader.take(step([used(1000, "node_id=n,task_id=next")]))
    assert [session.identity.task for session in reader.state.sessions.current.values()] == [
        str(task) for task in tasks
    ]
    reader.take(step([once("linux_boot", 2000, {"node_id": "n", "task_id": "0"})]))
    state = reader.state.sessions
    assert set(state.latest) == {session.number for session in state.current.values()} == set(tasks) - {0}


def test_sessions_without_a_known_last_sample_are_not_quiet() -> None:
    reader = intake()
    reader.take(step(used(1, f"node_id=n,task_id={task}") for task in range(MAX_TASKS)))
    reader.state.sessions.latest.clear()
    before = dict(reader.state.sessions.current)
    reader.take(step([used(1000, "node_id=n,task_id=next")]))
    assert before.keys() <= reader.state.sessions.current.keys()
    reader.take(step([used(1400, "node_id=n,task_id=next")]))
    assert not before.keys() <= reader.state.sessions.current.keys()


def test_records_wait_to_be_summed_up_while_tasks_find_no_room() -> None:
    reader, found = intake(), IngestResult(0)
    reader.gather(step(used(1, f"node_id=n{node}") for node in range(MAX_NODES)), found)
    tasks = [used(2 + second, "node_id=n0,task_id=t") for second in range(5)]
    both = [one for task in tasks for one in (task, used(2, "node_id=n0"))]
    reader.gather(step(both), found)
    assert reader.gathered_values == len(tasks)
    reader.sum_up(found)
    assert sum(one.count for part in found.rollups.values() for one in flat(part).values()) == MAX_NODES + len(tasks)


def test_a_host_has_the_untagged_facts_right_before_it() -> None:
    path = Identity(job="j", task="t", attempt="1")
    agent = once("batch_agent_data", batch_vm_name="n1", batch_pool_name="p")
    own = Identity("p", "n1", "j", "t", "1")
    assert counted([agent, used(5, "host=h"), used(6, "host=h")], path) == {own: 2}
    of_host = once("mem", 0, {"host": "h"}, used=1)
    lines = [once("vm_lscpu_metadata", CPUs="2"), of_host, agent, used(5, "host=h")]
    assert counted(lines, path) == {own: 2}
    assert {session.facts.cpu_count for session in taken(*lines).sessions.values()} == {2}
    assert counted([agent, used(5, "host=h,task_id=x")]) == {Identity("p", "n1", task="x"): 1}


def test_a_host_that_tries_again_elsewhere_is_another_node() -> None:
    def batch(second: float, node: int) -> list[Metric]:
        return [once("batch_agent_data", second, batch_vm_name=f"n{node}"), used(second + 5, f"host=h{node}")]

    assert counted([*batch(0, 1), *batch(100, 2)]) == {Identity(node="n1"): 1, Identity(node="n2"): 1}


@pytest.mark.parametrize("singly", [False, True])
@pytest.mark.parametrize("tags", ["host=w", "host=w,task_id=t"])
def test_a_host_of_the_same_name_is_of_the_agent_that_began_last(tags: str, *, singly: bool) -> None:
    nodes = [[once("batch_agent_data", 100 * node, batch_vm_name=f"n{node}"),
              used(100 * node + 5, tags), used(100 * node + 6, tags)] for node in (1, 2, 3)]  # fmt: skip
    task = "t" if "task" in tags else ""
    expected = {Identity(node=f"n{node}", task=task): 2 for node in (1, 2, 3)}
    assert counted([line for lines in nodes for line in lines], singly=singly) == expected


def test_a_host_of_the_same_name_is_of_the_task_that_began_last() -> None:
    def batch(second: float, task: str) -> list[Metric]:
        opening = [variable("AZ_BATCH_JOB_ID", "j", second), variable("AZ_BATCH_TASK_ID", task, second)]
        return [*opening, used(second + 5, "host=w"), used(second + 6, "host=w")]

    found = counted([*batch(0, "t1"), *batch(100, "t2")])
    assert found == {Identity(node="w", job="j", task=task): 2 for task in ("t1", "t2")}


def test_of_several_hosts_untagged_facts_are_of_the_first_that_follows() -> None:
    def batch(node: int) -> list[Metric]:
        opening = once("batch_agent_data", 100 * node, batch_vm_name=f"n{node}")
        return [opening, used(100 * node + 5, "host=a"), used(100 * node + 6, "host=b")]

    assert counted([*batch(1), *batch(2)]) == {
        Identity(node="n1"): 1, Identity(node="n2"): 1, Identity(node="b"): 2,
    }  # fmt: skip
    untagged = [once("batch_agent_data", 1, batch_vm_name="n1"), at(3, "mem used=1"), used(5, "host=a")]
    assert counted(untagged) == {Identity(node="n1"): 1, Identity(node="a"): 1}


def opening(second: float, node: int) -> list[Metric]:
    """Returns the startup records of a TES agent in order: facts before the environment, and that before the rest."""
    variables = {"POOL": "p", "NODE": f"n{node}", "JOB": "j", "TASK": "t"}
    return [
        once("exec.lsblk", second, name="sda", type="disk", size=node),
        once("exec.lsblk", second, name="sda1", type="part", size=node),
        once("exec.lsblk", second, name="sdb", type="disk", size=node),
        *(variable(f"AZ_BATCH_{name}_ID", value, second) for name, value in variables.items()),
        once("imds_metadata", second + 0.1, vm_size=f"D{node}"), once("linux_boot", second + 0.1),
        once("batch_agent_data", second + 0.1, batch_vm_name=f"n{node}"), once("mem", second + 0.2, used=1),
    ]  # fmt: skip


@pytest.mark.parametrize("singly", [False, True])
@pytest.mark.parametrize("tags", [{}, {"host": "h"}])
def test_an_agent_that_sent_no_samples_is_none_that_comes_after_it(tags: dict[str, str], *, singly: bool) -> None:
    path, node = Identity(job="flow", task="align", attempt="1"), Identity("p", job="j", task="t", attempt="1")
    lines = [*opening(0, 1), *opening(60, 2), at(70, "mem used=2"), at(80, "mem used=2")]
    lines = [Metric(one.name, one.tags | tags, one.fields, one.time) for one in lines]
    assert counted(lines, path, singly=singly) == {replace(node, node="n1"): 1, replace(node, node="n2"): 3}
    facts = [session.facts for session in taken(*lines).sessions.values()]
    assert [(one.vm_size, [disk.size for disk in one.disks]) for one in facts] == [("D1", [1, 1]), ("D2", [2, 2])]


@pytest.mark.parametrize("singly", [False, True])
def test_samples_of_a_task_follow_the_facts_above_its_host_too(*, singly: bool) -> None:
    def batch(second: float, node: int) -> list[Metric]:
        agent = once("batch_agent_data", second, batch_vm_name=f"n{node}")
        startup = [once("vm_lscpu_metadata", second, CPUs=node), agent, once("mem", second, {"host": "h"}, used=1)]
        return [*startup, used(second + 5, "host=h,task_id=t"), used(second + 6, "host=h,task_id=t")]

    lines, nodes = [*batch(0, 1), *batch(100, 2)], ("n1", "n2")
    expected = {Identity(node=node, task=task): values for node in nodes for task, values in (("", 1), ("t", 2))}
    assert counted(lines, singly=singly) == expected
    facts = {(session.whose.node, session.facts.cpu_count) for session in taken(*lines).sessions.values()}
    assert facts == {("n1", 1), ("n2", 2)}


@pytest.mark.parametrize("singly", [False, True])
@pytest.mark.parametrize("task", ["", "t"])
@pytest.mark.parametrize("first", [1, 2])
def test_samples_behind_the_next_agents_startup_records_are_that_agents(first: int, task: str, *, singly: bool) -> None:
    tags, other = ",task_id=t" if task else "", 3 - first
    lines = [once("batch_agent_data", batch_vm_name="n1", batch_pool_name="p"), used(5, f"host=h1{tags}"),
             once("batch_agent_data", 100, batch_vm_name="n2", batch_pool_name="q")]  # fmt: skip
    lines += [used(101 + place, f"host=h{host}{tags}") for place, host in enumerate((first, other, first))]
    assert counted(lines, singly=singly) == {
        Identity("p", "n1", task=task): 1, Identity("q", "n2", task=task): 2, Identity("", f"h{other}", task=task): 1,
    }  # fmt: skip


def test_a_host_of_the_same_name_stays_the_next_agents_where_others_come_much_later() -> None:
    lines = [once("batch_agent_data", batch_vm_name="n1"), used(5, "host=w"),
             once("batch_agent_data", 100, batch_vm_name="n2"), used(105, "host=w"), used(900, "host=x")]  # fmt: skip
    assert counted(lines) == {Identity(node=node): 1 for node in ("n1", "n2", "x")}


def test_a_host_with_a_startup_record_after_an_agent_is_that_agents() -> None:
    def batch(node: int, host: str) -> list[Metric]:
        agent = once("batch_agent_data", 100 * node, batch_vm_name=f"n{node}")
        return [agent, once("mem", 100 * node, {"host": host}), used(100 * node + 5, f"host={host}")]

    assert counted([*batch(1, "w"), *batch(2, "w"), used(210, "host=x")]) == {
        Identity(node=node): 1 for node in ("n1", "n2", "x")
    }


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("task_id=t2", Identity(job="j1", task="t2")),
        ("job_id=j2", Identity(job="j2")),
        ("job_id=j2,task_id=t1", Identity(job="j2", task="t1")),
        ("job_id=J1,task_id=T1", Identity(job="J1", task="T1", attempt="1")),
        ("task_attempt=2", Identity(job="j1", task="t1", attempt="2")),
        ("task_id=t2,task_attempt=3", Identity(job="j1", task="t2", attempt="3")),
        ("host=h,task_id=t2", Identity(node="h", job="j1", task="t2")),
        ("node_id=n", Identity(node="n", job="j1", task="t1", attempt="1")),
    ],
)
def test_a_task_that_tags_name_has_no_part_of_another_that_the_path_names(tags: str, expected: Identity) -> None:
    path = Identity(job="j1", task="t1", attempt="1")
    for singly in (False, True):
        assert counted([used(1, tags), used(2, tags)], path, singly=singly) == {expected: 2}


@pytest.mark.parametrize("singly", [False, True])
def test_a_task_has_no_identity_of_another_by_facts_above_it(*, singly: bool) -> None:
    lines = [once("vm_lscpu_metadata", CPUs="2"), once("mem", 0, {"task_id": "t2"}, used=1),
             once("batch_agent_data", batch_pool_name="p"), used(1, "task_id=t2")]  # fmt: skip
    found = counted(lines, Identity(job="j1", task="t1", attempt="1"), singly=singly)
    assert found == {Identity("p", job="j1", task="t2"): 2}


@pytest.mark.parametrize("singly", [False, True])
def test_a_task_heard_before_its_node_has_the_facts_of_the_node(*, singly: bool) -> None:
    node = [once("batch_agent_data", 3, {"host": "h"}, batch_vm_name="n1", batch_pool_name="p"),
            once("vm_lscpu_metadata", 3, {"host": "h"}, CPUs="2")]  # fmt: skip
    lines = [used(1, "host=h,task_id=t"), *node, used(4, "host=h,task_id=t"), used(5, "host=h,task_id=t")]
    found = {whose: values for whose, values in counted(lines, singly=singly).items() if whose.task}
    assert found == {Identity("p", "n1", task="t"): 3}
    (task,) = [session for session in taken(*lines).sessions.values() if session.identity.task]
    assert task.facts.cpu_count == 2


def test_a_task_heard_before_its_host_keeps_untagged_facts() -> None:
    lines = [once("batch_agent_data", batch_vm_name="n1"), used(1, "host=h,task_id=t"),
             once("vm_lscpu_metadata", 2, {"host": "h"}, CPUs="2"), used(3, "host=h,task_id=t")]  # fmt: skip
    assert counted(lines) == {Identity(node="n1", task="t"): 2}
    assert {session.facts.cpu_count for session in taken(*lines).sessions.values()} == {None, 2}


@pytest.mark.parametrize("singly", [False, True])
def test_a_tasks_sessions_have_the_facts_of_those_of_its_node(*, singly: bool) -> None:
    def batch(second: float, cpus: int) -> list[Metric]:
        host = {"host": "h"}
        opening = [once("batch_agent_data", second, host, batch_vm_name=f"n{cpus}"),
                   once("vm_lscpu_metadata", second, host, CPUs=cpus)]  # fmt: skip
        return [*opening, used(second + 3, "host=h,task_id=t"), used(second + 4, "host=h,task_id=t")]

    reader, facts = intake(), dict[int, tuple[str, int | None]]()
    lines = [*batch(0, 2), *batch(100, 4)]
    for part in [[line] for line in lines] if singly else [lines]:
        for session in reader.take(step(part)).sessions.values():
            if session.identity.task:
                facts[session.number] = session.identity.node, session.facts.cpu_count
        reader = intake(state=State.unpack(reader.state.pack()))
    assert facts == {1: ("n2", 2), 3: ("n4", 4)}


def test_a_name_with_a_nul_is_no_other_writers() -> None:
    odd = Metric("mem", {"node_id": "n\0j\0t\0"}, {"used": 1}, BEGIN + SECOND)
    assert counted([odd, used(2, "node_id=n,job_id=j,task_id=t")]) == {
        Identity(node="n\ufffdj\ufffdt\ufffd"): 1,
        Identity(node="n", job="j", task="t"): 1,
    }


def writing() -> st.SearchStrategy[tuple[str, str]]:
    """Generates writers and records: an agent of a node, without tags or with those of hosts and tasks."""
    tags = st.sampled_from(["", "host=h1", "host=h2", "host=h1,task_id=t1", "host=h2,task_id=t1", "task_id=t2"])
    return st.tuples(tags, st.sampled_from(["mem", "mem", "mem", "agent1", "agent2", "job1", "cpus", "disk"]))


def written(second: int, tags: str, label: str) -> Metric:
    if label == "mem":
        return at(second, f"net,interface=e{',' if tags else ''}{tags} bytes_recv={second * second}i")
    kind, own = label[:-1], dict(tag.split("=") for tag in tags.split(",") if tag)
    if kind == "agent":
        return once("batch_agent_data", second, own, batch_vm_name=f"n{label[-1]}")
    if kind == "job":
        return once("exec.env", second, own, key="AZ_BATCH_JOB_ID", value=f"j{second}")
    if kind == "cpu":
        return once("vm_lscpu_metadata", second, own, CPUs=second)
    return once("exec.lsblk", second, own, name="sda", type="disk", size=second)


BEGUN_AGAIN = [("", "agent1"), ("", "cpus"), ("host=h1", "mem"), ("", "agent2"), ("host=h1", "mem")]


@given(
    st.sampled_from([[], BEGUN_AGAIN]), st.lists(writing(), max_size=24), st.sets(st.integers(1, 28))
)  # fmt: skip
def test_the_writers_of_records_are_the_same_for_any_cuts(
    begin_with: list[tuple[str, str]], lines: list[tuple[str, str]], cuts: set[int]
) -> None:
    records = [written(20 * second, *line) for second, line in enumerate([*begin_with, *lines])]
    reader, sessions, values = intake(Identity(job="j", task="t", attempt="1")), dict[int, Any](), Counter[Any]()
    ends = sorted(cut for cut in cuts if cut < len(records))
    for begin, end in pairwise([0, *ends, len(records)]):
        reader = intake(Identity(job="j", task="t", attempt="1"), State.unpack(reader.state.pack()))
        found = reader.take(step(records[begin:end]))
        sessions |= {number: (session.whose, session.facts) for number, session in found.sessions.items()}
        for number, some in found.rollups.items():
            values.update({(number, series, minute): one.sum for (series, minute), one in flat(some).items()})
    whole = intake(Identity(job="j", task="t", attempt="1")).take(step(records))
    assert sessions == {number: (session.whose, session.facts) for number, session in whole.sessions.items()}
    cells = ((number, cell, one.sum) for number, some in whole.rollups.items() for cell, one in flat(some).items())
    assert values == {(number, *cell): grown for number, cell, grown in cells}
