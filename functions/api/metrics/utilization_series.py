"""Prometheus series of pools' hardware: utilization over their nodes, and how many nodes report.

Names follow OpenTelemetry's `system.cpu.utilization`, `system.memory.utilization`, `system.disk.io_time`,
`system.filesystem.utilization`, `system.network.io` and `hw.gpu.utilization`. Series of nodes are in a text of their
own, at most `MAX_NODES` of a pool, as a scrape of all of them would be large.
"""

from functions.api.metrics.series import Family, Labels, Samples
from shared.domain.telemetry.pools.pool_reports import PoolUtilization

MAX_NODES = 5_000
_NAMES = (
    "cpu_utilization_ratio", "memory_utilization_ratio", "disk_utilization_ratio", "filesystem_utilization_ratio",
    "network_bytes_per_second", "network_bytes_per_second", "gpu_utilization_ratio",
)  # fmt: skip
"""Names of the metrics of UTILIZATION, in their order; traffic has one for both directions."""
_DIRECTIONS = {4: "receive", 5: "transmit"}
_MEANINGS = {
    "cpu_utilization_ratio": "Share of CPU in use",
    "memory_utilization_ratio": "Share of memory in use",
    "disk_utilization_ratio": "Busy share of the busiest disk of a node",
    "filesystem_utilization_ratio": "Used share of the fullest file system of a node",
    "network_bytes_per_second": "Network traffic of a node in bytes per second",
    "gpu_utilization_ratio": "Share of time in which GPUs were in use",
}
_STATISTICS = ("mean", "p95", "max")


_OWN_LABELS = {"network_bytes_per_second": ("direction",)}
_OVER_NODES = "mean, 95th percentile and maximum over nodes"
UTILIZATION_FAMILIES = (
    Family("azbatch_pool_reporting_nodes", "Nodes of a pool with telemetry of the last five minutes."),
    Family("azbatch_pool_silent_nodes", "Nodes without such telemetry that have a machine and ran their start task."),
    *(
        Family(f"azbatch_pool_{name}", f"{meaning}: {_OVER_NODES}.", (*_OWN_LABELS.get(name, ()), "statistic"))
        for name, meaning in _MEANINGS.items()
    ),
)
NODE_FAMILIES = (
    *(
        Family(f"azbatch_node_{name}", f"{meaning}.", (*_OWN_LABELS.get(name, ()), "node"))
        for name, meaning in _MEANINGS.items()
    ),
    Family("azbatch_pool_left_out_nodes", f"Nodes of a pool without series, as there are more than {MAX_NODES}."),
)


def utilization_samples(pool: PoolUtilization) -> Samples:
    """Returns the samples of a pool over its nodes."""
    found: dict[str, dict[Labels, float]] = {}
    for at, statistics in enumerate(pool.statistics):
        if statistics:
            known: dict[Labels, float] = {(*_direction(at), name): getattr(statistics, name) for name in _STATISTICS}
            found.setdefault(f"azbatch_pool_{_NAMES[at]}", {}).update(known)
    counts = {
        "azbatch_pool_reporting_nodes": pool.nodes.reporting,
        "azbatch_pool_silent_nodes": len(pool.nodes.silent),
    }
    return Samples((pool.account, pool.pool), {**counts, **found})


def node_samples(pool: PoolUtilization) -> Samples:
    """Returns the samples of a pool's nodes, of the first ones by id."""
    nodes = sorted({node for one in pool.by_node for node in one})
    shown, found = nodes[:MAX_NODES], dict[str, dict[Labels, float]]()
    for at, by_node in enumerate(pool.by_node):
        known: dict[Labels, float] = {(*_direction(at), node): by_node[node] for node in shown if node in by_node}
        found.setdefault(f"azbatch_node_{_NAMES[at]}", {}).update(known)
    return Samples((pool.account, pool.pool), {"azbatch_pool_left_out_nodes": len(nodes) - len(shown), **found})


def _direction(at: int) -> tuple[str, ...]:
    return (_DIRECTIONS[at],) if at in _DIRECTIONS else ()
