"""Made-up jobs of measured runs, and the evidence of one on a VM size."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from hypothesis import strategies as st

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.job_context import JobContext
from shared.domain.efficiency.offers import GIB, SlotOffer, node_offer
from shared.domain.efficiency.task_groups import TaskGroup
from shared.domain.pools.vm_sizes import vcpus_of
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt

HOUR = 3_600_000  # milliseconds

_amounts = st.none() | st.integers(0, 1 << 40)
runs = st.builds(
    MeasuredAttempt,
    job=st.just("job"),
    task=st.sampled_from(["frame-1", "frame-2", "Merge-1", "merge-1", "0001", "x", "y7", "z"]),
    start=st.integers(1_700_000_000, 1_700_000_005),
    vm_size=st.sampled_from(["", "standard_d4s_v5", "standard_e4s_v5"]),
    duration=st.integers(0, 1 << 32),
    cpu_time=_amounts,
    memory_peak=_amounts,
    disk_bytes=_amounts,
    threads=_amounts,
    gpus=_amounts,
    gpu_memory_peak=_amounts,
)


def run(
    number: int,
    *,
    cores: float = 1.0,
    memory: float = 1.0,
    gpus: float | None = None,
    gpu_memory: float | None = None,
    disk: float = 0.0,
    hours: float = 1.0,
) -> MeasuredAttempt:
    """Returns a run of some hours: mean busy cores, peak of memory in GiB, use of GPUs, and MiB of disks a second."""
    duration = round(hours * HOUR)
    return MeasuredAttempt(
        job="job",
        task=f"task-{number:04}",
        start=1_700_000_000 + number,
        vm_size="standard_d4s_v5",
        duration=duration,
        cpu_time=round(cores * duration),
        memory_peak=round(memory * GIB),
        disk_bytes=round(disk * (1 << 20) * duration / 1000),
        threads=1,
        gpus=None if gpus is None else round(gpus * 1000),
        gpu_memory_peak=None if gpu_memory is None else round(gpu_memory * GIB),
    )


def evidence(
    some: Sequence[MeasuredAttempt],
    *,
    size: str = "standard_d4s_v5",
    slots: int = 1,
    required: int = 1,
    tasks: int | None = 1000,
    cost: str | None = "840",
    context: JobContext | None = None,
    hourly: Mapping[str, str] | None = None,
) -> EfficiencyEvidence:
    """Returns the evidence of a job on nodes of a size, whose tasks require so many of their slots."""
    offer = SlotOffer(node_offer(size, vcpus_of(size)), slots, required)
    money = Decimal(cost) if cost else None
    prices = {name: Decimal(price) for name, price in (hourly or {}).items()}
    return EfficiencyEvidence("job", TaskGroup.of(some), offer, tasks, money, context or JobContext(), prices)
