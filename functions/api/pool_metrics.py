"""Prometheus series of pools: nodes by state and kind, slots, cores, and how sure all that is. None of single nodes."""

from collections.abc import Mapping, Sequence

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from shared.domain.pool_rounds import PoolRound
from shared.domain.reports import PoolReport

_POOL = ["account", "pool"]


def pool_round_families(rounds: Mapping[str, PoolRound | None]) -> list[Metric]:
    """The series of the last rounds over pools, by account id; none of accounts that had none yet."""
    up = GaugeMetricFamily(
        "azbatch_collector_pools_up", "1 if the last round over the account's pools succeeded.", labels=["account"]
    )
    calls = GaugeMetricFamily(
        "azbatch_collector_pools_calls", "Requests to Batch in the last round over pools.", labels=["account"]
    )
    for account, last in rounds.items():
        if last:
            up.add_metric([account], 0 if last.problem else 1)
            calls.add_metric([account], last.batch_calls)
    return [up, calls]


def pool_families(pools: Sequence[PoolReport]) -> list[Metric]:
    """The series of pools whose nodes were listed; a state in which no node is has none, cores only known sizes."""
    nodes = GaugeMetricFamily("azbatch_pool_nodes", "Nodes of a pool by state.", labels=[*_POOL, "state", "dedicated"])
    target = GaugeMetricFamily(
        "azbatch_pool_target_nodes", "Nodes that a pool is to have.", labels=[*_POOL, "dedicated"]
    )
    slots = GaugeMetricFamily("azbatch_pool_slots", "Task slots of all nodes of a pool.", labels=_POOL)
    used = GaugeMetricFamily("azbatch_pool_used_slots", "Task slots that running tasks use.", labels=_POOL)
    cores = GaugeMetricFamily("azbatch_pool_cores", "vCPUs of all nodes of a pool.", labels=_POOL)
    busy = GaugeMetricFamily("azbatch_pool_busy_cores", "vCPUs by the share of slots that is used.", labels=_POOL)
    errors = GaugeMetricFamily("azbatch_pool_resize_errors", "Errors of the last resize.", labels=_POOL)
    as_of = GaugeMetricFamily("azbatch_pool_as_of_timestamp_seconds", "As of when a pool's nodes are.", labels=_POOL)
    exact = GaugeMetricFamily("azbatch_pool_exact", "1 if the figures of a pool are exact.", labels=_POOL)
    for report in pools:
        pool, picture = report.pool, report.pool.picture
        if picture is None:
            continue
        labels = [report.account.id, pool.facts.id]
        for state, dedicated, number in picture.summary.counts:
            nodes.add_metric([*labels, state, str(dedicated).lower()], number)
        for size, dedicated in ((pool.facts.dedicated, True), (pool.facts.spot, False)):
            if size.target is not None:
                target.add_metric([*labels, str(dedicated).lower()], size.target)
        slots.add_metric(labels, picture.summary.slots)
        used.add_metric(labels, picture.summary.used)
        if pool.cores:
            cores.add_metric(labels, pool.cores.total)
            busy.add_metric(labels, pool.cores.busy)
        errors.add_metric(labels, sum(error.is_current for error in pool.errors))
        as_of.add_metric(labels, picture.as_of.timestamp())
        exact.add_metric(labels, 1 if report.verdict.level == "exact" else 0)
    return [nodes, target, slots, used, cores, busy, errors, as_of, exact]
