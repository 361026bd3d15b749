"""What is known of a job's efficiency: its measured runs, what slots offer, and what each VM size cost."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from shared.domain.core.stamps import to_milliseconds
from shared.domain.efficiency.evidence import EfficiencyEvidence, is_enough
from shared.domain.efficiency.exit_groups import ExitGroups
from shared.domain.efficiency.job_context import JobContext, TaskLimit
from shared.domain.efficiency.offers import SlotOffer
from shared.domain.efficiency.task_groups import TaskGroups, by_vm_size
from shared.domain.efficiency.used_shares import job_efficiency
from shared.domain.findings.finding import Finding
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.reports.reports import JobReport

_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class EfficiencyReport:
    """A job's measured runs in groups, what its tasks' slots offer by VM size, and findings, the dearest first.

    `as_of` is the last end of a run. `required` are the slots of each task, None where they differ. `reason` is a
    sentence why there are no offers, or no groups. `cost` is the money for what the job's tasks held, in `currency`,
    `amounts` that on nodes of each VM size; 1 each where amounts of findings are shares of that.
    `task_limit` is None where it wasn't looked up, as of too few runs. `exits` are the same runs by exit, None where
    they weren't grouped so; `days` are their groups by day since 1970. `has_gpu_figures` says whether nodes reported
    figures of GPUs, as far as that was looked up.
    """

    report: JobReport
    groups: TaskGroups
    as_of: datetime | None
    currency: str
    cost: Decimal | None
    amounts: Mapping[str, Decimal] = field(default_factory=dict)
    offers: Mapping[str, SlotOffer] = field(default_factory=dict)
    slots: int | None = None
    required: int | None = None
    findings: Sequence[Finding] = ()
    reason: str | None = None
    exits: ExitGroups | None = None
    days: Mapping[int, TaskGroups] = field(default_factory=dict)
    task_limit: TaskLimit | None = None
    has_gpu_figures: bool = False

    @property
    def efficiency(self) -> JobEfficiency:
        """What all runs used of what their slots offered, as far as enough of them are known."""
        as_of = to_milliseconds(self.as_of) // 1000 if self.as_of else 0
        return job_efficiency(by_vm_size(self.groups), self.offers, as_of, self.is_enough, gpu_sizes=self.gpu_sizes)

    @property
    def gpu_sizes(self) -> Collection[str]:
        """The VM sizes on whose nodes figures of GPUs were taken: runs without any left them untouched."""
        sizes = by_vm_size(self.groups)
        return {size for size, group in sizes.items() if self.has_gpu_figures or "gpus" in group.figures}

    @property
    def runs(self) -> int:
        return sum(group.runs for group in self.groups.values())

    @property
    def main_size(self) -> str:
        """The VM size with most of the runs, empty where it isn't known."""
        sizes = by_vm_size(self.groups)
        return max(sizes, key=lambda size: sizes[size].runs, default="")

    def is_enough(self, runs: int) -> bool:
        """Returns whether so many measured runs are enough to conclude from."""
        return is_enough(runs, self.tasks)

    def evidence(self, hourly: Mapping[str, Decimal], context: JobContext) -> list[EfficiencyEvidence]:
        """Returns the evidence for each VM size that offers something; findings on the job are of the main one."""
        sizes = by_vm_size(self.groups)
        return [
            EfficiencyEvidence(
                job_id=self.report.job.facts.id,
                group=sizes[size],
                offer=offer,
                tasks=self.tasks,
                cost=self._amount(size, is_only_one=len(sizes) == 1),
                context=context,
                hourly=hourly,
                is_main_size=size == self.main_size,
            )
            for size, offer in self.offers.items()
        ]

    def _amount(self, size: str, *, is_only_one: bool) -> Decimal | None:
        """Returns the money for what tasks held on nodes of a size; of the only one that of unknown size, too."""
        unknown = self.amounts.get("", _NOTHING) if is_only_one else _NOTHING
        return self.amounts.get(size, _NOTHING) + unknown or None

    def share_of_time(self, finding: Finding) -> float:
        """Returns what part a finding's share is of the time of vCPUs of all runs, up to a factor alike for all."""
        size = str(finding.evidence.get("vmSize", ""))
        offer, durations = self.offers.get(size), by_vm_size(self.groups)[size].figures.get("duration")
        time = (durations.time if durations else 0) * ((offer.cores if offer else None) or 1)
        return float(finding.amount.number) * time if finding.amount else 0.0

    @property
    def tasks(self) -> int | None:
        """The job's tasks in any state, None before its first read."""
        snapshot = self.report.job.snapshot
        return snapshot.counts.total if snapshot else None

    @property
    def completed(self) -> int | None:
        """The job's completed tasks, None before its first read."""
        snapshot = self.report.job.snapshot
        return snapshot.counts.completed if snapshot else None
