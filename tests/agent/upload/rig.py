"""An agent's upload on clocks and disks of the test's own."""

import errno
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from agent.machine.clock import Clock
from agent.upload.append_blob import AppendBlobs
from agent.upload.credentials import Credential, SasCredential
from agent.upload.disk import Disk
from agent.upload.http_client import HttpClient
from agent.upload.sender import Sender
from agent.upload.session_folder import Series
from agent.upload.spool import Limits, Spool
from tests.agent.upload.append_service import FOREIGN

SAS = "sv=2021-12-02&sig=very-secret"
OPENING = "batchscope_agent,contract=1 blob=1i 1\n"


class DiedError(BaseException):
    """The process ends here."""


class SteppedClock(Clock):
    """A clock that only a test moves."""

    def __init__(self) -> None:
        self.passed = 1000.0

    def now(self) -> int:
        return 1_795_000_000_000_000_000 + int(self.passed * 1e9)

    def monotonic(self) -> float:
        return self.passed


class DyingDisk(Disk):
    """A disk whose process dies at its n-th write from now on; 0 for never.

    While it is full it takes no bytes, and while it is read-only it also removes nothing.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.is_full = self.is_read_only = False

    def count(self) -> bool:
        self.steps -= 1
        return self.steps == 0

    def fill(self, path: str, content: bytes) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        if self.is_read_only:
            raise OSError(errno.EROFS, "Read-only file system", path)
        if self.count():
            super().fill(path, content[: len(content) // 2])
            raise DiedError
        super().fill(path, content)

    def rename(self, source: str, target: str) -> None:
        if self.count():
            raise DiedError
        super().rename(source, target)

    def sync_folder(self, path: str) -> None:
        if self.count():
            raise DiedError
        super().sync_folder(path)

    def remove(self, path: str) -> bool:
        if self.count():
            raise DiedError
        return not self.is_read_only and super().remove(path)


@dataclass
class Agent:
    """An agent's spool and sender; what it logs."""

    folder: Path
    address: str
    clock: Clock = field(default_factory=SteppedClock)
    disk: Disk = field(default_factory=Disk)
    limits: Limits = field(default_factory=Limits)
    max_blocks: int = 50_000
    opening: str = OPENING
    credential: Credential = field(default_factory=lambda: SasCredential(SAS))
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        container = f"{self.address}/telemetry"
        series = Series(container, "nodes/n1", self.opening)
        self.blobs = AppendBlobs(container, self.credential, HttpClient({}, timeout=2.0), self.clock)
        self.spool = Spool(str(self.folder), series, self.clock, self.log.append, limits=self.limits, disk=self.disk)
        self.sender = Sender(
            self.spool, self.blobs, self.clock, self.log.append, max_blocks=self.max_blocks, chance=lambda: 0.5
        )

    def step(self) -> None:
        wait = self.sender.step()
        if isinstance(self.clock, SteppedClock):
            self.clock.passed += wait

    def send_all(self, most: int = 500) -> None:
        """Sends until nothing is left; fails after too many steps."""
        for _ in range(most):
            self.step()
            if self.sender.is_done() and len(self.spool.sessions()) == 1:
                return
        raise AssertionError(f"still unsent: {self.log}")


def texts(stored: bytes) -> list[str]:
    """Returns the texts of a blob's gzip members; what another writer wrote is left out."""
    found = []
    while stored:
        if stored.startswith(FOREIGN):
            stored = stored.removeprefix(FOREIGN)
            continue
        decoder = zlib.decompressobj(31)
        found.append(decoder.decompress(stored).decode())
        assert decoder.eof
        stored = decoder.unused_data
    return found


def lines_of(blobs: dict[str, bytes]) -> dict[str, list[str]]:
    """Returns the lines of each session, in the order of its blobs; each blob has its opening first."""
    sessions: dict[str, list[str]] = {}
    numbered = []
    for name, stored in blobs.items():
        found = re.fullmatch(r"telemetry/nodes/n1/(.+)\.(\d+)\.gz", name)
        assert found, name
        numbered.append((found[1], int(found[2]), texts(stored)))
    for session, _, members in sorted(numbered):
        assert members[:1] in ([], [OPENING])
        sessions.setdefault(session, []).extend("".join(members[1:]).splitlines())
    return sessions
