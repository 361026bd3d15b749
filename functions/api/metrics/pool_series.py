"""Prometheus series of pools and their rounds: nodes by state and kind, slots, cores, and the confidence in them.

A pool has series once its nodes were listed. No series is per node, and a state without nodes has no sample.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from functions.api.metrics.series import Counter, Gauge
from shared.domain.nodes.interruptions import Interruptions
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.domain.reports.reports import PoolReport

type _Sample = tuple[tuple[str, ...], float]


class SeenPoolRound(NamedTuple):
    """The last round over an account's pools, with the account's id."""

    account: str
    last: PoolRound


def _of_round(name: str, meaning: str, value: Callable[[PoolRound], float]) -> Gauge[SeenPoolRound]:
    def samples(seen: SeenPoolRound) -> Iterator[_Sample]:
        yield (seen.account,), value(seen.last)

    return Gauge(name, meaning, ("account",), samples)


def _gauge(name: str, meaning: str, value: Callable[[Pool, NodesSnapshot], float | None]) -> Gauge[PoolReport]:
    """Returns a gauge with one sample per pool that has a value."""

    def samples(report: PoolReport) -> Iterator[_Sample]:
        pool = report.pool
        found = value(pool, pool.picture) if pool.picture else None
        if found is not None:
            yield (report.account.id, pool.facts.id), found

    return Gauge(name, meaning, ("account", "pool"), samples)


def _nodes(report: PoolReport) -> Iterator[_Sample]:
    picture = report.pool.picture
    for state, dedicated, number in picture.summary.counts if picture else ():
        yield (report.account.id, report.pool.facts.id, state, _told(dedicated)), number


def _targets(report: PoolReport) -> Iterator[_Sample]:
    facts = report.pool.facts
    for size, dedicated in ((facts.dedicated, True), (facts.spot, False)):
        if report.pool.picture and size.target is not None:
            yield (report.account.id, facts.id, _told(dedicated)), size.target


def _exact(report: PoolReport) -> Iterator[_Sample]:
    if report.pool.picture:
        yield (report.account.id, report.pool.facts.id), report.verdict.level == "exact"


def _counter(name: str, meaning: str, value: Callable[[Interruptions], int]) -> Counter[PoolReport]:
    def samples(report: PoolReport) -> Iterator[_Sample]:
        picture = report.pool.picture
        if picture and picture.tally:
            yield (report.account.id, report.pool.facts.id), value(picture.tally.interruptions)

    return Counter(name, meaning, ("account", "pool"), samples)


def _flapping(report: PoolReport) -> Iterator[_Sample]:
    if report.pool.picture:
        yield (report.account.id, report.pool.facts.id), report.pool.picture.flapping_nodes(report.now)


def _evaluation_failed(report: PoolReport) -> Iterator[_Sample]:
    scale = report.pool.facts.auto_scale
    if report.pool.picture and scale and scale.evaluated_at:
        yield (report.account.id, report.pool.facts.id), scale.error is not None


def _told(dedicated: bool) -> str:  # noqa: FBT001 - a label's value
    return "true" if dedicated else "false"


POOL_ROUND_SERIES = (
    _of_round(
        "azbatch_collector_pools_up",
        "1 if the last round over the account's pools succeeded.",
        lambda last: not last.problem,
    ),
    _of_round(
        "azbatch_collector_pools_calls",
        "Requests to Batch in the last round over pools.",
        lambda last: last.batch_calls,
    ),
)
POOL_SERIES = (
    Gauge("azbatch_pool_nodes", "Nodes of a pool by state.", ("account", "pool", "state", "dedicated"), _nodes),
    Gauge("azbatch_pool_target_nodes", "Nodes that a pool is to have.", ("account", "pool", "dedicated"), _targets),
    _gauge("azbatch_pool_slots", "Task slots of all nodes of a pool.", lambda _, picture: picture.summary.slots),
    _gauge("azbatch_pool_used_slots", "Task slots that running tasks use.", lambda _, picture: picture.summary.used),
    _gauge(
        "azbatch_pool_cores",
        "vCPUs of a pool's nodes that have a machine.",
        lambda pool, _: pool.cores.total if pool.cores else None,
    ),
    _gauge(
        "azbatch_pool_busy_cores",
        "vCPUs by the share of slots that is used.",
        lambda pool, _: pool.cores.busy if pool.cores else None,
    ),
    _gauge(
        "azbatch_pool_resize_errors",
        "Errors of the last resize.",
        lambda pool, _: sum(error.is_current for error in pool.errors),
    ),
    Gauge(
        "azbatch_pool_autoscale_error",
        "1 if the last evaluation of the autoscale formula failed.",
        ("account", "pool"),
        _evaluation_failed,
    ),
    _counter("azbatch_pool_interruptions_total", "Spot nodes that were preempted.", lambda seen: seen.total),
    _counter(
        "azbatch_pool_unexplained_restarts_total",
        "Restarts of spot nodes that may have been interruptions.",
        lambda seen: seen.unexplained,
    ),
    Gauge(
        "azbatch_pool_flapping_nodes",
        "Nodes that fell into a bad state three times within an hour.",
        ("account", "pool"),
        _flapping,
    ),
    _gauge(
        "azbatch_pool_as_of_timestamp_seconds",
        "As of when a pool's nodes are.",
        lambda _, picture: picture.as_of.timestamp(),
    ),
    Gauge(
        "azbatch_pool_exact", "1 if the figures of a pool were exact as of when they are.", ("account", "pool"), _exact
    ),
)
