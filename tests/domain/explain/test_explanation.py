"""Rules over evidence: each at its bounds, and the order of several findings."""

from dataclasses import replace

import pytest

from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import explain
from shared.domain.explain.pool_nodes import NO_NODES
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.observations import OversizedTasks, Preparation, RetriedTask
from shared.domain.nodes.nodes import Node
from shared.domain.pools.pool_facts import Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import (
    BUSY,
    BY_WAITING,
    COMING,
    FAILED,
    FULL,
    GONE,
    HELD,
    IDLE,
    JOB,
    LOST,
    MINUTE,
    MOSTLY_HELD,
    NOW,
    OLDER,
    OLDEST_FIRST,
    PREEMPTED,
    QUOTA,
    REPORTED,
    RETRIED,
    SCALE_ERROR,
    SHUT,
    URGENT,
    codes_of,
    evidence,
    required,
    roomy,
    unseen,
)

EMPTIED = {"dedicated": Size(1, 0), "allocation_state": "resizing"}
CASES: dict[str, tuple[Evidence, list[tuple[str, str]]]] = {
    "free slots": (roomy(IDLE), [("slotsFree", "info")]),
    "all busy": (evidence(BUSY), [("slotsBusy", "blocking")]),
    "busy and running": (evidence(BUSY, counts=TaskCounts(active=1, running=2)), [("slotsBusy", "limiting")]),
    "a higher priority": (
        evidence(BUSY, competing_jobs=(URGENT,)), [("higherPriorityJobs", "blocking"), ("slotsBusy", "info")]
    ),
    "the same priority": (evidence(BUSY, competing_jobs=(replace(URGENT, priority=0),)), [("slotsBusy", "blocking")]),
    "an older job where the oldest goes first": (
        evidence(BUSY, competing_jobs=(OLDER,), pool_changes={"settings": OLDEST_FIRST}),
        [("olderJobs", "blocking"), ("slotsBusy", "info")],
    ),
    "an older job beside free slots": (
        evidence(IDLE, competing_jobs=(OLDER,), pool_changes={"settings": OLDEST_FIRST}),
        [("olderJobs", "limiting"), ("slotsBusy", "limiting")],
    ),
    "an older job of a lower priority": (
        evidence(BUSY, competing_jobs=(replace(OLDER, priority=-1),), pool_changes={"settings": OLDEST_FIRST}),
        [("slotsBusy", "blocking")],
    ),
    "a younger job where the oldest goes first": (
        evidence(
            BUSY, competing_jobs=(replace(OLDER, creation_time=NOW),), pool_changes={"settings": OLDEST_FIRST}
        ),
        [("slotsBusy", "blocking")],
    ),
    "a higher priority and an older job": (
        evidence(BUSY, competing_jobs=(URGENT, OLDER), pool_changes={"settings": OLDEST_FIRST}),
        [("higherPriorityJobs", "blocking"), ("olderJobs", "info"), ("slotsBusy", "info")],
    ),
    "an older job that leaves a slot": (
        evidence(
            IDLE, IDLE._replace(id="too"),
            competing_jobs=(replace(OLDER, counts=TaskCounts(active=3), waiting_slots=3),),
            pool_changes={"settings": OLDEST_FIRST},
        ),
        [("slotsBusy", "limiting")],
    ),
    "tasks that were preempted": (
        evidence(BUSY, rules=JobRules(allows_preemption=True), requeues=PREEMPTED, competing_jobs=(URGENT,)),
        [("higherPriorityJobs", "blocking"), ("slotsBusy", "info"), ("tasksPreempted", "info")],
    ),
    "tasks that were requeued, of a job that forbids preemption by now": (
        evidence(BUSY, requeues=PREEMPTED), [("slotsBusy", "blocking")],
    ),
    "tasks that were requeued, and no event shows for whom": (
        evidence(
            BUSY, rules=JobRules(allows_preemption=True),
            requeues=tuple(replace(each, taken_by=None) for each in PREEMPTED),
        ),
        [("slotsBusy", "blocking")],
    ),
    "a higher priority that is disabled": (
        evidence(BUSY, competing_jobs=(replace(URGENT, state="disabled"),)), [("slotsBusy", "blocking")]
    ),
    "a higher priority at its own bound": (
        evidence(BUSY, competing_jobs=(replace(URGENT, rules=JobRules(max_parallel_tasks=4)),)),
        [("slotsBusy", "blocking")],
    ),
    "a higher priority beside free slots": (
        evidence(IDLE, competing_jobs=(URGENT,)), [("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting")]
    ),
    "no node with room for a task": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=required(10, 2, 2)), [("slotsBusy", "blocking")]
    ),
    "room for some tasks": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=required(10, 1, 2)), [("slotsBusy", "limiting")]
    ),
    "room that tasks not looked at might use": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=required(9, 2, 2)), [("slotsBusy", "limiting")]
    ),
    "room for a task among more than were looked at": (
        evidence(IDLE, waiting=required(9, 2, 2)), [("slotsBusy", "limiting")]
    ),
    "nodes that could not be looked at": (replace(evidence(IDLE, waiting=required(9, 2, 2)), nodes=NO_NODES), []),
    "a quota, and free slots that no task fits": (
        evidence(
            Node("half", "running", slots=1, tasks=1), waiting=required(10, 2, 2),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("resizeFailed", "blocking"), ("slotsBusy", "info")],
    ),
    "a quota, and free slots that no task fits as far as anybody looked": (
        evidence(
            Node("half", "running", slots=1, tasks=1), waiting=required(9, 2, 2), competing_jobs=(URGENT,),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("resizeFailed", "limiting"), ("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting")],
    ),
    "nobody wants nodes that nobody has read": (unseen(dedicated=Size(2, 0)), []),
    "resizing, with nodes that nobody has read": (unseen(dedicated=Size(2, 2), allocation_state="resizing"), []),
    "a quota, and nodes that nobody has read": (
        unseen(dedicated=Size(2, 4), resize_errors=(QUOTA,)), [("resizeFailed", "limiting")]
    ),
    "tasks too large": (evidence(IDLE, waiting=required(10, 3, 3)), [("taskNeedsMoreSlots", "blocking")]),
    "some tasks too large, and full nodes": (
        evidence(BUSY, waiting=required(10, 1, 3)), [("slotsBusy", "blocking"), ("taskNeedsMoreSlots", "limiting")]
    ),
    "some tasks too large of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), waiting=required(10, 1, 3)),
        [("slotsBusy", "limiting"), ("taskNeedsMoreSlots", "limiting")],
    ),
    "all tasks too large of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), waiting=required(10, 3, 3)),
        [("taskNeedsMoreSlots", "blocking"), ("slotsBusy", "info")],
    ),
    "some tasks too large": (roomy(IDLE, waiting=required(10, 1, 3)), [("taskNeedsMoreSlots", "limiting")]),
    "start task failed": (evidence(FAILED), [("startTaskFailed", "blocking")]),
    "the most frequent trouble": (
        evidence(FAILED, LOST, LOST),
        [("nodesUnusable", "blocking"), ("startTaskFailed", "limiting")],
    ),
    "a bad node beside free ones": (roomy(IDLE, LOST), [("slotsFree", "info"), ("nodesUnusable", "info")]),
    "a bad node among full ones": (
        evidence(BUSY, BUSY, LOST), [("slotsBusy", "blocking"), ("nodesUnusable", "info")]
    ),
    "as many bad nodes as full ones": (
        evidence(BUSY, LOST), [("nodesUnusable", "blocking"), ("slotsBusy", "info")]
    ),
    "more bad nodes than full ones, on which the job runs": (
        evidence(BUSY, LOST, LOST, counts=TaskCounts(active=10, running=2)),
        [("nodesUnusable", "limiting"), ("slotsBusy", "limiting")],
    ),
    "as many bad nodes as full ones, of several kinds": (
        evidence(BUSY, BUSY, BUSY, FAILED, FAILED, LOST),
        [("startTaskFailed", "blocking"), ("slotsBusy", "info"), ("nodesUnusable", "info")],
    ),
    "most nodes drain": (
        evidence(BUSY, *[BUSY._replace(scheduling="disabled")] * 2),
        [("nodesOffline", "blocking"), ("slotsBusy", "info")],
    ),
    "a start task that failed and is tried again": (evidence(RETRIED), [("startTaskFailed", "blocking")]),
    "start tasks that fail, and one that just runs": (
        evidence(RETRIED, FAILED, COMING), [("startTaskFailed", "blocking"), ("nodesStarting", "limiting")]
    ),
    "a quota, and start tasks that are tried again": (
        evidence(RETRIED, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("startTaskFailed", "blocking"), ("resizeFailed", "info")],
    ),
    "preempted": (evidence(GONE), [("nodesPreempted", "blocking")]),
    "switched off": (evidence(SHUT), [("nodesOffline", "blocking")]),
    "starting": (evidence(COMING), [("nodesStarting", "blocking")]),
    "a failing start task before a quota": (
        evidence(FAILED, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("startTaskFailed", "blocking"), ("resizeFailed", "info")],
    ),
    "a quota, and fewer unusable nodes than it keeps away": (
        evidence(LOST, pool_changes={"dedicated": Size(1, 10), "resize_errors": (QUOTA,)}),
        [("resizeFailed", "blocking"), ("nodesUnusable", "limiting")],
    ),
    "a quota, and fewer unusable nodes than it keeps away, of a job that runs": (
        evidence(
            BUSY, LOST, counts=TaskCounts(active=10, running=2),
            pool_changes={"dedicated": Size(2, 10), "resize_errors": (QUOTA,)},
        ),
        [("resizeFailed", "limiting"), ("nodesUnusable", "limiting"), ("slotsBusy", "limiting")],
    ),
    "a quota, and as many unusable nodes as it keeps away": (
        evidence(LOST, pool_changes={"dedicated": Size(1, 2), "resize_errors": (QUOTA,)}),
        [("nodesUnusable", "blocking"), ("resizeFailed", "info")],
    ),
    "a quota, few unusable nodes and few on their way": (
        evidence(LOST, LOST, COMING, pool_changes={"dedicated": Size(3, 10), "resize_errors": (QUOTA,)}),
        [("nodesStarting", "blocking"), ("resizeFailed", "limiting"), ("nodesUnusable", "limiting")],
    ),
    "nodes on their way, and fewer that are switched off": (
        evidence(SHUT, pool_changes={"dedicated": Size(1, 10), "allocation_state": "resizing"}),
        [("poolResizing", "blocking"), ("nodesOffline", "limiting")],
    ),
    "fewer unusable nodes than a pool lacks that isn't resized": (
        evidence(LOST, pool_changes={"dedicated": Size(1, 10)}), [("nodesUnusable", "blocking")]
    ),
    "nobody wants nodes, and an unusable one is leaving": (
        evidence(LOST, pool_changes={"dedicated": Size(1, 0), "allocation_state": "resizing"}),
        [("poolTargetZero", "blocking"), ("nodesUnusable", "info")],
    ),
    "a quota before spot nodes that were taken": (
        evidence(GONE, pool_changes={"dedicated": Size(0, 4), "resize_errors": (QUOTA,)}),
        [("resizeFailed", "blocking"), ("nodesPreempted", "limiting")],
    ),
    "a quota before as many spot nodes that were taken": (
        evidence(GONE, GONE, pool_changes={"dedicated": Size(0, 2), "resize_errors": (QUOTA,)}),
        [("resizeFailed", "blocking"), ("nodesPreempted", "info")],
    ),
    "a spot node that was taken, and more that are being allocated": (
        evidence(
            GONE, pool_changes={"dedicated": Size(0, 0), "spot": Size(1, 10), "allocation_state": "resizing"}
        ),
        [("poolResizing", "blocking"), ("nodesPreempted", "limiting")],
    ),
    "spot nodes that were taken, and as many that are being allocated": (
        evidence(
            GONE, GONE, pool_changes={"dedicated": Size(0, 0), "spot": Size(2, 4), "allocation_state": "resizing"}
        ),
        [("nodesPreempted", "blocking"), ("poolResizing", "info")],
    ),
    "a spot node that was taken of a job that runs, and more that are being allocated": (
        evidence(
            BUSY, GONE, counts=TaskCounts(active=10, running=2),
            pool_changes={"dedicated": Size(1, 1), "spot": Size(1, 10), "allocation_state": "resizing"},
        ),
        [("poolResizing", "limiting"), ("nodesPreempted", "limiting"), ("slotsBusy", "limiting")],
    ),
    "a spot node that was taken, one that starts and more that are being allocated": (
        evidence(
            GONE, COMING, pool_changes={"dedicated": Size(0, 0), "spot": Size(2, 10), "allocation_state": "resizing"}
        ),
        [("poolResizing", "blocking"), ("nodesPreempted", "limiting"), ("nodesStarting", "info")],
    ),
    "a quota, and some nodes on their way": (
        evidence(COMING, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("nodesStarting", "blocking"), ("resizeFailed", "limiting")],
    ),
    "a quota, and slots that are free": (
        roomy(IDLE, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("slotsFree", "info"), ("resizeFailed", "info")],
    ),
    "an error of a pool that has all of its nodes": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 1), "spot": Size(0, 0), "resize_errors": (QUOTA,)}),
        [("slotsBusy", "blocking"), ("resizeFailedBefore", "info")],
    ),
    "a formula that fails": (
        evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": SCALE_ERROR}), [("autoScaleFailed", "blocking")]
    ),
    "a formula that fails, and a pool at its target that is busy": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 1), "auto_scale": SCALE_ERROR}),
        [("autoScaleFailed", "blocking"), ("slotsBusy", "info")],
    ),
    "a formula that fails, and a pool that grows": (
        evidence(pool_changes={"dedicated": Size(0, 10), "allocation_state": "resizing", "auto_scale": SCALE_ERROR}),
        [("poolResizing", "blocking"), ("autoScaleFailed", "limiting")],
    ),
    "a formula that fails, and a busy pool that grows": (
        evidence(
            BUSY, counts=TaskCounts(active=10, running=2),
            pool_changes={"dedicated": Size(1, 9), "allocation_state": "resizing", "auto_scale": SCALE_ERROR},
        ),
        [("poolResizing", "limiting"), ("autoScaleFailed", "limiting"), ("slotsBusy", "limiting")],
    ),
    "a formula that fails, and a quota": (
        evidence(pool_changes={"dedicated": Size(0, 10), "resize_errors": (QUOTA,), "auto_scale": SCALE_ERROR}),
        [("resizeFailed", "blocking"), ("autoScaleFailed", "limiting")],
    ),
    "a formula that fails, and spot nodes that were taken": (
        evidence(GONE, GONE, pool_changes={"dedicated": Size(0, 0), "spot": Size(2, 2), "auto_scale": SCALE_ERROR}),
        [("nodesPreempted", "blocking"), ("autoScaleFailed", "limiting")],
    ),
    "a formula that fails, and nodes that get no tasks, of several kinds, beside fewer full ones": (
        evidence(
            *[BUSY] * 4, *[GONE] * 3, *[LOST] * 2,
            pool_changes={"dedicated": Size(6, 6), "spot": Size(3, 3), "auto_scale": SCALE_ERROR},
        ),
        [
            ("nodesPreempted", "blocking"), ("autoScaleFailed", "limiting"), ("slotsBusy", "info"),
            ("nodesUnusable", "info"),
        ],
    ),
    "a formula that fails, and nodes that get no tasks, of several kinds, beside more full ones": (
        evidence(
            *[BUSY] * 6, *[GONE] * 3, *[LOST] * 2,
            pool_changes={"dedicated": Size(8, 8), "spot": Size(3, 3), "auto_scale": SCALE_ERROR},
        ),
        [("autoScaleFailed", "blocking"), ("slotsBusy", "info"), ("nodesUnusable", "info"), ("nodesPreempted", "info")],
    ),
    "a formula that fails, and nodes that get no tasks beside fewer full ones on which the job runs": (
        evidence(
            *[BUSY] * 4, *[GONE] * 3, *[LOST] * 2, counts=TaskCounts(active=10, running=8),
            pool_changes={"dedicated": Size(6, 6), "spot": Size(3, 3), "auto_scale": SCALE_ERROR},
        ),
        [
            ("nodesPreempted", "limiting"), ("autoScaleFailed", "limiting"), ("slotsBusy", "limiting"),
            ("nodesUnusable", "info"),
        ],
    ),
    "a formula that fails, and start tasks that do": (
        evidence(FAILED, FAILED, pool_changes={"auto_scale": SCALE_ERROR}),
        [("startTaskFailed", "blocking"), ("autoScaleFailed", "limiting")],
    ),
    "a formula that fails, and nodes that nobody has read": (
        unseen(dedicated=Size(2, 2), auto_scale=SCALE_ERROR), [("autoScaleFailed", "limiting")]
    ),
    "a formula that fails, and a pool that has room": (
        roomy(IDLE, pool_changes={"dedicated": Size(1, 2), "auto_scale": SCALE_ERROR}),
        [("slotsFree", "info"), ("autoScaleFailed", "info")],
    ),
    "a formula that fails, and an unusable node of a pool that is to have none": (
        evidence(LOST, pool_changes={"dedicated": Size(1, 0), "auto_scale": SCALE_ERROR}),
        [("autoScaleFailed", "blocking"), ("nodesUnusable", "info")],
    ),
    "nobody wants nodes": (evidence(pool_changes={"dedicated": Size(0, 0)}), [("poolTargetZero", "blocking")]),
    "a pool whose targets aren't told": (
        evidence(pool_changes={"dedicated": Size(0), "spot": Size(0)}), []
    ),
    "no nodes without a reason": (evidence(pool_changes={"dedicated": Size(0, 2)}), [("poolEmpty", "blocking")]),
    "resizing": (
        evidence(pool_changes={"dedicated": Size(0, 2), "allocation_state": "resizing"}), [("poolResizing", "blocking")]
    ),
    "growing beside full nodes": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 2), "allocation_state": "resizing"}),
        [("poolResizing", "blocking"), ("slotsBusy", "info")],
    ),
    "shrinking with free slots": (
        roomy(IDLE, pool_changes={"dedicated": Size(2, 1), "allocation_state": "resizing"}), [("slotsFree", "info")]
    ),
    "a pool being deleted": (evidence(IDLE, pool_changes={"state": "deleting"}), [("poolDeleting", "blocking")]),
    "no pool": (replace(evidence(), pool=None, pool_gone=True), [("poolMissing", "blocking")]),
    "a pool of which nothing is known": (replace(evidence(), pool=None), []),
    "all held by a failure": (
        evidence(pool_changes={"dedicated": Size(0, 0)}, dependencies=HELD),
        [("dependenciesFailed", "blocking"), ("poolTargetZero", "info")],
    ),
    "held as far as anybody looked": (
        evidence(BUSY, dependencies=replace(HELD, whole=False)),
        [("dependenciesFailed", "limiting"), ("slotsBusy", "limiting")],
    ),
    "held as far as anybody looked, and a pool that was scaled to none for it": (
        evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": AutoScale("x")}, dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("poolTargetZero", "limiting")],
    ),
    "held as far as anybody looked, and a pool that others use": (
        evidence(BUSY, competing_jobs=(URGENT,), dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting")],
    ),
    "held as far as anybody looked, and nodes that don't come up": (
        evidence(FAILED, dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("startTaskFailed", "limiting")],
    ),
    "some held, some not, and a pool that is scaled to none": (
        evidence(pool_changes={"dedicated": Size(0, 0)}, dependencies=replace(HELD, held=6, lost=6, unsure=3)),
        [("poolTargetZero", "blocking"), ("dependenciesFailed", "limiting")],
    ),
    "no pool, and held as far as anybody looked": (
        replace(evidence(dependencies=MOSTLY_HELD), pool=None, pool_gone=True),
        [("dependenciesFailed", "limiting"), ("poolMissing", "limiting")],
    ),
    "no pool, and held by tasks that wait themselves as far as anybody looked": (
        replace(evidence(dependencies=BY_WAITING), pool=None, pool_gone=True),
        [("poolMissing", "blocking"), ("dependenciesUnsatisfied", "limiting")],
    ),
    "a target of 0, and held by tasks that wait themselves as far as anybody looked": (
        evidence(pool_changes={"dedicated": Size(0, 0)}, dependencies=BY_WAITING),
        [("poolTargetZero", "blocking"), ("dependenciesUnsatisfied", "limiting")],
    ),
    "a failing start task, and held by tasks that wait themselves as far as anybody looked": (
        evidence(FAILED, dependencies=BY_WAITING),
        [("startTaskFailed", "blocking"), ("dependenciesUnsatisfied", "limiting")],
    ),
    "a target of 0, and held by one that runs beside some that wait": (
        evidence(
            pool_changes={"dedicated": Size(0, 0)},
            dependencies=replace(BY_WAITING, blockers=(BlockingTask("a", "running", 1), *BY_WAITING.blockers)),
        ),
        [("dependenciesUnsatisfied", "limiting"), ("poolTargetZero", "limiting")],
    ),
    "some held of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), dependencies=replace(HELD, held=9, lost=0)),
        [("slotsBusy", "limiting"), ("dependenciesUnsatisfied", "limiting")],
    ),
    "all held of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), dependencies=replace(HELD, lost=0)),
        [("dependenciesUnsatisfied", "limiting"), ("slotsBusy", "limiting")],
    ),
    "some held": (
        evidence(IDLE, dependencies=replace(HELD, held=9, lost=0)), [("dependenciesUnsatisfied", "limiting")]
    ),
    "none held": (roomy(IDLE, dependencies=Dependencies(10, whole=True)), [("slotsFree", "info")]),
    "its own bound": (
        evidence(IDLE, counts=TaskCounts(active=3, running=1, preparing=1), rules=JobRules(max_parallel_tasks=2)),
        [("maxParallelTasks", "limiting")],
    ),
    "below its own bound": (
        evidence(IDLE, counts=TaskCounts(active=3, running=1), rules=JobRules(max_parallel_tasks=2)),
        [("slotsFree", "info")],
    ),
    "preparation failed everywhere": (
        evidence(IDLE, preparation=Preparation(1, 0, frozenset({"idle"}))), [("preparationFailed", "blocking")]
    ),
    "preparation failed somewhere": (
        roomy(IDLE, Node("b", "idle"), preparation=Preparation(2, 1, frozenset({"b"}))),
        [("preparationFailed", "limiting")],
    ),
    "preparation failed on a few of many nodes": (
        evidence(
            *FULL, IDLE, counts=TaskCounts(active=500, running=6), preparation=Preparation(4, 3, frozenset({"idle"}))
        ),
        [("slotsBusy", "limiting"), ("preparationFailed", "info")],
    ),
    "preparation failed on a few, and room on others": (
        roomy(IDLE, *FULL, LOST, preparation=Preparation(4, 3, frozenset({"lost"}))),
        [("slotsFree", "info"), ("nodesUnusable", "info"), ("preparationFailed", "info")],
    ),
    "preparation failed on as many nodes as are full": (
        evidence(BUSY, IDLE, preparation=Preparation(2, 1, frozenset({"idle"}))),
        [("slotsBusy", "blocking"), ("preparationFailed", "limiting")],
    ),
    "preparation failed everywhere, and a quota": (
        evidence(
            IDLE, preparation=Preparation(1, 0, frozenset({"idle"})),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("preparationFailed", "blocking"), ("resizeFailed", "info")],
    ),
    "preparation failed on a node that has left": (
        roomy(IDLE, preparation=Preparation(2, 1, frozenset({"left"}))), [("slotsFree", "info")]
    ),
    "disabled": (
        evidence(FAILED, job=replace(JOB, state="disabled")),
        [("jobDisabled", "blocking"), ("startTaskFailed", "info")],
    ),
    "disabled with nothing to do": (
        evidence(FAILED, job=replace(JOB, state="disabled"), counts=TaskCounts(completed=1, succeeded=1)),
        [("jobDisabled", "info"), ("allTasksCompleted", "info")],
    ),
    "nothing waits": (evidence(BUSY, LOST, counts=TaskCounts(running=2)), []),
    "no tasks": (evidence(LOST, counts=TaskCounts()), [("noTasks", "info")]),
    "completed": (evidence(LOST, job=replace(JOB, state="completed")), [("jobCompleted", "blocking")]),
    "terminating": (evidence(LOST, job=replace(JOB, state="terminating")), [("jobTerminating", "blocking")]),
    "deleting": (evidence(LOST, job=replace(JOB, state="deleting")), [("jobDeleting", "blocking")]),
    "deleted": (evidence(LOST, deleted=True), [("jobDeleted", "blocking")]),
    "out of time": (
        evidence(job=replace(JOB, state="completed", terminate_reason="MaxWallClockTimeExpiry")),
        [("jobExpired", "blocking")],
    ),
    "time that is up this moment": (
        evidence(IDLE, rules=JobRules(max_wall_clock_time=60 * MINUTE)), [("jobExpired", "blocking")]
    ),
    "time that is left": (
        roomy(IDLE, rules=JobRules(max_wall_clock_time=61 * MINUTE)), [("slotsFree", "info")]
    ),
    "a pool that is being emptied while its tasks run to the end": (
        evidence(BUSY, pool_changes=EMPTIED), [("poolTargetZero", "blocking")]
    ),
    "a pool that is being emptied, and a slot that is free on its node": (
        evidence(Node("half", "running", slots=1, tasks=1), pool_changes=EMPTIED), [("poolTargetZero", "blocking")]
    ),
    "a pool that is being emptied, and a bound that the job's last task reaches": (
        evidence(
            BUSY, counts=TaskCounts(active=3, running=1), rules=JobRules(max_parallel_tasks=1), pool_changes=EMPTIED
        ),
        [("poolTargetZero", "blocking"), ("maxParallelTasks", "info")],
    ),
    "a pool that is being emptied, and a job of higher priority": (
        evidence(BUSY, competing_jobs=(URGENT,), pool_changes=EMPTIED), [("poolTargetZero", "blocking")]
    ),
    "a pool that is being emptied, and a job that is disabled": (
        evidence(BUSY, job=replace(JOB, state="disabled"), pool_changes=EMPTIED),
        [("jobDisabled", "blocking"), ("poolTargetZero", "info")],
    ),
    "a resize to none that was stopped": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 0), "allocation_state": "stopping"}),
        [("slotsBusy", "blocking")],
    ),
    "a higher priority whose tasks wait for one that failed": (
        evidence(BUSY, competing_jobs=(replace(URGENT, dependencies=replace(HELD, looked=7, held=7, lost=7)),)),
        [("slotsBusy", "blocking")],
    ),
    "a higher priority whose tasks fit on no node": (
        evidence(BUSY, competing_jobs=(replace(URGENT, oversized=OversizedTasks(7, 21)),)), [("slotsBusy", "blocking")]
    ),
    "a higher priority that would take all nodes that are starting": (
        evidence(
            IDLE, COMING, counts=TaskCounts(active=10), pool_changes={"dedicated": Size(2, 2)},
            competing_jobs=(replace(URGENT, counts=TaskCounts(active=400)),),
        ),
        [("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting"), ("nodesStarting", "info")],
    ),
    "more tasks of the same priority than slots that are free": (
        evidence(IDLE, counts=TaskCounts(active=1), competing_jobs=(replace(URGENT, priority=0),)),
        [("slotsBusy", "limiting")],
    ),
    "a bound that leaves slots free": (
        evidence(IDLE, counts=TaskCounts(active=300), rules=JobRules(max_parallel_tasks=1)), [("slotsFree", "info")]
    ),
    "disabled on a busy pool": (
        evidence(BUSY, job=replace(JOB, state="disabled")), [("jobDisabled", "blocking"), ("slotsBusy", "info")]
    ),
    "disabled while its last tasks run": (
        evidence(BUSY, job=replace(JOB, state="disabling"), counts=TaskCounts(active=3, running=2)),
        [("jobDisabled", "blocking"), ("slotsBusy", "info")],
    ),
    "held for good while others run": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), dependencies=HELD),
        [("dependenciesFailed", "blocking"), ("slotsBusy", "info")],
    ),
    "held by a cycle": (
        evidence(
            IDLE, counts=TaskCounts(active=2),
            dependencies=Dependencies(2, whole=True, held=2, circular=2, cycle=("a", "b", "a")),
        ),
        [("dependencyCycle", "blocking")],
    ),
    "deallocated": (evidence(Node("away", "deallocated")), [("nodesDeallocated", "blocking")]),
    "rebooting": (evidence(Node("away", "rebooting")), [("nodesRebooting", "blocking")]),
    "reimaging": (evidence(Node("away", "reimaging")), [("nodesReimaging", "blocking")]),
    "an upgrade of the operating system": (evidence(Node("away", "upgradingos")), [("nodesUpgrading", "blocking")]),
    "out of reach": (evidence(Node("away", "unknown")), [("nodesUnreachable", "blocking")]),
    "rebooting, more than are starting": (
        evidence(Node("a", "rebooting"), Node("b", "rebooting"), COMING),
        [("nodesRebooting", "blocking"), ("nodesStarting", "limiting")],
    ),
    "a pool of its own that couldn't be made": (
        evidence(
            job=replace(JOB, state="completed"), makes_pool=True,
            scheduling_error=Problem("AutoPoolCreationFailedWithQuotaReached", "No pools left."),
        ),
        [("autoPoolFailed", "blocking")],
    ),
    "a task that is tried again without end": (
        evidence(BUSY, counts=TaskCounts(active=3, running=2), retried=RetriedTask("bad", 57)),
        [("slotsBusy", "limiting"), ("tasksRetriedForEver", "info")],
    ),
    "a task that is tried again without end, and none that waits": (
        evidence(BUSY, counts=TaskCounts(running=2), retried=RetriedTask("bad", 57, 1)),
        [("tasksRetriedForEver", "info")],
    ),
    "events that nodes reported": (
        evidence(BUSY, counts=TaskCounts(active=3, running=2), retried=RetriedTask("bad", 57), node_events=REPORTED),
        [
            ("slotsBusy", "limiting"), ("tasksRetriedForEver", "info"), ("tasksOutOfMemory", "info"),
            ("nodeDisksFull", "info"), ("nodeGpuErrors", "info"),
        ],
    ),
    "tasks that nobody has read": (replace(evidence(LOST), counts=None), [("nodesUnusable", "info")]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_evidence_is_answered_with_its_causes_in_order(case: str) -> None:
    found, expected = CASES[case]
    assert codes_of(found) == expected


@pytest.mark.parametrize("case", CASES)
def test_every_sentence_ends_and_every_finding_has_advice(case: str) -> None:
    found = explain(CASES[case][0])
    assert found.summary.endswith(".")
    for finding in found.findings:
        assert finding.sentence.endswith((".", "'")), finding
        assert finding.advice.endswith(".") or "az batch" in finding.advice
        assert not finding.title.endswith(".")
        assert ".." not in f"{finding.title} {finding.sentence} {finding.advice} {found.summary}"
        assert "None" not in f"{finding.title} {finding.sentence}".replace("None is left", "")


def test_a_job_ahead_that_leaves_most_free_slots_is_not_the_cause() -> None:
    ahead = replace(URGENT, counts=TaskCounts(active=1), running_slots=0, waiting_slots=1)
    found = evidence(IDLE, Node("idle-too", "idle"), counts=TaskCounts(active=50), competing_jobs=(ahead,))
    assert codes_of(found) == [("slotsBusy", "limiting")]
    assert explain(found).findings[0].evidence["tasksAhead"] == 1
    assert " 1 task of other jobs comes before its own" in explain(found).findings[0].sentence
    all_taken = replace(found, competing_jobs=(replace(ahead, counts=TaskCounts(active=4), waiting_slots=4),))
    assert codes_of(all_taken)[0] == ("higherPriorityJobs", "limiting")


IN_LINE = ("tasksAhead", "slotsAhead", "tasksOfSamePriority", "slotsOfSamePriority")


def test_where_competing_jobs_are_doubtful_no_place_in_the_queue_and_no_wait_is_claimed() -> None:
    found = evidence(*FULL, per_minute=3.0, competing_jobs=(replace(URGENT, is_doubtful=True),))
    busy = next(finding for finding in explain(found).findings if finding.rule == "slotsBusy")
    assert "No task of another job is known to come before its own. Whether those of some jobs could" in busy.sentence
    assert {busy.evidence[name] for name in (*IN_LINE, "estimatedWait", "estimatedWaitOfLast")} == {None}
    sure = replace(URGENT, id="sure", counts=TaskCounts(active=5), waiting_slots=5)
    known = replace(found, competing_jobs=(*found.competing_jobs, sure))
    busy = next(finding for finding in explain(known).findings if finding.rule == "slotsBusy")
    assert "At least 5 tasks of other jobs come before its own. Whether those of some jobs could" in busy.sentence
    assert busy.evidence["tasksAhead"] is None


def test_where_competing_jobs_are_doubtful_free_slots_are_not_said_to_be_there_for_its_tasks_alone() -> None:
    found = roomy(IDLE, competing_jobs=(replace(URGENT, is_doubtful=True),))
    free = next(finding for finding in explain(found).findings if finding.rule == "slotsFree")
    assert free.sentence.endswith("Whether waiting tasks of other jobs could take them first isn't known.")
    assert free.evidence["tasksAhead"] is None
    assert free.evidence["tasksOfSamePriority"] is None
