"""All findings on the efficiency of a job's runs on a VM size: of rules with the same remedy the first that applies."""

from collections.abc import Callable, Sequence

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.rules.idle_gpus import idle_gpus
from shared.domain.efficiency.rules.memory_above_need import memory_above_need
from shared.domain.efficiency.rules.memory_near_limit import memory_near_limit
from shared.domain.efficiency.rules.one_busy_core import one_busy_core
from shared.domain.efficiency.rules.waits_for_disk import waits_for_disk
from shared.domain.findings.finding import Finding

type Rule = Callable[[EfficiencyEvidence], Finding | None]
_RULES: tuple[tuple[Rule, ...], ...] = (
    (waits_for_disk, idle_gpus, one_busy_core, memory_above_need),
    (memory_near_limit,),
)
"""Rules by remedy: those of the first line are about another number of slots or another VM size."""


def efficiency_findings(e: EfficiencyEvidence) -> Sequence[Finding]:
    """Returns what the rules conclude; nothing where too few runs were measured."""
    found = (next((one for rule in rules if (one := rule(e))), None) for rules in _RULES)
    return [one for one in found if one]
