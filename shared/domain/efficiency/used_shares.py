"""What measured runs used of what their slots offer, in sums that add up over jobs and days."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from shared.domain.efficiency.offers import SlotOffer
from shared.domain.efficiency.task_groups import Figure, TaskGroup
from shared.domain.jobs.job_efficiency import JobEfficiency

_THOUSAND, _DIGITS = 1000, 4
_MILLISECONDS = 1000
_MAX = 1 << 56  # records can claim any use; sums over a job's sizes still have 64 bits


class UsedShare(NamedTuple):
    """What runs used and what their slots offered meanwhile, in one unit: amounts times seconds."""

    used: int = 0
    offered: int = 0

    def plus(self, other: "UsedShare") -> "UsedShare":
        return UsedShare(self.used + other.used, self.offered + other.offered)

    @property
    def share(self) -> float | None:
        """The used share, None where nothing is known to have been offered."""
        return round(self.used / self.offered, _DIGITS) if self.offered else None


class UsedShares(NamedTuple):
    """The number of measured runs, and used shares: of thousandths of vCPUs, of MiB, of thousandths of GPUs."""

    runs: int = 0
    cpu: UsedShare = UsedShare()
    memory: UsedShare = UsedShare()
    gpu: UsedShare = UsedShare()

    def plus(self, other: "UsedShares") -> "UsedShares":
        return UsedShares(
            self.runs + other.runs,
            self.cpu.plus(other.cpu),
            self.memory.plus(other.memory),
            self.gpu.plus(other.gpu),
        )

    @classmethod
    def summed(cls, many: "Iterable[UsedShares]") -> "UsedShares":
        found = cls()
        for one in many:
            found = found.plus(one)
        return found

    def of_job(self, as_of: int, *, enough: bool) -> JobEfficiency:
        """Returns the numbers of a job with these runs until `as_of`, without shares unless they are enough."""
        if not enough:
            return JobEfficiency(self.runs, as_of)
        return JobEfficiency(self.runs, as_of, self.cpu.share, self.memory.share, self.gpu.share)


def used_shares(
    sizes: Mapping[str, TaskGroup], offers: Mapping[str, SlotOffer], gpu_sizes: Collection[str] = ()
) -> UsedShares:
    """Returns the sums over runs by VM size; those on nodes of unknown offer count only as runs.

    On nodes of `gpu_sizes` figures of GPUs were taken, so that runs without any used none.
    """
    found = UsedShares()
    for size, group in sizes.items():
        found = found.plus(UsedShares(group.runs))
        if offer := offers.get(size):
            found = found.plus(
                UsedShares(
                    cpu=_share(group, "cores", "cores", _THOUSAND * (offer.cores or 0)),
                    memory=_share(group, "memory", "memory", offer.memory or 0, unit=1 << 20),
                    gpu=_share(group, "gpus", "duration", _THOUSAND * offer.gpus if size in gpu_sizes else 0),
                )
            )
    return found


def job_efficiency(
    sizes: Mapping[str, TaskGroup],
    offers: Mapping[str, SlotOffer],
    as_of: int,
    is_enough: Callable[[int], bool],
    *,
    gpu_sizes: Collection[str] = (),
) -> JobEfficiency:
    """Returns the numbers of a job until `as_of`: shares of each resource that enough runs have a known use of."""
    found = used_shares(sizes, offers, gpu_sizes)
    known = [(sizes[size].figures, offer) for size, offer in offers.items() if size in sizes]
    with_gpus = [sizes[size].figures for size, offer in offers.items() if size in gpu_sizes and offer.gpus]
    runs = {
        "cpu": sum(figures["cores"].count for figures, offer in known if "cores" in figures and offer.cores),
        "memory": sum(figures["memory"].count for figures, offer in known if "memory" in figures and offer.memory),
        "gpu": sum(figures["duration"].count for figures in with_gpus if "duration" in figures),
    }
    cpu, memory, gpu = (getattr(found, name).share if is_enough(number) else None for name, number in runs.items())
    return JobEfficiency(found.runs, as_of, cpu, memory, gpu)


def _share(group: TaskGroup, figure: Figure, known: Figure, offered: float, *, unit: int = 1) -> UsedShare:
    """Returns what the runs whose figure `known` is known used of a figure; the others of them used nothing."""
    values, all_values = group.figures.get(figure), group.figures.get(known)
    if all_values is None or not offered:
        return UsedShare()
    amounts = (values.used if values else 0, round(offered * all_values.time))
    return UsedShare(*(min(one // (_MILLISECONDS * unit), _MAX) for one in amounts))
