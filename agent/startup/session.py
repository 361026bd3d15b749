"""The first records of a session: the agent's own, then all facts of the node, without secrets.

Each source costs at most its own records: one that fails or is missing is named in the agent's record.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Callable, Iterable, NamedTuple

from agent import CONTRACT, VERSION
from agent.machine.machine import Machine
from agent.records.record import Record, Value
from agent.startup.batch_agent import batch_agent_records
from agent.startup.boot import boot_records
from agent.startup.disks import disk_records
from agent.startup.drivers import driver_records, kernel_records
from agent.startup.images import image_records
from agent.startup.imds_facts import imds_facts
from agent.startup.mounts import mount_records
from agent.startup.once import once
from agent.startup.processor import processor_records
from agent.startup.redaction import safe_record, safe_text
from agent.startup.task_environment import task_environment

MEASUREMENT = "batchscope_agent"
_Source = Callable[[], Iterable[Record]]


class SessionFacts(NamedTuple):
    """The agent's own facts at the start of a session.

    `collectors` are the names of those that work, `notes` the sentence of each that the node lacks, by its name.
    `environment` is the agent's own, `architecture` as `uname -m` has it. `instance` is the document of IMDS, empty
    where the service doesn't answer; the caller asks for it, since it is needed for Scheduled Events as well.
    """

    session: str
    collectors: Iterable[str]
    notes: Mapping[str, str]
    environment: Mapping[str, str]
    architecture: str
    instance: Mapping[str, object]


def startup_records(machine: Machine, facts: SessionFacts, now: int) -> list[Record]:
    """Returns all startup records, the agent's first; `now` is in nanoseconds since 1970."""
    found = list(task_environment(facts.environment))  # names and ids only, which may be as long as secrets
    failures: dict[str, str] = {}
    for name, source in _sources(machine, facts, now).items():
        try:
            found += [safe_record(record) for record in source()]
        except Exception as error:
            failures[name] = f"The facts can't be read: {type(error).__name__}."
    return [agent_record(facts, {**facts.notes, **failures}), *found]


def agent_record(facts: SessionFacts, notes: Mapping[str, str]) -> Record:
    """Returns the agent's record: versions, session, names of collectors, and a note for each that is missing."""
    fields: dict[str, Value | None] = {
        "contract": CONTRACT,
        "version": VERSION,
        "session": facts.session,
        "python": ".".join(map(str, sys.version_info[:3])),
        "collectors": " ".join(sorted(facts.collectors)),
        "notes": " | ".join(f"{name}: {safe_text(note)}" for name, note in sorted(notes.items())),
    }
    return once(MEASUREMENT, fields)


def _sources(machine: Machine, facts: SessionFacts, now: int) -> Mapping[str, _Source]:
    """Returns the sources by name, those of the VM and of the kernel's start first."""
    return {
        "imds": lambda: imds_facts(facts.instance),
        "boot": lambda: boot_records(machine, now),
        "batch_agent": lambda: batch_agent_records(machine),
        "processor": lambda: processor_records(machine, facts.architecture),
        "disks": lambda: disk_records(machine),
        "kernel": lambda: kernel_records(machine),
        "drivers": lambda: driver_records(machine),
        "mounts": lambda: mount_records(machine),
        "images": lambda: image_records(machine),
    }
