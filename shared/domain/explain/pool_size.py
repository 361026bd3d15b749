"""A pool's nodes and target, the error of its last resize, and how it gets more nodes.

Batch refuses to resize a pool that has an autoscale formula, so advice then names the formula instead.
"""

from shared.domain.core.amounts import amount
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool
from shared.domain.pools.resize_errors import ResizeError


def target_of(facts: PoolFacts) -> int | None:
    """Returns the pool's target number of nodes, or None where the service doesn't report it."""
    targets = [size.target for size in (facts.dedicated, facts.spot) if size.target is not None]
    return sum(targets) if targets else None


def wants_no_nodes(facts: PoolFacts) -> bool:
    return facts.state == "active" and target_of(facts) == 0


def current_error(pool: Pool | None) -> ResizeError | None:
    return next(iter(pool.current_errors), None) if pool else None


def error_before_resize(pool: Pool | None) -> ResizeError | None:
    """Returns the error of the resize before the running one, while nodes are missing."""
    began = pool.facts.attempt.began if pool and pool.facts.lacking else None
    if pool is None or began is None:
        return None
    return next((error for error in pool.errors if error.retried_at == began), None)


def nodes_of_targets(facts: PoolFacts) -> str:
    """Returns text like `0 of 2 dedicated nodes and 1 of 4 spot nodes`, or the number of nodes without targets."""
    kinds = (("dedicated", facts.dedicated), ("spot", facts.spot))
    sizes = [f"{size.current:,} of {amount(size.target, f'{name} node')}" for name, size in kinds if size.target]
    return " and ".join(sizes) or amount(facts.nodes, "node")


def larger(facts: PoolFacts) -> str:
    """Returns a clause on how to give the pool more nodes."""
    return "let the pool's autoscale formula give more nodes" if facts.auto_scale else "make the pool larger"


def replaced(facts: PoolFacts) -> str:
    """Returns a sentence on replacing lost nodes; Batch restarts only nodes that are idle or run tasks."""
    after = (
        "the pool's formula brings new ones at its next evaluation"
        if facts.auto_scale
        else "resize the pool to its size again, as removing nodes lowers its target"
    )
    return f"Batch refuses to reboot or reimage such nodes: remove them, and {after}."
