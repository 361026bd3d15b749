"""Findings from events that nodes reported: only of this job, of nodes that are there, and since they started."""

from datetime import datetime, timedelta
from typing import Any

from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import explain
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.nodes.nodes import Node
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import BUSY, COMING, GONE, JOB, LOST, MINUTE, NOW, RETRIED, codes_of, evidence

SPOT = Node("spot", "running", dedicated=False, tasks=2, slots=2)


def reports(
    kind: str, node: str = "busy", at: datetime = NOW - MINUTE, task: str | None = None, **fields: Any
) -> BatchEvent:
    properties = {"message": f"It says {kind}.", **fields}
    job = "JOB" if task else None
    return BatchEvent(at, f"node.{kind}", job, task, "pool", node, properties, f"{at.timestamp():012.0f}".encode())


def found(*events: BatchEvent, nodes: tuple[Node, ...] = (BUSY,)) -> Evidence:
    return evidence(*nodes, counts=TaskCounts(active=3, running=2), node_events=events)


def finding(rule: str, evidence: Evidence) -> Finding | None:
    return next((one for one in explain(evidence).findings if one.rule == rule), None)


def test_killed_tasks_of_this_job_are_named_with_their_nodes_and_advice() -> None:
    events = [
        reports("oom_kill", task="a", is_cgroup_limit=False),
        reports("oom_kill", task="A", at=NOW - 9 * MINUTE, is_cgroup_limit=True),
        reports("oom_kill", node="other", task="b", at=NOW - 5 * MINUTE),
        reports("oom_kill"),  # of no task
    ]
    one = finding("tasksOutOfMemory", found(*events))
    assert one is not None
    assert (one.scope, one.severity, one.amount) == (Scope("job", "job"), "info", Amount(2, "tasks"))
    assert one.title == "2 tasks of the job were killed for lack of memory"
    assert one.sentence == (
        "Within the last hour the kernel killed processes of 2 tasks on 2 nodes, most often on node 'busy'. "
        "The node ran out of memory."
    )
    assert (one.evidence["killedTasks"], one.evidence["kills"], one.since) == (2, 3, NOW - 9 * MINUTE)
    assert "requiredSlots" in one.advice
    limited = finding("tasksOutOfMemory", found(reports("oom_kill", task="a", is_cgroup_limit=True)))
    assert limited is not None
    assert "1 task on node 'busy'. The tasks' own memory limit was reached." in limited.sentence
    assert "--memory" in limited.advice


def test_kills_of_other_jobs_or_of_an_earlier_one_with_the_id_are_not_this_jobs() -> None:
    earlier = reports("oom_kill", task="a", at=JOB.creation_time - timedelta(seconds=1))
    other = BatchEvent(NOW, "node.oom_kill", "job2", "a", "pool", "busy", {}, b"x")
    assert codes_of(found(earlier, other)) == codes_of(found())
    assert (
        finding("tasksOutOfMemory", evidence(BUSY, deleted=True, node_events=(reports("oom_kill", task="a"),))) is None
    )


def test_killed_tasks_are_named_too_where_none_waits() -> None:
    running = evidence(BUSY, counts=TaskCounts(running=2), node_events=(reports("oom_kill", task="a"),))
    assert codes_of(running) == [("tasksOutOfMemory", "info")]


def test_full_disks_are_named_with_the_agents_sentences_unless_the_node_is_unusable_already() -> None:
    full = reports("disk_full"), reports("disk_full", at=NOW - 5 * MINUTE), reports("disk_full", node="lost")
    one = finding("nodeDisksFull", found(*full, nodes=(BUSY, LOST)))
    assert one is not None
    assert (one.scope, one.amount, one.severity) == (Scope("pool", "pool"), Amount(1, "nodes"), "info")
    assert (one.evidence["reports"], one.evidence["examples"]) == (("busy: It says disk_full.",), ("busy",))
    assert one.since == NOW - MINUTE


def test_an_event_from_before_the_nodes_last_start_or_of_a_node_that_is_gone_says_nothing() -> None:
    restarted = BUSY._replace(booted=to_milliseconds(NOW - MINUTE / 2))
    fresh = BUSY._replace(allocated=to_milliseconds(NOW - MINUTE / 2))
    for nodes in ((restarted,), (fresh,), (GONE,), ()):
        for kind in ("disk_full", "gpu_ecc", "spot_preemption"):
            event = reports(kind, node=nodes[0].id if nodes else "busy", error_type="uncorrected")
            assert codes_of(found(event, nodes=nodes)) == codes_of(found(nodes=nodes)), (kind, nodes)


def test_errors_of_gpus_count_but_not_those_of_programs_or_corrected_ones() -> None:
    for xid in (79, 48):
        one = finding("nodeGpuErrors", found(reports("gpu_xid", xid=xid)))
        assert one is not None
        assert one.advice.endswith("az batch node reboot --pool-id pool --node-id busy")
    assert finding("nodeGpuErrors", found(reports("gpu_ecc", error_type="uncorrected"))) is not None
    harmless = reports("gpu_xid", xid=31), reports("gpu_ecc", error_type="corrected"), reports("gpu_xid", xid="79")
    assert finding("nodeGpuErrors", found(*harmless)) is None
    beside = reports("gpu_xid", xid=31), reports("gpu_xid", at=NOW - 2 * MINUTE, xid=79)
    assert finding("nodeGpuErrors", found(*beside)) is not None


def test_a_spot_notice_counts_for_some_minutes_and_for_spot_nodes_only() -> None:
    one = finding("nodesToBePreempted", found(reports("spot_preemption", node="SPOT"), nodes=(SPOT, BUSY)))
    assert one is not None
    assert (one.title, one.amount) == ("Azure takes back 1 node", Amount(1, "nodes"))
    old = reports("spot_preemption", node="spot", at=NOW - 11 * MINUTE)
    assert finding("nodesToBePreempted", found(old, nodes=(SPOT,))) is None
    assert finding("nodesToBePreempted", found(reports("spot_preemption"))) is None


def test_a_start_task_that_hangs_completes_the_finding_on_starting_nodes() -> None:
    hangs = reports("start_task_hang", node="coming")
    one = finding("nodesStarting", evidence(COMING, COMING._replace(id="other"), node_events=(hangs,)))
    assert one is not None
    assert "The start task of 1 of them hangs, as the node agent reports." in one.sentence
    assert (one.evidence["hangingStartTasks"], one.evidence["affectedNodes"]) == (1, 2)
    assert "directory startup" in one.advice
    plain = finding("nodesStarting", evidence(COMING, node_events=()))
    assert plain is not None
    assert "hangingStartTasks" not in plain.evidence
    failed = evidence(RETRIED, node_events=(reports("start_task_hang", node="retried"),))
    assert [rule for rule, _ in codes_of(failed)] == ["startTaskFailed"]


def test_unknown_events_of_nodes_conclude_nothing() -> None:
    assert codes_of(found(reports("reboot"), reports("fan_failure"), reports("maintenance"))) == codes_of(found())
