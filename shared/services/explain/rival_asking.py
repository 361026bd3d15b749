"""Asks what keeps the waiting tasks of other jobs: those that wait for good come before nobody.

What they depend on, where the job uses that; and how the preparation went of a job of which nothing runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import BatchscopeError, BatchThrottledError
from shared.services.explain.dependency_reading import DependencyReading
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence

ENOUGH_LOOKS = 3
_MAX_FAILED = 3
_LEFT = "whether the waiting tasks of other jobs could start isn't known"


@dataclass(frozen=True, slots=True)
class RivalLook:
    """`is_prepared` is False where preparation failed on every node on which it has ended."""

    dependencies: Dependencies | None = None
    is_prepared: bool = True

    @property
    def is_held(self) -> bool:
        """True where none of the waiting tasks could start."""
        found = self.dependencies
        return not self.is_prepared or (found is not None and (found.all_held or found.seem_all_held))


class RivalLooks(NamedTuple):
    """Looks at other jobs by the jobs' keys, the keys of jobs whose look failed, and sentences on what isn't known."""

    found: dict[str, RivalLook]
    failed: frozenset[str]
    unknown: tuple[str, ...]


class AskingOfRivals:
    """`found` and `failed` are keys of jobs; what was answered stays when a later answer fails.

    It asks about the first ENOUGH_LOOKS of `rivals`, then about more until one of those that answered could start a
    task or _MAX_FAILED looks have failed.
    """

    def __init__(self, source: BatchAccount, tasks: TaskQueries, rivals: Sequence[JobReport]) -> None:
        self._evidence = BatchEvidence(source)
        self._dependencies = DependencyReading(self._evidence, tasks)
        self._rivals = rivals
        self.found: dict[str, RivalLook] = {}
        self.failed: set[str] = set()
        self.unknown: tuple[str, ...] = ()

    @property
    def left(self) -> str:
        return _LEFT

    async def ask(self) -> None:
        """Raises BatchThrottledError where no more is to be asked."""
        for number, report in enumerate(self._rivals):
            if number >= ENOUGH_LOOKS and not all(look.is_held for look in self.found.values()):
                return
            if len(self.failed) == _MAX_FAILED:
                self.tell(f"No more jobs were looked at after {_MAX_FAILED} failures, so {_LEFT}")
                return
            try:
                self.found[report.job.key] = await self._look_at(report)
            except BatchThrottledError:
                raise
            except BatchscopeError as error:
                self.failed.add(report.job.key)
                self.tell(f"Whether the waiting tasks of '{report.job.facts.id}' could start isn't known: {error}")

    async def _look_at(self, report: JobReport) -> RivalLook:
        facts, counts = report.job.facts, report.job.picture.counts if report.job.picture else TaskCounts()
        dependencies, is_prepared = None, True
        if facts.rules and facts.rules.uses_task_dependencies:
            dependencies = (await self._dependencies.read(report)).dependencies
        if not counts.running and (await self._evidence.fetch_job(facts.id)).awaits_preparation:
            found, _ = await self._evidence.fetch_preparation(facts.id)
            is_prepared = bool(found.succeeded) or not found.failed_nodes
        return RivalLook(dependencies, is_prepared)

    def tell(self, sentence: str) -> None:
        self.unknown = (*self.unknown, f"{sentence.rstrip('.')}.")
