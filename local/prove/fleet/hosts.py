"""Several functions hosts on one storage, and their requests to Batch and Table Storage."""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from local.dev.running.stack import Options, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children

PREFIX = "fleet"
_TABLE = re.compile(rf'"([A-Z]+) /devstoreaccount1/(?:{PREFIX}([a-z]+)\b(?!-)|(\$batch))')
_HOST = re.compile(r"\bhost-\d+\b")


@dataclass(slots=True)
class Hosts:
    """The hosts; `settings` are the app's. Every host adds its name to the User-Agent of its requests."""

    children: Children
    settings: dict[str, str]
    logs: Path
    apis: dict[str, str] = field(default_factory=dict)

    async def run(self, number: int) -> None:
        """Starts or kills hosts until `number` run."""
        for name in list(self.apis)[number:]:
            del self.apis[name]
            await asyncio.to_thread(self.children.kill, name)
        while len(self.apis) < number:
            await self._start(f"host-{len(self.apis) + 1}")

    async def _start(self, name: str) -> None:
        program = host_program(HERE, Options(port=0), {**self.settings, "AZURE_HTTP_USER_AGENT": name})
        program = replace(program, name=name, command=(*program.command, "--quiet"), log=self.logs / f"{name}.log")
        found = await asyncio.to_thread(self.children.start, program)
        self.apis[name] = f"{found['address'].rstrip('/')}/api"


def by_host(clients: dict[str, dict[str, int]]) -> Counter[str]:
    """Returns requests to Batch by host, from the emulator's counters."""
    found: Counter[str] = Counter()
    for agent, counted in clients.items():
        if name := _HOST.search(agent):
            found[name[0]] += counted["requests"]
    return found


def table_operations(log: Path) -> Counter[str]:
    """Returns requests in the storage's access log as `jobs read`, `jobs written` and so on for every table.

    `transactions` are separate, as the log doesn't name their table.
    """
    found: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if match := _TABLE.search(line):
            method, table, transaction = match.groups()
            found["transactions" if transaction else f"{table} {'read' if method == 'GET' else 'written'}"] += 1
    return found
