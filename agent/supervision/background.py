"""The agent's process in the background: its log, its registration, its signals and its child together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.supervision.child import Child
from agent.supervision.instances import Registry
from agent.supervision.log_file import LogFile
from agent.supervision.session import Session
from agent.supervision.signal_queue import SignalQueue


def run_in_background(
    folder: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    machine: Machine,
    clock: Clock,
    *,
    task: str,
    version: str,
) -> None:
    """Supervises `command` as the agent of `task`, empty for a start task, until a signal asks it to end.

    `folder` is one that `own_folder` returned: the log and the registry lie there. `environment` is the child's.
    """
    log = LogFile(f"{folder}/agent.log", clock)
    log.redirect()
    child, registry = Child(command, environment), Registry(folder, machine, clock)
    with SignalQueue() as wait:
        log.write(f"The agent {version} starts.")
        session = Session(registry, child, clock, log.write, task=task, version=version, pid=os.getpid(), duties=(log,))
        session.run(wait)
        log.write("The agent ends.")
