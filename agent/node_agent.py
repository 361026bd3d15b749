"""The measuring agent: samples its node, keeps lines in the spool and sends them until a signal ends it."""

from __future__ import annotations

import os
import platform
import signal
import threading
from collections.abc import Callable, Mapping
from zlib import crc32

from agent.collection import Collection
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.line_protocol import text_of
from agent.records.record import Record
from agent.sampling import Sampler
from agent.settings import Settings
from agent.startup.session import SessionFacts, agent_record, startup_records
from agent.startup.task_environment import task_environment
from agent.upload.append_blob import AppendBlobs
from agent.upload.credentials import Credential, ManagedIdentity, SasCredential
from agent.upload.http_client import HttpClient
from agent.upload.sender import Sender
from agent.upload.session_folder import Series
from agent.upload.spool import Limits, Spool
from agent.upload.uploader import Uploader

SPOOL = "spool"
ENDING_SECONDS = 20.0
"""For the last units at the end: a supervisor waits a little longer."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_IDENTITY = (
    ("AZ_BATCH_ACCOUNT_NAME", "account"), ("AZ_BATCH_POOL_ID", "pool"), ("AZ_BATCH_NODE_ID", "node"),
)  # fmt: skip


class NodeAgent:
    """Everything that one agent needs; constructing it looks at the node, and begins neither threads nor requests."""

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        machine: Machine,
        clock: Clock,
        log: Callable[[str], None],
        *,
        supervisor: int = 0,
    ) -> None:
        self._clock = clock
        self._log = log
        self._stop = threading.Event()
        self._begin = clock.now()
        self._collection = Collection(
            machine,
            clock,
            interval=settings.interval,
            folder=settings.folder,
            imds=settings.imds,
            supervisor=supervisor,
        )
        self._facts = session_facts(self._collection, {**_names(settings), **environment}, self._begin)
        self.startup = startup_records(machine, self._facts, self._begin)
        self.uploader = self._uploader(settings, environment, log)
        self._sampler = Sampler(
            self._collection.collectors,
            self.uploader,
            clock,
            flush=settings.flush,
            phase=crc32(settings.node.encode()) / (1 << 32),
            log=log,
            flushed=self._collection.spooled,
        )

    def run(self) -> None:
        """Measures until INT, TERM or HUP, then hands everything on; unsent records stay in the spool."""
        for signum in _SIGNALS:
            signal.signal(signum, lambda *_: self._stop.set())
        self.uploader.start()
        self._sampler.add(record._replace(time=self._begin) for record in self.startup)
        self._sampler.step()
        self._sampler.flush()
        while not self._stop.wait(self._sampler.step()):
            pass
        self._sampler.flush()
        self.uploader.drain(ENDING_SECONDS)
        self.close()

    def close(self) -> None:
        """Closes the resources of collectors; they measure no more."""
        self._collection.close()

    def _uploader(self, settings: Settings, environment: Mapping[str, str], log: Callable[[str], None]) -> Uploader:
        series = Series(settings.container, settings.prefix, text_of(self._opening(), self._begin))
        limits = Limits(disk=settings.spool_size)
        spool = Spool(os.path.join(settings.folder, SPOOL), series, self._clock, log, limits=limits)
        blobs = AppendBlobs(
            settings.container, _credential(settings, self._clock), HttpClient(environment), self._clock
        )
        return Uploader(spool, Sender(spool, blobs, self._clock, log), log)

    def _opening(self) -> list[Record]:
        """Returns the records that begin each blob: whose it is, and by which contract."""
        return [agent_record(self._facts, self._facts.notes), *task_environment(self._facts.environment)]


def session_facts(collection: Collection, environment: Mapping[str, str], begin: int) -> SessionFacts:
    """Returns the facts of a session that begins at a time, in nanoseconds since 1970."""
    return SessionFacts(
        session=f"{begin // 1_000_000}-{os.getpid()}",
        collectors=[collector.name for collector in collection.collectors],
        notes=collection.notes,
        environment=environment,
        architecture=platform.machine(),
        instance=collection.instance,
    )


def _credential(settings: Settings, clock: Clock) -> Credential:
    return SasCredential(settings.sas) if settings.sas else ManagedIdentity(settings.imds, settings.identity, clock)


def _names(settings: Settings) -> dict[str, str]:
    """Returns Batch's variables for the names that were given as options."""
    return {variable: str(getattr(settings, name)) for variable, name in _IDENTITY}
