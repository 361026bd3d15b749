"""All findings on the efficiency of a job's runs on a VM size: of rules with the same remedy the first that applies."""

from collections.abc import Callable, Sequence

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.rules.idle_gpus import idle_gpus
from shared.domain.efficiency.rules.memory_above_need import memory_above_need
from shared.domain.efficiency.rules.memory_near_limit import memory_near_limit
from shared.domain.efficiency.rules.one_busy_core import one_busy_core
from shared.domain.efficiency.rules.other_size import other_size
from shared.domain.efficiency.rules.slots_too_few import slots_too_few
from shared.domain.efficiency.rules.slots_too_many import slots_too_many
from shared.domain.efficiency.rules.spot_loses_work import spot_loses_work
from shared.domain.efficiency.rules.spot_suffices import spot_suffices
from shared.domain.efficiency.rules.start_up_exceeds_work import start_up_exceeds_work
from shared.domain.efficiency.rules.stolen_time import stolen_time
from shared.domain.efficiency.rules.task_time_limit_too_long import task_time_limit_too_long
from shared.domain.efficiency.rules.time_limit_too_long import time_limit_too_long
from shared.domain.efficiency.rules.waits_for_disk import waits_for_disk
from shared.domain.efficiency.rules.waits_for_network import waits_for_network
from shared.domain.findings.finding import Finding

type Rule = Callable[[EfficiencyEvidence], Finding | None]
_RULES: tuple[tuple[Rule, ...], ...] = (
    (
        waits_for_disk,
        waits_for_network,
        idle_gpus,
        slots_too_many,
        one_busy_core,
        memory_above_need,
        slots_too_few,
        other_size,
    ),
    (memory_near_limit,),
    (stolen_time,),
    (start_up_exceeds_work,),
    (spot_loses_work, spot_suffices),
    (time_limit_too_long, task_time_limit_too_long),
)
"""Rules by remedy: those of the first line are about another number of slots or another VM size."""
_OF_JOB: frozenset[Rule] = frozenset(
    (
        waits_for_network,
        stolen_time,
        start_up_exceeds_work,
        spot_loses_work,
        spot_suffices,
        time_limit_too_long,
        task_time_limit_too_long,
    )
)
"""Rules whose figures are those of the whole job or its nodes: they are named with its main VM size alone."""


def efficiency_findings(e: EfficiencyEvidence) -> Sequence[Finding]:
    """Returns what the rules conclude; nothing where too few runs were measured.

    On other VM sizes than the main one a finding on the job isn't named, but still replaces those behind it.
    """
    found = (next(((rule, one) for rule in rules if (one := rule(e))), None) for rules in _RULES)
    return [one for rule, one in filter(None, found) if e.is_main_size or rule not in _OF_JOB]
