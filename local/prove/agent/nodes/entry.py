"""The start of an agent under proof, in place of the start in its file: the agent itself is the built one.

Two things differ, both by variables of the environment: the kernel's boot id, so that a machine seems to have been
restarted, and the spool's bound. Any Python from 3.8 runs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from agent import cli
from agent.machine.machine import MAX_SIZE, Machine
from agent.settings import Settings, settings_of

BOOT, SPOOL = "BATCHSCOPE_PROOF_BOOT", "BATCHSCOPE_PROOF_SPOOL"
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


if __name__ == "__main__":
    vars(cli).update(Machine=RebootedMachine, settings_of=_settings_of)
    sys.exit(cli.main())
