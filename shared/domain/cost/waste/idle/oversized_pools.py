"""The rule on pools of fixed size that have more nodes than were ever busy at the same time."""

from math import ceil

from shared.domain.core.amounts import amount
from shared.domain.cost.waste.evidence import PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import resize_to
from shared.domain.findings.thresholds import MIN_WASTED, SIZE_HEADROOM


def may_be_oversized(pool: PoolWindow) -> bool:
    """Returns whether hours of usage suggest that a pool has too many nodes, so that samples are worth a look."""
    return pool.cost("idle").time >= MIN_WASTED and 0 < _needed(pool.busiest) < _fixed_nodes(pool)


def oversized_pool(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool of fixed size with over 1.25 times the largest number of busy nodes in any sample.

    Its cost is that share of the pool's cost, but no more than that of idle nodes.
    """
    seen = pool.most_busy
    if seen is None or not seen.samples or not may_be_oversized(pool):
        return None
    nodes, needed = _fixed_nodes(pool), _needed(max(seen.nodes, pool.busiest))
    if needed >= nodes:
        return None
    idle, excess = pool.cost("idle"), pool.billed.part(nodes - needed, nodes)
    return e.found(
        "oversizedPool",
        pool.scope,
        excess if excess.time < idle.time else idle,
        title=f"At most {seen.nodes} of {nodes} nodes are busy",
        sentence=f"In {e.days_text} at most {amount(seen.nodes, 'node')} ran tasks at the same time, in"
        f" {amount(seen.samples, 'sample')}; the pool keeps {nodes}.",
        advice=f"Make it {needed} nodes, or let an autoscale formula choose: {resize_to(pool.facts, str(needed))}",
        evidence={"nodes": nodes, "mostBusyNodes": seen.nodes, "samples": seen.samples, "neededNodes": needed},
    )


def _fixed_nodes(pool: PoolWindow) -> int:
    """Returns the target of dedicated nodes; 0 where a formula sets it, and with spot nodes, as Azure takes these."""
    facts = pool.facts
    return 0 if facts.auto_scale or facts.spot.target else facts.dedicated.target or 0


def _needed(busy: float) -> int:
    return ceil(busy * SIZE_HEADROOM)
