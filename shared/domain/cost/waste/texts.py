"""Words that rules on waste share."""

from shared.domain.pools.pool_facts import PoolFacts

_HOUR = 3_600_000  # milliseconds


def hours(milliseconds: int) -> str:
    """Returns time of nodes as text, say `12.5 node hours`."""
    return f"{milliseconds / _HOUR:,.1f} node hours"


def percent(part: int, whole: int) -> int:
    """Returns a share in whole percent; 0 of nothing."""
    return round(100 * part / whole) if whole else 0


def resize_to(facts: PoolFacts, nodes: str) -> str:
    """Returns the command that gives a pool a number of dedicated nodes."""
    return f"az batch pool resize --pool-id {facts.id} --target-dedicated-nodes {nodes}"
