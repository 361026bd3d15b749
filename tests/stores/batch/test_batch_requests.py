from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from shared.domain.reads.id_ranges import IdRange
from shared.stores.batch.batch_addresses import tasks_url

SINCE = datetime(2026, 11, 21, 7, 0, 0, 123_999, tzinfo=UTC)


def test_a_delta_asks_for_changes_at_or_after_its_watermark_rounded_down() -> None:
    """The fakes of tests/services can't check that the request uses `ge`."""
    (condition,) = parse_qs(urlsplit(tasks_url("Render", SINCE, None, IdRange())).query)["$filter"]
    assert condition == "stateTransitionTime ge DateTime'2026-11-21T07:00:00.123Z'"


def test_a_first_read_asks_for_everything() -> None:
    assert "$filter" not in parse_qs(urlsplit(tasks_url("Render", None, None, IdRange())).query)


def test_ids_are_quoted_in_addresses() -> None:
    assert (
        urlsplit(tasks_url("nightly:job-1/../?x", None, None, IdRange())).path
        == "/jobs/nightly%3Ajob-1%2F..%2F%3Fx/tasks"
    )


def test_a_repair_lists_tasks_by_their_state() -> None:
    (condition,) = parse_qs(urlsplit(tasks_url("Render", None, "live", IdRange())).query)["$filter"]
    assert condition == "state ne 'completed'"
    (condition,) = parse_qs(urlsplit(tasks_url("Render", None, "preparing", IdRange())).query)["$filter"]
    assert condition == "state eq 'preparing'"
