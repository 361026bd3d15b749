from datetime import UTC, datetime, timedelta
from typing import Any

from local.prove.fleet.freshness import Freshness

NOW = datetime(2026, 11, 21, 7, 1, tzinfo=UTC)


def shown(seconds: float, level: str = "exact") -> dict[str, Any]:
    checked_at, as_of = (
        (NOW - timedelta(seconds=age)).isoformat().replace("+00:00", "Z") for age in (seconds, seconds + 60)
    )
    return {"id": "Render", "verdict": {"checkedAt": checked_at, "asOf": as_of, "level": level}}


def test_the_oldest_count_is_reported_with_account_and_job() -> None:
    freshness = Freshness()
    freshness.take("demo", [shown(3), shown(9, "stale"), shown(1)], NOW)
    assert freshness.worst == 9
    assert freshness.as_of_ages == [63, 69, 61]
    assert freshness.oldest["demo"] == (9.0, "Render checked at 2026-11-21T07:00:51Z, seen at 07:01:00")
    assert freshness.levels == {"exact": 2, "stale": 1}


def test_a_percentile_is_one_of_the_ages_seen() -> None:
    freshness = Freshness()
    assert freshness.percentile(0.99) == 0
    freshness.take("demo", [shown(age) for age in range(100)], NOW)
    assert (freshness.percentile(0.5), freshness.percentile(0.99), freshness.percentile(1)) == (50, 99, 99)
