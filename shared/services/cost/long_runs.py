"""How many instances tasks have that started before the events that are read for all tasks.

Only pools that run multi-instance tasks are asked about, and a run's start is looked for where its cached stamp says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.domain.core.keys import key_of
from shared.domain.cost.runs.run_events import RunEvents, instances_of
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.tasks.job_statistics import MINUTE
from shared.domain.timeline.timeline import Run
from shared.stores.events import EventStore

_BEFORE, _AFTER = 2, 5  # minutes from a start by its node's clock to the time of its event
_MAX_STARTS = 20  # requests of one run of housekeeping for an account


@dataclass(frozen=True, slots=True)
class LongRuns:
    """Reads the events around starts, each minute once; pools are by key. Without a store nothing is known.

    `before` is since when events are read for all tasks, in milliseconds since 1970.
    """

    store: EventStore | None
    account_key: str
    pools: Mapping[str, PoolFacts]
    before: int
    _starts: dict[int, RunEvents] = field(default_factory=dict)

    @property
    def is_needed(self) -> bool:
        """Whether any pool runs multi-instance tasks."""
        return self.store is not None and any(map(_runs_several_instances, self.pools.values()))

    def concerns(self, run: Run, since: int) -> bool:
        """Returns whether a run without events that lasted until a time may be that of a multi-instance task."""
        if run.start >= self.before or (run.end is not None and run.end < since):
            return False
        facts = self.pools.get(key_of(run.node[0]))
        return facts is not None and _runs_several_instances(facts)

    async def instances(self, job_key: str, run: Run) -> int:
        """Returns on how many nodes a run takes place, 1 where that isn't known. Raises StorageError."""
        minute = run.start // MINUTE
        if minute not in self._starts and self.store and len(self._starts) < _MAX_STARTS:
            found = self._starts[minute] = RunEvents()
            async for _, events in self.store.minutes(self.account_key, minute - _BEFORE, minute + _AFTER):
                found.take(events)
        tasks = self._starts.get(minute, RunEvents()).of_job(job_key)
        return instances_of(tasks.get(key_of(run.task), ()))


def _runs_several_instances(facts: PoolFacts) -> bool:
    settings = facts.settings
    return facts.slots_per_node == 1 and bool(settings and settings.enable_inter_node_communication)
