"""The state of a pool's autoscaling."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from local.batch_emulator.entities.jobs import Json

SAMPLE_PERIOD_SECONDS = 30
_MAX_SAMPLES = 86_400 // SAMPLE_PERIOD_SECONDS


@dataclass(slots=True)
class SampleHistory:
    """A day of samples, newest last: each with its time in simulated ticks and the counts by variable."""

    samples: deque[tuple[int, Mapping[str, float]]] = field(default_factory=lambda: deque(maxlen=_MAX_SAMPLES))


@dataclass(slots=True, eq=False)
class AutoScaleState:
    """The state of a pool's autoscaling: `asked` is the time of the request in simulated ticks, `run` is JSON.

    `turn` is unique to each series of evaluations, so that events of superseded ones do nothing.
    """

    number: int
    asked: int
    turn: int = 0
    run: Json | None = None
    history: SampleHistory = field(default_factory=SampleHistory)
