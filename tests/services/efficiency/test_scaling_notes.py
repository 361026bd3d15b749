"""What replays of a pool's scaling say of runs on nodes that left."""

import pytest

from shared.domain.autoscale.evaluation import Targets
from shared.domain.efficiency.scaling.scaling_plans import ScalingStep
from shared.services.efficiency.scaling_notes import removals_note

_ELSE = "else they are requeued, as by Batch's default."


@pytest.mark.parametrize(
    ("options", "rest"),
    [
        ((None, None), "are requeued, as by Batch's default: nothing else is recorded."),
        (("terminate", "requeue"), "go on, end or are requeued, as is recorded."),
        (("retaineddata", None), f"go on, end or are requeued, as is recorded for 1 of 2 times; {_ELSE}"),
    ],
)
def test_what_is_recorded_of_runs_on_nodes_that_left_is_said(options: tuple[str | None, ...], rest: str) -> None:
    steps = [ScalingStep(at, Targets(0, 0), option) for at, option in enumerate(options)]
    assert removals_note(steps) == f"Where recorded targets fall, runs on nodes that leave {rest}"
