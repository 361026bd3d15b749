"""All rules of conditions, with how long their findings must hold."""

from collections.abc import Sequence
from datetime import timedelta

from shared.domain.conditions.rule import ConditionRule
from shared.domain.conditions.rules.accounts.unpolled import ACCOUNT_UNPOLLED, unpolled
from shared.domain.conditions.rules.jobs.failing import JOB_FAILING, failing
from shared.domain.conditions.rules.jobs.started_and_finished import JOB_FINISHED, JOB_STARTED, finished, started
from shared.domain.conditions.rules.jobs.stuck import JOB_STUCK, stuck
from shared.domain.conditions.rules.pools.autoscale_failed import POOL_AUTOSCALE_FAILED, autoscale_failed
from shared.domain.conditions.rules.pools.resize_failed import POOL_RESIZE_FAILED, resize_failed
from shared.domain.conditions.rules.pools.unsteady_nodes import (
    NODES_FLAPPING,
    SPOT_INTERRUPTED,
    flapping,
    interrupted,
)
from shared.domain.conditions.rules.pools.unusable_nodes import (
    NODES_UNUSABLE,
    START_TASKS_FAILED,
    start_tasks_failed,
    unusable,
)
from shared.domain.conditions.rules.schedules.run_late import SCHEDULE_RUN_LATE, run_late

_MINUTE = timedelta(minutes=1)

RULES: Sequence[ConditionRule] = (
    ConditionRule(ACCOUNT_UNPOLLED, "account", unpolled, 2 * _MINUTE, _MINUTE),
    ConditionRule(JOB_FAILING, "jobs", failing, keep_firing_for=5 * _MINUTE),
    ConditionRule(JOB_STUCK, "jobs", stuck, keep_firing_for=2 * _MINUTE),
    ConditionRule(JOB_STARTED, "jobs", started, is_event=True),
    ConditionRule(JOB_FINISHED, "jobs", finished, is_event=True),
    ConditionRule(POOL_RESIZE_FAILED, "pools", resize_failed, 2 * _MINUTE, 10 * _MINUTE),
    ConditionRule(POOL_AUTOSCALE_FAILED, "pools", autoscale_failed, 2 * _MINUTE, 10 * _MINUTE),
    ConditionRule(NODES_UNUSABLE, "pools", unusable, 5 * _MINUTE, 5 * _MINUTE),
    ConditionRule(START_TASKS_FAILED, "pools", start_tasks_failed, 2 * _MINUTE, 5 * _MINUTE),
    ConditionRule(NODES_FLAPPING, "pools", flapping, keep_firing_for=10 * _MINUTE),
    ConditionRule(SPOT_INTERRUPTED, "pools", interrupted, keep_firing_for=10 * _MINUTE),
    ConditionRule(SCHEDULE_RUN_LATE, "schedules", run_late, keep_firing_for=_MINUTE),
)
