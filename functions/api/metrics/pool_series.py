"""Prometheus series of pools: nodes by state and kind, slots, cores, and the confidence in them.

A pool has series once its nodes were listed. No series is per node, and a state without nodes has no sample.
"""

from prometheus_client.metrics_core import CounterMetricFamily

from functions.api.metrics.account_series import counter_values
from functions.api.metrics.series import Family, Labels, Samples, Value, timestamp
from shared.domain.pools.start_up_figures import FiguresByGroup
from shared.domain.reports.reports import PoolReport
from shared.domain.retirements.announcements import days_left

POOL_FAMILIES = (
    Family("azbatch_pool_nodes", "Nodes of a pool by state.", ("state", "dedicated")),
    Family("azbatch_pool_target_nodes", "Target number of nodes of a pool.", ("dedicated",)),
    Family("azbatch_pool_slots", "Task slots of all nodes of a pool."),
    Family("azbatch_pool_used_slots", "Task slots that running tasks use."),
    Family("azbatch_pool_cores", "vCPUs of a pool's nodes that have a machine."),
    Family("azbatch_pool_busy_cores", "vCPUs weighted by the share of used slots of their nodes."),
    Family("azbatch_pool_resize_errors", "Errors of the last resize."),
    Family("azbatch_pool_autoscale_error", "1 if the last evaluation of the autoscale formula failed."),
    Family("azbatch_pool_interruptions_total", "Spot nodes that were preempted.", kind=CounterMetricFamily),
    Family(
        "azbatch_pool_unexplained_restarts_total",
        "Restarts of spot nodes that may have been interruptions.",
        kind=CounterMetricFamily,
    ),
    Family("azbatch_pool_tasks_started_total", "Tasks of a pool's jobs that started.", kind=CounterMetricFamily),
    Family("azbatch_pool_tasks_completed_total", "Tasks of a pool's jobs that completed.", kind=CounterMetricFamily),
    Family(
        "azbatch_pool_tasks_failed_total",
        "Tasks of a pool's jobs that completed and failed.",
        kind=CounterMetricFamily,
    ),
    Family("azbatch_pool_task_retries_total", "Retries of tasks of a pool's jobs.", kind=CounterMetricFamily),
    Family(
        "azbatch_pool_waiting_task_seconds_total",
        "Time that tasks of a pool's jobs waited, by cause.",
        ("cause",),
        kind=CounterMetricFamily,
    ),
    Family("azbatch_pool_flapping_nodes", "Nodes that fell into a bad state three times within an hour."),
    Family(
        "azbatch_retirement_days",
        "Days until Azure retires something that a pool uses, as announced; negative afterwards.",
        ("retirement",),
    ),
    Family(
        "azbatch_pool_startup_seconds",
        "Time from the wish for a node to its first task by phase, of nodes of today (UTC), else of yesterday.",
        ("vm_size", "image", "phase", "quantile"),
    ),
    Family(
        "azbatch_pool_startup_nodes",
        "Nodes of today (UTC), else of yesterday, that have a time of the phase.",
        ("vm_size", "image", "phase"),
    ),
    Family("azbatch_pool_as_of_timestamp_seconds", "Unix time of a pool's node counts."),
    Family("azbatch_pool_exact", "1 if a pool's figures were exact as of that time."),
)
_DEDICATED, _SPOT = "true", "false"
_SECOND = 1000  # milliseconds


def pool_samples(report: PoolReport) -> Samples:
    """Returns the samples of a pool; none before its nodes were listed."""
    pool, facts, snapshot = report.pool, report.pool.facts, report.pool.snapshot
    labels = (report.account.id, facts.id)
    if snapshot is None:
        return Samples(labels, {})
    summary, scale = snapshot.summary, facts.auto_scale
    targets = {_DEDICATED: facts.dedicated.target, _SPOT: facts.spot.target}
    values: dict[str, Value] = {
        "azbatch_pool_nodes": {(state, _DEDICATED if own else _SPOT): number for state, own, number in summary.counts},
        "azbatch_pool_target_nodes": {kind: target for kind, target in targets.items() if target is not None},
        "azbatch_pool_slots": summary.slots,
        "azbatch_pool_used_slots": summary.used,
        "azbatch_pool_cores": pool.cores.total if pool.cores else None,
        "azbatch_pool_busy_cores": pool.cores.busy if pool.cores else None,
        "azbatch_pool_resize_errors": len(pool.current_errors),
        "azbatch_pool_autoscale_error": scale.error is not None if scale and scale.evaluated_at else None,
        "azbatch_pool_flapping_nodes": snapshot.flapping_nodes(report.now),
        "azbatch_retirement_days": _retirement_days(report),
        "azbatch_pool_as_of_timestamp_seconds": timestamp(snapshot.as_of),
        "azbatch_pool_exact": report.verdict.level == "exact",
    }
    if snapshot.tally:
        values["azbatch_pool_interruptions_total"] = snapshot.tally.interruptions.total
        values["azbatch_pool_unexplained_restarts_total"] = snapshot.tally.interruptions.unexplained
    if report.tasks:
        values |= counter_values("pool", report.tasks)
    return Samples(labels, values | _start_up_values(report.start_ups or {}))


def _retirement_days(report: PoolReport) -> dict[Labels, float]:
    """Returns the days that are left by id; of several announcements of one id the earliest counts."""
    found: dict[Labels, float] = {}
    for one, days in days_left(report.retirements, report.now.date()):
        found[one.id] = min(days, found.get(one.id, days))
    return found


def _start_up_values(found: FiguresByGroup) -> dict[str, Value]:
    """Returns the samples of start-ups; a phase that no node has has none of its time."""
    phases = [(group, one) for group, figures in found.items() for one in figures.phases]
    spans = [((*group, one.phase), (("0.5", one.p50), ("0.95", one.p95))) for group, one in phases]
    return {
        "azbatch_pool_startup_seconds": {
            (*labels, quantile): span / _SECOND for labels, both in spans for quantile, span in both if span is not None
        },
        "azbatch_pool_startup_nodes": {(*group, one.phase): one.nodes for group, one in phases},
    }
