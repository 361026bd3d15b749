"""A change of a pool's settings is a candidate: tasks that started before and after it are compared."""

from collections.abc import Sequence

import pytest

from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.contrasts.contrast import TaskComparison
from shared.domain.contrasts.setting_eras import PoolChange
from shared.domain.contrasts.titles import title_of
from tests.domain.contrasts.made_jobs import HOUR, Draws, Fleet, MadeTask, Workload, finished, made_tasks, outcomes

_IMAGE, _SLOTS = "image 22.04 -> 24.04", "taskSlotsPerNode 4 -> 8"


def _made(seed: int, count: int = 300) -> tuple[list[MadeTask], list[int], Draws]:
    """Returns tasks, and the starts at each tenth of them."""
    dice = Draws(seed)
    made, _ = made_tasks(dice, Workload(count))
    starts = sorted(one.start for one in made)
    return made, [starts[count * share // 10] for share in range(10)], dice


def _compared(
    made: Sequence[MadeTask], dice: Draws, changes: Sequence[PoolChange], bad: range, rate: float = 0.9
) -> TaskComparison:
    failed = outcomes(dice, made, 0.02, [(lambda task: task.start in bad, rate)])
    tasks = finished(made, _fleet(made), failed).tasks
    return compare_tasks(tasks, changes={"pool-1": changes, "another": [PoolChange(made[0].start, "nothing")]})


def _fleet(made: Sequence[MadeTask]) -> Fleet:
    return Fleet(list({one.node.id: one.node for one in made}.values()))


@pytest.mark.parametrize("seed", range(12))
def test_the_change_after_which_tasks_fail_is_named_first(seed: int) -> None:
    made, tenths, dice = _made(seed)
    changes = [PoolChange(tenths[3], _SLOTS), PoolChange(tenths[7], _IMAGE)]
    first = _compared(made, dice, changes, range(tenths[7], tenths[7] + 99 * HOUR)).contrasts[0]
    assert title_of(first).endswith(_IMAGE)
    assert (first.low.begun, first.high) == (_IMAGE, None)


@pytest.mark.parametrize("seed", range(12))
def test_the_change_that_mended_tasks_and_the_two_between_which_they_failed_are_named(seed: int) -> None:
    made, tenths, dice = _made(seed)
    changes = [PoolChange(tenths[3], _SLOTS), PoolChange(tenths[7], _IMAGE)]
    first = _compared(made, dice, changes, range(tenths[3])).contrasts[0]
    assert (first.attribute, first.low, first.high.ended) == ("settingChange", None, _SLOTS)
    first = _compared(made, dice, changes, range(tenths[3], tenths[7])).contrasts[0]
    assert (first.attribute, first.low.begun, first.high.ended) == ("settingChange", _SLOTS, _IMAGE)


@pytest.mark.parametrize("seed", range(12))
def test_an_outage_beside_a_change_is_not_its_fault(seed: int) -> None:
    made, tenths, dice = _made(seed)
    first = _compared(made, dice, [PoolChange(tenths[3], _IMAGE)], range(tenths[6], tenths[8])).contrasts[0]
    assert first.attribute != "settingChange"


def test_changes_without_an_effect_are_no_causes() -> None:
    claimed = 0
    for seed in range(20):
        made, tenths, dice = _made(seed)
        changes = [PoolChange(at, _SLOTS) for at in tenths[1:]]
        claimed += bool(_compared(made, dice, changes, range(0)).contrasts)
    assert claimed == 0


def test_changes_before_the_first_task_and_after_the_last_are_no_candidates() -> None:
    made, tenths, dice = _made(1)
    changes = [PoolChange(tenths[0] - 1, _SLOTS), PoolChange(max(one.start for one in made) + 1, _IMAGE)]
    assert "settingChange" not in _compared(made, dice, changes, range(tenths[7], tenths[9])).attributes


def test_changes_between_which_no_task_started_are_named_together() -> None:
    made, tenths, dice = _made(2)
    changes = [PoolChange(tenths[7] - 1, _SLOTS), PoolChange(tenths[7], _IMAGE)]
    first = _compared(made, dice, changes, range(tenths[7], tenths[7] + 99 * HOUR)).contrasts[0]
    assert first.low.begun == f"{_SLOTS}; {_IMAGE}"
