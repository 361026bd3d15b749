"""Plans of replays of a pool: what it begins with, its tasks, and when its targets change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.samples import SampleHistory


class WaitingTask(NamedTuple):
    """A task that waits from `ready` on, and then runs for `duration`."""

    ready: int
    duration: int
    slots: int = 1
    has_failed: bool = False


class ScalingStep(NamedTuple):
    """Targets that a pool gets at a time; `option` says what happens to runs on nodes that leave.

    It is None where it isn't recorded: then runs are requeued, as is Batch's default.
    """

    at: int
    targets: Targets
    option: str | None = None


@dataclass(frozen=True, slots=True)
class ScalingPlan:
    """What a replay begins with at `since`, and what happens until `until`, in milliseconds since 1970.

    `targets` are those at the begin, as are `nodes`. Evaluations are at `evaluations`; `steps` are those
    that the pool follows without a formula, or before its first evaluation. `start_ups` are durations from the
    allocation of nodes until they are ready, `gap` is the time from the end of a run to the next one's start. `history`
    has the samples from before `since`.
    """

    since: int
    until: int
    tasks: Sequence[WaitingTask]
    slots: int
    targets: Targets
    nodes: Targets
    evaluations: Sequence[int]
    history: SampleHistory
    steps: Sequence[ScalingStep] = ()
    start_ups: Sequence[int] = (0,)
    gap: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def falls(self) -> Sequence[ScalingStep]:
        """The steps that take nodes away."""
        before = [self.targets, *(step.targets for step in self.steps)]
        pairs = zip(before, self.steps, strict=False)
        return [step for last, step in pairs if has_fallen(last, step.targets)]


def has_fallen(before: Targets, targets: Targets) -> bool:
    return any(new < old for old, new in zip(before, targets, strict=True))
