"""The start of an agent under proof, in place of the start in its file: the agent itself is the built one.

Three things differ, all by variables of the environment: the kernel's boot id, so that a machine seems to have been
restarted, and the spool's bounds on disk and in memory. Any Python from 3.8 runs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from agent import cli, node_agent
from agent.machine.machine import MAX_SIZE, Machine
from agent.settings import Settings, settings_of
from agent.upload.spool import DEFAULT_MEMORY, Limits

BOOT, SPOOL, MEMORY = "BATCHSCOPE_PROOF_BOOT", "BATCHSCOPE_PROOF_SPOOL", "BATCHSCOPE_PROOF_MEMORY"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class RebootedMachine(Machine):
    """This machine, with a boot id of the proof's."""

    def content(self, path: str, limit: int = MAX_SIZE) -> bytes:
        if path == _BOOT_ID and BOOT in os.environ:
            return os.environ[BOOT].encode()
        return super().content(path, limit)


def _settings_of(options: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    found = settings_of(options, environment)
    return found._replace(spool_size=int(environment.get(SPOOL, found.spool_size)))


def _limits(*, disk: int) -> Limits:
    return Limits(disk, int(os.environ.get(MEMORY, DEFAULT_MEMORY)))


if __name__ == "__main__":
    vars(cli).update(Machine=RebootedMachine, settings_of=_settings_of)
    vars(node_agent).update(Limits=_limits)
    sys.exit(cli.main())
