"""A listing of a container: the blobs of each ingest partition, and which of them have unread bytes."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.blobs.blobs import Entry, SeenBlob
from shared.domain.blobs.sweeps import PartitionSweep

_MAX_PROBLEMS = 10


@dataclass(slots=True)
class IngestPartition:
    """The blobs of an ingest partition in a listing, and the unread ones (`left`) with their unread bytes.

    `halves` wait for more to be appended: unchanged blobs that end in an incomplete unit. After a while without a write
    they are read as they are.
    """

    names: set[str] = field(default_factory=set)
    up_to_date: int = 0
    latest: datetime | None = None
    left: dict[str, tuple[SeenBlob, int]] = field(default_factory=dict)
    halves: list[tuple[SeenBlob, int]] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, blob: SeenBlob, entry: Entry | None, now: datetime) -> None:
        self.names.add(blob.name)
        self.latest = max(self.latest or blob.modified, blob.modified)
        unread = entry.unread(blob) if entry else blob.size
        if entry and entry.is_up_to_date(blob) and not (unread and entry.is_final(blob, now)):
            self.up_to_date += 1
            if unread:
                self.halves.append((blob, unread))
        else:
            self.left[blob.name] = blob, unread

    def bytes_to_read(self, blob: SeenBlob) -> int:
        """Returns how many bytes of an unread blob are read; of one that was uploaded anew, also those known."""
        return self.left[blob.name][1] if blob.is_appended else blob.size

    def swept(self, now: datetime) -> PartitionSweep:
        behind = [*self.left.values(), *self.halves]
        return PartitionSweep(
            at=now,
            blobs=len(self.names),
            up_to_date=self.up_to_date,
            latest=self.latest,
            behind_blobs=len(behind),
            behind_bytes=sum(left for _, left in behind),
            behind_since=min((blob.modified for blob, _ in behind), default=None),
            problems=tuple(f"{name}: {why}" for name, why in sorted(self.problems.items())[:_MAX_PROBLEMS]),
        )


@dataclass(slots=True)
class UnassignedBlobs:
    """Blobs in no ingest partition that may belong to a watched account, and the name and reason of the first."""

    blobs: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, why: str | None) -> None:
        self.blobs += why is not None
        if why and not self.problems:
            self.problems.append(f"{name} isn't read: {why}.")

    def swept(self, now: datetime) -> PartitionSweep:
        return PartitionSweep(now, self.blobs, problems=tuple(self.problems))


@dataclass(slots=True)
class ContainerListing:
    """A listing of the container; `marker` is where it continues, `is_whole` whether it is complete."""

    ingest_partitions: dict[str, IngestPartition] = field(default_factory=lambda: defaultdict(IngestPartition))
    of_nobody: UnassignedBlobs = field(default_factory=UnassignedBlobs)
    marker: str | None = None
    is_whole: bool = False
