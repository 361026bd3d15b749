"""Groups in words."""

from typing import Any

import pytest

from shared.domain.contrasts.contrast import Contrast
from shared.domain.contrasts.setting_eras import SettingEra
from shared.domain.contrasts.statistics import Tally
from shared.domain.contrasts.titles import title_of

_AT = 1_790_000_000_000
_FIRST = SettingEra(1, _AT, "image 22.04 -> 24.04", _AT + 1000, "vmSize a -> b")
_AFTER = "after the pool's change of 2026-09-21 14:13:20: image 22.04 -> 24.04"
_BEFORE = "before the pool's change of 2026-09-21 14:13:21: vmSize a -> b"


@pytest.mark.parametrize(
    ("attribute", "low", "high", "title"),
    [
        ("node", ("gpus", "n-1"), ("gpus", "n-1"), "On node 'n-1' of pool 'gpus'"),
        ("vmSize", "standard_d4s_v5", "standard_d4s_v5", "VM size standard_d4s_v5"),
        ("pool", "gpus", "gpus", "In pool gpus"),
        ("priority", "spot", "spot", "Nodes that are spot"),
        ("startHour", _AT, _AT, "Started between 2026-09-21 14:13:20 and 2026-09-21 15:13:20"),
        ("hourOfDay", 23, 23, "Started between 23:00 and 00:00 (UTC) of a day"),
        ("idPart1", "eu", "eu", "Part 1 of the id is 'eu'"),
        ("slots", 4, 4, "Task slots: 4"),
        ("start", _AT, None, "Started at 2026-09-21 14:13:20 or later"),
        ("start", None, _AT, "Started at 2026-09-21 14:13:20 or before"),
        ("start", _AT, _AT + 1000, "Started between 2026-09-21 14:13:20 and 2026-09-21 14:13:21"),
        ("wait", 3_723_000, None, "Wait of 1:02:03 or more"),
        ("memoryPeak", 3 << 29, None, "Memory peak of 1.5 GiB or more"),
        ("gpuMemoryPeak", None, 1 << 20, "GPU memory peak of 1.0 MiB or less"),
        ("gpus", 750, None, "GPUs used: 0.75 or more"),
        ("retries", 2, None, "Retries: 2 or more"),
        ("position", 900, None, "Position in the job of 900 or more"),
        ("settingChange", _FIRST, None, f"Started {_AFTER}"),
        ("settingChange", None, _FIRST, f"Started {_BEFORE}"),
        ("settingChange", _FIRST, _FIRST, f"Started {_AFTER} and {_BEFORE}"),
        ("idPart3", 10, 20, "Part 3 of the id between 10 and 20"),
    ],
)
def test_a_group_in_words(attribute: str, low: Any, high: Any, title: str) -> None:
    is_value = low == high and attribute != "settingChange"
    one = Contrast(attribute, low, high, is_value, Tally(1, 2, 3, 9), 0.001)
    assert title_of(one) == title
