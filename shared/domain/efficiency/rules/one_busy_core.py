"""The rule on tasks that keep one core busy, while their slots offer several."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.rules.remedies import remedy_for
from shared.domain.efficiency.texts import number_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_ONE_CORE, MAX_ONE_CORE_EVER

_SEVERAL = 2


def one_busy_core(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose slots offer two cores or more, where tasks keep one busy on average."""
    cores, offered = e.enough("cores"), e.offer.cores
    if cores is None or offered is None or offered < _SEVERAL:
        return None
    most, usual = cores.highest.value / THOUSAND, cores.quantile(95) / THOUSAND
    remedy = remedy_for(e)
    if remedy is None or usual > MAX_ONE_CORE or most > MAX_ONE_CORE_EVER:
        return None
    return e.found(
        "oneBusyCore",
        title=f"Tasks keep at most one of {number_text(offered)} cores busy",
        sentence=f"95 % of {cores.count:,} runs kept at most {usual:.1f} cores busy on average, of"
        f" {number_text(offered)} that their slots offer.",
        advice=remedy.advice,
        evidence={"cores": round(usual, 2), "offeredCores": offered, **remedy.evidence},
        saving=remedy.saving,
    )
