"""Facts of a node: its processor, size, location, start, disks and agent, from a session's startup records.

All facts are listed here; nothing else of those records is stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.precision import nanoseconds_of
from shared.domain.telemetry.rollups.summaries import number_of

_MAX_DISKS, _MAX_WHOLE = 64, 1 << 63
_MAX_LENGTH = 256  # characters of a fact
_TICKS, _TICK = 116_444_736_000_000_000, 100  # Win32's time: ticks from 1601 to 1970, and nanoseconds per tick
_MIN_TICKS = 100_000_000_000_000_000  # 1917
_TEXTS = {
    ("vm_cpuinfo_metadata", "model_name"): "cpu_model", ("vm_lscpu_metadata", "Model_name"): "cpu_model",
    ("imds_metadata", "vm_size"): "vm_size", ("imds_metadata", "vm_location"): "region",
    ("imds_metadata", "zone"): "zone", ("imds_metadata", "vm_priority"): "priority",
    ("batchscope_agent", "version"): "agent_version",
    ("imds_metadata", "vm_image_offer"): "image_offer", ("imds_metadata", "vm_image_sku"): "image_sku",
}  # fmt: skip
_TIMES = {
    ("linux_boot", "iso_boot_timestamp"): "booted_at", ("batch_agent_data", "batch_boot_time"): "booted_at",
    ("batch_agent_data", "batch_allocation_time"): "allocated_at",
}  # fmt: skip
_FINER = "linux_boot"
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk; `size` in bytes."""

    name: str
    size: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Facts of a node; unknown ones are empty or None. Times have microseconds."""

    cpu_model: str = ""
    cpu_count: int | None = None
    vm_size: str = ""
    region: str = ""
    zone: str = ""
    priority: str = ""
    image_offer: str = ""
    image_sku: str = ""
    booted_at: datetime | None = None
    allocated_at: datetime | None = None
    disks: tuple[Disk, ...] = ()
    agent_version: str = ""
    agent_began_at: datetime | None = None

    def with_record(self, metric: Metric) -> "NodeFacts":
        """Returns the facts extended by one more record, which must be without secrets."""
        found: dict[str, object] = {
            fact: str(metric.fields[name])[:_MAX_LENGTH]
            for (record, name), fact in _TEXTS.items()
            if record == metric.name and metric.fields.get(name)
        }
        found |= self._times(metric)
        cpus = _whole(metric.fields.get("CPUs")) if metric.name == "vm_lscpu_metadata" else None
        if cpus is not None:
            found["cpu_count"] = cpus
        if "agent_version" in found and metric.time is not None:
            found["agent_began_at"] = from_milliseconds(metric.time // 1_000_000)
        if disk := _disk(metric.name, metric.fields):
            found["disks"] = self._with(disk)
        return replace(self, **found) if found else self  # type: ignore[arg-type]  # each is of its fact's kind

    def _times(self, metric: Metric) -> dict[str, object]:
        """Returns the times in a record; the kernel's start time is more precise than the agent's."""
        found: dict[str, object] = {}
        for (record, name), fact in _TIMES.items():
            moment = _moment(metric.fields.get(name)) if record == metric.name else None
            if moment and (record == _FINER or getattr(self, fact) is None):
                found[fact] = moment
        return found

    def _with(self, disk: Disk) -> tuple[Disk, ...]:
        others = tuple(other for other in self.disks if other.name != disk.name)
        return (*others, disk) if len(others) < _MAX_DISKS else self.disks


def latest_of(some: Iterable[NodeFacts]) -> NodeFacts:
    """Returns the facts with the latest known start; empty facts for an empty list."""
    return max(some, key=lambda facts: (facts.booted_at or _EVER, facts.cpu_model != ""), default=NodeFacts())


def _disk(record: str, fields: Mapping[str, object]) -> Disk | None:
    """Returns a disk as `lsblk` lists it, or an NVMe drive as it describes itself."""
    is_block, is_drive = record == "exec.lsblk" and fields.get("type") == "disk", record == "nvme_metadata"
    size = _whole(fields.get("size" if is_block else "physical_size"))
    name = str(fields.get("name", "")).removeprefix("/dev/")[:_MAX_LENGTH]
    if not (is_block or is_drive) or not name or size is None:
        return None
    return Disk(name, size, str(fields.get("model") or "")[:_MAX_LENGTH])


def _whole(written: object) -> int | None:
    """Returns a number without its fraction; None where it is none, negative, or exceeds 63 bits."""
    number = number_of(written)
    return int(number) if number is not None and 0 <= number < _MAX_WHOLE else None


def _moment(written: object) -> datetime | None:
    """Returns a record's time, in ISO 8601 or Win32's ticks of 100 ns since 1601; None where it is neither."""
    number = number_of(written)
    try:
        if number is not None and number >= _MIN_TICKS:
            nanoseconds = (int(number) - _TICKS) * _TICK
        elif number is None and isinstance(written, str):
            nanoseconds = nanoseconds_of(written)
        else:
            return None
        moment = from_milliseconds(nanoseconds // 1_000_000)
    except (ValueError, OverflowError):
        return None
    return moment.replace(microsecond=nanoseconds // 1000 % 1_000_000)
