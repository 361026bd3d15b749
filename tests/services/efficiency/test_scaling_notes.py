"""What replays of a pool's scaling say of runs on nodes that left."""

import pytest

from shared.domain.autoscale.evaluation import Targets
from shared.domain.efficiency.scaling.estimates import Misfit
from shared.domain.efficiency.scaling.scaling_plans import ScalingStep
from shared.services.efficiency.scaling_notes import misfit_note, removals_note

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


def test_events_that_were_not_read_are_not_said_to_be_missing() -> None:
    steps = [ScalingStep(at, Targets(0, 0), option) for at, option in enumerate(("requeue", None))]
    text = "are requeued, as by Batch's default: not all events of these times were read."
    assert removals_note(steps[1:], is_partly_read=True).endswith(text)
    assert removals_note(steps, is_partly_read=True).endswith("as by Batch's default, as not all events were read.")


def test_the_mean_wait_is_compared_only_where_tasks_were_seen() -> None:
    misfit = Misfit(0.021, 3000.0)
    text = "A replay as it was differs by 2.1% from the hours of nodes that were seen"
    assert misfit_note(misfit, has_waits=False) == f"{text}; the spread includes that."
    assert misfit_note(misfit, has_waits=True) == (f"{text}, and by 3 s from the mean wait; the spread includes that.")
