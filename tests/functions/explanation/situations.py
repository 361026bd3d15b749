"""The table of situations: the staging function, the cause expected first, and the words that it must contain."""

from dataclasses import dataclass

from tests.functions.explanation import waiting_combinations as c
from tests.functions.explanation import waiting_jobs as w
from tests.functions.explanation.waiting_jobs import Stage

NIGHTLY = "nightly:job-1"


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation.

    `running`: some tasks of the job run nevertheless. `words` occur in the first finding's title, detail or advice.
    """

    stage: Stage
    code: str
    severity: str = "blocking"
    running: bool = False
    words: tuple[str, ...] = ()
    job: str = "job"


SITUATIONS: dict[str, Situation] = {
    "a disabled job": Situation(w.disabled, "jobDisabled"),
    "a job that was terminated": Situation(w.terminating, "jobCompleted"),
    "a job whose time has run out": Situation(w.expired, "jobExpired"),
    "no pool": Situation(w.without_pool, "poolMissing"),
    "a pool that is being deleted": Situation(w.pool_going, "poolDeleting"),
    "a pool that is growing": Situation(w.resizing, "poolResizing"),
    "no quota": Situation(w.without_quota, "resizeFailed"),
    "no quota, and a node that can't be used": Situation(w.without_quota_for_more, "resizeFailed"),
    "no quota, and a formula that fails": Situation(w.wrong_formula_without_quota, "resizeFailed"),
    "busy slots": Situation(w.busy, "slotsBusy", words=("'other' (4 tasks on 4 slots)",)),
    "a failing start task": Situation(w.start_fails, "startTaskFailed"),
    "a start task that fails and is tried again": Situation(w.start_fails_for_ever, "startTaskFailed"),
    "unusable nodes": Situation(w.unusable, "nodesUnusable"),
    "preempted nodes": Situation(w.preempted, "nodesPreempted"),
    "failed dependencies": Situation(w.dependent, "dependenciesFailed"),
    "dependencies that run": Situation(w.one_after_the_other, "dependenciesUnsatisfied", "limiting", running=True),
    "tasks that could run and come behind those that depend on them": Situation(w.dependents_first, "poolTargetZero"),
    "a bound on parallel tasks": Situation(w.bounded, "maxParallelTasks", "limiting", running=True),
    "jobs of higher priority": Situation(
        w.outranked,
        "higherPriorityJobs",
        words=(
            "'urgent' (5 tasks)",
            "'other' (4 tasks on 4 slots)",
        ),
    ),
    "failing preparation": Situation(w.unprepared, "preparationFailed"),
    "failing preparation that nothing waits for": Situation(w.prepared_or_not, "slotsBusy"),
    "an autoscale formula that fails": Situation(w.wrong_formula, "autoScaleFailed"),
    "an autoscale formula that gives none": Situation(
        w.scaled_to_none, "poolTargetZero", words=("line 1, '$TargetDedicatedNodes = 0;'",)
    ),
    "a pool without targets": Situation(w.no_nodes_wanted, "poolTargetZero"),
    "nodes that are switched off": Situation(w.shut, "nodesOffline"),
    "nodes that drain": Situation(w.draining, "nodesOffline"),
    "nodes most of which drain": Situation(w.mostly_draining, "nodesOffline"),
    "tasks that fit no node": Situation(w.too_large, "taskNeedsMoreSlots"),
    "nodes that are starting": Situation(w.slow_start, "nodesStarting"),
    "a pool that is being emptied under other jobs' tasks": Situation(
        c.emptied_under_others, "poolTargetZero", words=("is being emptied",)
    ),
    "a pool that is being emptied under a task of the job itself, with a slot free": Situation(
        c.emptied_under_itself, "poolTargetZero", running=True, words=("is being emptied",)
    ),
    "a pool that is being emptied, and the job's bound": Situation(
        c.emptied_at_its_bound, "poolTargetZero", running=True, words=("is being emptied",)
    ),
    "a pool that is being emptied, and a job of higher priority": Situation(
        c.emptied_and_outranked, "poolTargetZero", words=("is being emptied",)
    ),
    "a pool that its formula empties": Situation(
        c.emptied_by_formula,
        "poolTargetZero",
        words=(
            "is being emptied",
            "line 1, '$TargetDedicatedNodes = 0;'",
        ),
    ),
    "a disabled job on a pool that is being emptied": Situation(c.emptied_and_disabled, "jobDisabled"),
    "failed dependencies, and a pool that is being emptied": Situation(
        c.emptied_behind_a_failure, "dependenciesFailed"
    ),
    "a running dependency, and a pool that is being emptied": Situation(
        c.emptied_behind_a_running_task, "poolTargetZero", running=True, words=("is being emptied",)
    ),
    "a pool whose emptying was stopped": Situation(
        c.emptying_that_was_stopped, "slotsBusy", words=("'other' (4 tasks on 4 slots)",)
    ),
    "short tasks of the same priority in line": Situation(
        c.behind_short_tasks,
        "slotsBusy",
        "limiting",
        running=True,
        words=(
            "'short'",
            "as tasks ended lately",
        ),
    ),
    "older jobs on a pool that takes the oldest first": Situation(
        c.behind_older_jobs,
        "olderJobs",
        words=(
            "412 tasks of 2 older jobs go first",
            "'older' (207 tasks), 'old' (205 tasks)",
            "jobDefaultOrder creationtime",
        ),
    ),
    "short tasks of an older job on a pool that takes the oldest first": Situation(
        c.behind_short_tasks_of_an_older_job, "olderJobs", "limiting", words=("'short'", "as tasks ended lately")
    ),
    "short tasks of higher priority in line": Situation(
        c.behind_short_urgent_tasks,
        "higherPriorityJobs",
        "limiting",
        words=(
            "'short'",
            "as tasks ended lately",
        ),
    ),
    "a node that just started, and hundreds of tasks of higher priority": Situation(
        c.on_a_node_that_just_started, "higherPriorityJobs", "limiting", words=("'urgent' (300 tasks)",)
    ),
    "a job of higher priority whose tasks wait for one that failed": Situation(
        c.behind_urgent_tasks_held_for_good, "slotsBusy", words=("'other' (2 tasks on 2 slots)",)
    ),
    "five jobs of higher priority whose tasks wait for ones that failed": Situation(
        c.behind_several_urgent_jobs_held_for_good, "slotsBusy", words=("'other' (2 tasks on 2 slots)",)
    ),
    "a job of higher priority whose tasks fit on no node": Situation(
        c.behind_urgent_tasks_too_large, "slotsBusy", words=("'other' (2 tasks on 2 slots)",)
    ),
    "a job of higher priority whose preparation fails": Situation(
        c.behind_urgent_tasks_whose_preparation_fails, "slotsBusy", words=("'other' (2 tasks on 2 slots)",)
    ),
    "a job of higher priority that would take all nodes on their way": Situation(
        c.growing_behind_urgent_tasks, "higherPriorityJobs", words=("'urgent' (90 tasks)",)
    ),
    "a pool that is being made smaller, and full": Situation(c.shrinking_and_full, "slotsBusy"),
    "a pool of the job's own that was deleted": Situation(
        c.own_pool_that_was_deleted, "poolMissing", words=("to a new job",)
    ),
    "a job of higher priority at its own bound": Situation(
        c.behind_urgent_tasks_at_their_bound,
        "slotsBusy",
        words=(
            "'other' (1 task on 1 slot)",
            "'urgent' (1 task on 1 slot)",
        ),
    ),
    "a job of higher priority that is disabled": Situation(
        c.behind_urgent_tasks_of_a_disabled_job, "slotsBusy", words=("'other' (2 tasks on 2 slots)",)
    ),
    "nodes that reboot": Situation(c.rebooting, "nodesRebooting", words=("rebooting",)),
    "nodes that are being reimaged": Situation(c.reimaging, "nodesReimaging", words=("reimaged",)),
    "nodes that are deallocated": Situation(c.deallocated, "nodesDeallocated", words=("deallocated",)),
    "a cycle of dependencies": Situation(
        c.in_a_cycle,
        "dependencyCycle",
        words=(
            "'a' waits for 'b' waits for 'c' waits for 'a'",
            "never ends by itself",
        ),
    ),
    "a task that depends on itself": Situation(c.on_itself, "dependencyCycle", words=("'alone' waits for 'alone'",)),
    "tasks behind a cycle": Situation(
        c.behind_a_cycle, "dependencyCycle", words=("'z1' waits for 'z2' waits for 'z1'",)
    ),
    "a cycle of dependencies, and a full pool": Situation(c.in_a_cycle_on_a_full_pool, "dependencyCycle"),
    "tasks behind others that wait for a failed one": Situation(
        c.behind_a_failure_far_away,
        "dependenciesFailed",
        words=(
            "tasks that failed",
            "'first' failed",
        ),
    ),
    "a failed task among a thousand that one depends on": Situation(
        c.behind_a_failure_in_a_wide_range, "dependenciesFailed", words=("'1050' failed",)
    ),
    "a task that depends on a thousand and on itself": Situation(
        c.in_its_own_wide_range, "dependencyCycle", words=("'1101' waits for '1101'",)
    ),
    "failed dependencies while other tasks of the job run": Situation(
        c.held_beside_a_running_task, "dependenciesFailed", running=True
    ),
    "a full pool with a formula": Situation(
        c.full_with_formula,
        "slotsBusy",
        words=(
            "Batch refuses to resize",
            "line 2, '$TargetDedicatedNodes = min(",
            "$PendingTasks",
        ),
    ),
    "a formula that asks for more than the quota": Situation(
        c.full_with_formula_without_quota,
        "resizeFailed",
        "limiting",
        running=True,
        words=(
            "Batch refuses to resize",
            "quota",
        ),
    ),
    "a disabled job on a full pool": Situation(c.disabled_on_a_full_pool, "jobDisabled"),
    "a disabled job without a pool": Situation(c.disabled_without_a_pool, "jobDisabled"),
    "a job that is being disabled when its tasks have ended": Situation(c.disabling, "jobDisabled", running=True),
    "a disabled job with failed dependencies": Situation(c.disabled_behind_a_failure, "jobDisabled"),
    "tasks that are tried again without end on all slots": Situation(
        c.retried_for_ever, "slotsBusy", "limiting", running=True
    ),
    "a pool of the job's own beyond the quota of pools": Situation(
        c.own_pool_beyond_the_quota, "autoPoolFailed", words=("AutoPoolCreationFailedWithQuotaReached",)
    ),
    "a pool of the job's own without its application package": Situation(
        c.own_pool_without_a_package,
        "autoPoolFailed",
        words=(
            "InvalidApplicationPackageReferencesInAutoPool",
            "unknown-tool",
        ),
    ),
    "a pool of the job's own without quota for nodes": Situation(
        c.own_pool_without_quota, "resizeFailed", words=("quota",)
    ),
    "an application package that can't be installed": Situation(
        c.package_missing, "nodesUnusable", words=("application package can't be installed",)
    ),
    "an application package that can't be installed in a pool of the job's own": Situation(
        c.package_missing_in_its_own_pool, "nodesUnusable", words=("application package can't be installed",)
    ),
    "a full pool beside one with room": Situation(
        c.full_beside_an_empty_pool, "slotsBusy", words=("'other' (4 tasks on 4 slots)",)
    ),
    "a pool without nodes beside a full one": Situation(c.empty_beside_a_full_pool, "poolTargetZero"),
    "a job of a schedule on a full pool": Situation(
        c.of_a_schedule_on_a_full_pool, "slotsBusy", words=("'other' (2 tasks on 2 slots)",), job=NIGHTLY
    ),
    "a job of a schedule that was terminated": Situation(
        c.of_a_schedule_that_was_terminated, "jobCompleted", words=("its job schedule was terminated",), job=NIGHTLY
    ),
    "more preempted nodes than full ones": Situation(c.spot_nodes_taken_from_a_full_pool, "nodesPreempted"),
    "preempted nodes in a pool that is being emptied": Situation(c.preempted_in_a_pool_to_be_emptied, "poolTargetZero"),
}
