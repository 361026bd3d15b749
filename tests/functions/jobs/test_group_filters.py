"""The filters of the task list that show a compared group."""

from typing import Any

import pytest

from functions.api.jobs.group_filters import task_filter
from shared.domain.contrasts.contrast import Contrast
from shared.domain.contrasts.setting_eras import SettingEra
from shared.domain.contrasts.statistics import Tally

_AT = 1_790_000_000_000
_ERA = SettingEra(1, _AT, "a", _AT + 1000, "b", "gpus")


@pytest.mark.parametrize(("attribute", "low", "high", "found"), [
    ("node", ("gpus", "n-1"), ("gpus", "n-1"), {"poolId": "gpus", "nodeId": "n-1"}),
    ("pool", "gpus", "gpus", {"poolId": "gpus"}),
    ("slots", 4, 4, {"slots": "4"}),
    ("start", _AT, None, {"startedFrom": "2026-09-21T14:13:20.000Z"}),
    ("start", None, _AT + 1, {"startedTo": "2026-09-21T14:13:20.001Z"}),
    ("startHour", _AT, _AT, {"startedFrom": "2026-09-21T14:13:20.000Z", "startedTo": "2026-09-21T15:13:19.999Z"}),
    ("settingChange", _ERA, None, {"poolId": "gpus", "startedFrom": "2026-09-21T14:13:20.000Z"}),
    ("settingChange", None, _ERA, {"poolId": "gpus", "startedTo": "2026-09-21T14:13:20.999Z"}),
    ("runTime", 90_500, None, {"runTimeFrom": "PT90.5S"}),
    ("runTime", None, 3_600_000, {"runTimeTo": "PT3600S"}),
    ("vmSize", "standard_d4s_v5", "standard_d4s_v5", {}),
    ("position", 10, None, {}),
    ("idPart1", "eu", "eu", {}),
])  # fmt: skip
def test_a_group_has_the_filter_that_shows_it_or_none(attribute: str, low: Any, high: Any, found: Any) -> None:
    assert task_filter(Contrast(attribute, low, high, low == high, Tally(1, 2, 3, 9), 0.001)) == found
