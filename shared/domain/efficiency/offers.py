"""What nodes and their slots offer: vCPUs by name or setting of the pool, memory and GPUs by `vm_sizes.json`.

The file has its source and the date of that for each series of sizes. A size that isn't there offers unknown memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from shared.domain.findings.thresholds import MAX_SLOTS, MAX_SLOTS_PER_CORE, MIN_MORE_TASKS
from shared.domain.pools.vm_sizes import vcpus_of

GIB = 1 << 30
_RENAMED = {"memory_gib": "memoryGiB", "local_disk": "localDisk"}
_OLDEST_ADVISED = 5  # Azure's guides lead from earlier versions to version 5
_WITH_GPUS = "standard_n"
_FILE = Path(__file__).with_name("vm_sizes.json")


class Gpus(NamedTuple):
    """The number of GPUs of a size, and the memory of all of them in GiB."""

    number: int
    memory: int


class SizeSeries(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename=_RENAMED):
    """A series of VM sizes, as its page of the day `dated` describes it; sizes are in lower case.

    `retires` is when Azure retires it, None where that isn't announced.
    """

    name: str
    source: str
    dated: date
    local_disk: bool
    memory_gib: Mapping[str, int]
    gpus: Mapping[str, Gpus] = {}
    retires: date | None = None


class SizeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The file: its series, and the page about retirements of the day `retirements_dated`."""

    series: list[SizeSeries]
    retirements: str
    retirements_dated: date


@dataclass(frozen=True, slots=True)
class NodeOffer:
    """What a node offers: vCPUs, bytes of memory and a local disk, None where unknown; GPUs and the memory of all.

    GPUs of a size that the file lacks are unknown, too, where `may_have_gpus` says so.
    """

    vm_size: str
    cores: int | None
    memory: int | None
    gpus: int = 0
    gpu_memory: int = 0
    has_local_disk: bool | None = None

    def with_memory(self, measured: float | None) -> "NodeOffer":
        """Returns the offer with the memory that its node's agents measured, where the file lacks the size."""
        return self if self.memory or not measured else replace(self, memory=round(measured))

    @property
    def may_have_gpus(self) -> bool:
        """Whether it has GPUs, or is of a family with these that the file lacks."""
        return bool(self.gpus) or self.vm_size.startswith(_WITH_GPUS)

    @property
    def are_gpus_known(self) -> bool:
        """Whether its GPUs are known, or it certainly has none."""
        return bool(self.gpus) or not self.may_have_gpus

    def replaces(self, other: "NodeOffer") -> bool:
        """Returns whether it has the GPUs of another node, and a local disk, unless that one is known to have none."""
        same_gpus = (self.gpus, self.gpu_memory) == (other.gpus, other.gpu_memory)
        return other.are_gpus_known and same_gpus and self.has_disk_of(other)

    def has_disk_of(self, other: "NodeOffer") -> bool:
        """Returns whether it has a local disk, or another node is known to have none."""
        return bool(self.has_local_disk) or other.has_local_disk is False

    @property
    def most_slots(self) -> int:
        """The most task slots that Batch allows; 256 where its vCPUs aren't known."""
        return MAX_SLOTS if self.cores is None else min(MAX_SLOTS, MAX_SLOTS_PER_CORE * self.cores)

    @property
    def room(self) -> "Room | None":
        """Its vCPUs and memory, None where one of them is unknown."""
        return Room(self.cores, self.memory) if self.cores and self.memory else None


class Room(NamedTuple):
    """vCPUs, and bytes of memory."""

    cores: float
    memory: float

    def suffices(self, need: "Room") -> bool:
        return self.cores >= need.cores and self.memory >= need.memory

    def is_much_smaller(self, than: "Room") -> bool:
        """Returns whether it has two thirds of another's vCPUs at most, or no more of them and half the memory."""
        has_less_memory = self.cores <= than.cores and self.memory * 2 <= than.memory
        return self.cores * MIN_MORE_TASKS <= than.cores or has_less_memory


@dataclass(frozen=True, slots=True)
class SlotOffer:
    """A task's share of a node: `required` of its `slots`. `tasks` such tasks fit on a node."""

    node: NodeOffer
    slots: int
    required: int

    @property
    def tasks(self) -> int:
        return max(self.slots // self.required, 1)

    @property
    def cores(self) -> float | None:
        return None if self.node.cores is None else self.node.cores * self._share

    @property
    def memory(self) -> float | None:
        return None if self.node.memory is None else self.node.memory * self._share

    @property
    def gpus(self) -> float:
        return self.node.gpus * self._share

    @property
    def gpu_memory(self) -> float:
        return self.node.gpu_memory * self._share

    @property
    def room(self) -> Room | None:
        """The task's share of vCPUs and memory, None where one of them is unknown."""
        node = self.node.room
        return Room(node.cores * self._share, node.memory * self._share) if node else None

    @property
    def _share(self) -> float:
        return min(self.required / self.slots, 1.0)


def node_offer(vm_size: str, vcpus: int | None) -> NodeOffer:
    """Returns the offer of a node of a size, with the vCPUs that the pool leaves it."""
    for series in size_series():
        if vm_size in series.memory_gib:
            gpus = series.gpus.get(vm_size, Gpus(0, 0))
            memory = series.memory_gib[vm_size] * GIB
            return NodeOffer(vm_size, vcpus, memory, gpus.number, gpus.memory * GIB, series.local_disk)
    return NodeOffer(vm_size, vcpus, None)


@cache
def advised_nodes() -> Sequence[NodeOffer]:
    """Returns what nodes of all sizes in the file offer, without those that Azure retires."""
    lasting = [series for series in size_series() if series.retires is None]
    return [node_offer(size, vcpus_of(size)) for series in lasting for size in series.memory_gib]


def size_series() -> list[SizeSeries]:
    """Returns the series of the file."""
    return size_file().series


@cache
def size_file() -> SizeFile:
    """Returns the file, read once."""
    return msgspec.json.decode(_FILE.read_bytes(), type=SizeFile)


def nearest_size(nodes: Iterable[NodeOffer], to: str) -> str | None:
    """Returns the size with the least room; of those alike the one whose version is nearest to another size's.

    Versions before 5 are led on to 5. Later ones may need another image.
    """
    wanted = max(_version(to), _OLDEST_ADVISED)
    found = [
        (one.room, abs(_version(one.vm_size) - wanted), len(one.vm_size), one.vm_size) for one in nodes if one.room
    ]
    return min(found)[-1] if found else None


def _version(size: str) -> int:
    """Returns the version at the end of a size's name, 1 where there is none."""
    version = size.rpartition("_v")[2]
    return int(version) if version.isdigit() else 1
