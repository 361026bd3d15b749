"""Which conditions follow from others that fire, and are no news of their own: inhibition, in Alertmanager."""

from collections.abc import Iterable, Mapping

from shared.domain.conditions.condition import Condition, ConditionKey
from shared.domain.conditions.rules.accounts.unpolled import ACCOUNT_UNPOLLED
from shared.domain.conditions.rules.jobs.stuck import JOB_STUCK
from shared.domain.conditions.rules.pools.autoscale_failed import POOL_AUTOSCALE_FAILED
from shared.domain.conditions.rules.pools.resize_failed import POOL_RESIZE_FAILED
from shared.domain.conditions.rules.pools.unusable_nodes import NODES_UNUSABLE, START_TASKS_FAILED
from shared.domain.core.keys import key_of

_OF_POOL = (POOL_RESIZE_FAILED, POOL_AUTOSCALE_FAILED, START_TASKS_FAILED, NODES_UNUSABLE)


def inhibited(conditions: Iterable[Condition]) -> Mapping[ConditionKey, ConditionKey]:
    """Returns the keys of an account's conditions that follow from others, with those of the others.

    All follow from an account that isn't polled; a stuck job follows from what is wrong with its pool.
    """
    listed = list(conditions)
    firing = [one for one in listed if one.state == "firing"]
    account = next((one.key for one in firing if one.key.rule == ACCOUNT_UNPOLLED), None)
    pools: dict[str, ConditionKey] = {}
    for rule in reversed(_OF_POOL):
        pools |= {one.key.id: one.key for one in firing if one.key.rule == rule}
    found = dict[ConditionKey, ConditionKey]()
    for one in listed:
        pool = one.finding.evidence.get("poolId") if one.key.rule == JOB_STUCK else None
        cause = account or (pools.get(key_of(pool)) if isinstance(pool, str) else None)
        if cause and cause != one.key:
            found[one.key] = cause
    return found
