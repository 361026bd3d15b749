"""A job whose many tasks are generated on request: all were created together, and changed together."""

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import datetime
from json import dumps, loads
from typing import override

from shared.domain.tasks.tasks import Task, TaskCounts
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.fakes.truth import ACTIVE, RUNNING, TrueJob, milliseconds


@dataclass(slots=True)
class Crowd:
    """`number` tasks of `job`, which wait until they all begin to run at `changed`."""

    number: int
    job: TrueJob | None = None
    changed: datetime | None = None
    name: str = field(default="task-{:07}")

    def change(self, at: datetime) -> None:
        self.changed = at

    def counts(self) -> TaskCounts:
        return TaskCounts(running=self.number) if self.changed else TaskCounts(active=self.number)

    def place_of(self, name: str | None, default: int) -> int:
        """Returns the number of the first task whose id isn't before `name`."""
        return default if name is None else bisect_left(range(self.number), name, key=self.name.format)

    def task(self, number: int) -> Task:
        assert self.job
        created, changed = milliseconds(self.job.created), self.changed and milliseconds(self.changed)
        state = RUNNING if changed else ACTIVE
        return Task(self.name.format(number), state, transition=changed or created, creation=created)

    def batch(self) -> type[FakeBatch]:
        """Returns a fake service that serves these tasks."""
        crowd = self

        class CrowdedBatch(FakeBatch):
            @override
            def _counts(self, job_id: str, moment: datetime) -> TaskCounts:
                is_ours = crowd.job is not None and job_id == crowd.job.id
                return crowd.counts() if is_ours else super()._counts(job_id, moment)

            @override
            def _page(self, job_id: str, link: str, moment: datetime) -> tuple[list[Task], str | None]:
                if crowd.job is None or job_id != crowd.job.id:
                    return super()._page(job_id, link, moment)
                low, high, after, since, state = loads(link)
                first = crowd.place_of(after + "\0" if after else low, 0)
                last = crowd.place_of(high, crowd.number)
                stamp = crowd.changed or crowd.job.created
                if state == "preparing" or (since is not None and stamp.timestamp() < since):
                    return [], None
                end = min(first + self._service.page_size, last)
                tasks = [crowd.task(number) for number in range(first, end)]
                return tasks, dumps([low, high, tasks[-1].id, since, state]) if end < last else None

        return CrowdedBatch
