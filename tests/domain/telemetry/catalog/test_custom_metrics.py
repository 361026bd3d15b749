"""Metrics that the catalog lacks: their names, units, kinds and attributes, and their bounds."""

import pytest

from shared.domain.telemetry.catalog.custom_metrics import shown_name
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.query.ranges import line_of
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.chunks import add_column, chunks_of
from shared.domain.telemetry.rollups.folding import MAX_CUSTOM, MAX_SERIES
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.blob_state import State
from tests.domain.telemetry.support.nodes import BEGIN, at, flat, intake, once, only, rollups, step, taken

HOUR = 3600


def names(found: Rollups) -> list[str]:
    return sorted(shown_name(series, "").name for series in found)


@pytest.mark.parametrize(
    ("line", "name", "attributes", "unit"),
    [
        ("training loss=0.25", "custom.training.loss", {}, ""),
        ("training,run=a,host=h,node_id=n,job_id=j loss=0.25", "custom.training.loss", {"run": "a"}, ""),
        ("queue_bytes value=0.25", "custom.queue_bytes", {}, "By"),
        ("request duration_seconds=0.25", "custom.request.duration_seconds", {}, "s"),
        ("wait_seconds_sum value=0.25", "custom.wait_seconds_sum", {}, "s"),
        ("wait_seconds sum=0.25", "custom.wait_seconds.sum", {}, "s"),
        ("wait_seconds_count value=0.25", "custom.wait_seconds_count", {}, ""),
        ("queue gauge=0.25", "custom.queue", {}, ""),
        ("statsd.hits,metric_type=gauge value=0.25", "custom.statsd.hits", {"metric_type": "gauge"}, ""),
        ("rate,__unit__=By/s value=0.25", "custom.rate", {}, "By/s"),
    ],
)
def test_a_number_of_an_unknown_measurement_is_a_gauge(
    line: str, name: str, attributes: dict[str, str], unit: str
) -> None:
    series, rollup = only(rollups(at(1, line)))
    shown = line_of(series, {0: rollup})
    assert (shown.name, dict(shown.attributes), shown.unit, shown.is_counter) == (name, attributes, unit, False)
    assert (rollup.count, rollup.sum) == (1, 0.25)


@pytest.mark.parametrize(
    ("field", "values", "grown"), [("counter", (100, 160), 60), ("delta", (100, 60), 60), ("counter", (100, 7), 7)]
)
def test_the_name_of_a_field_says_that_it_is_a_counter(field: str, values: tuple[int, int], grown: int) -> None:
    series, rollup = only(rollups(*(at(second, f"hits_total {field}={values[second > 1]}") for second in (1, 31))))
    shown = line_of(series, {0: rollup})
    assert (shown.name, shown.is_counter) == ("custom.hits_total", True)
    assert rollup.sum == grown
    assert rollup.last == pytest.approx(grown / 30)


def test_texts_and_startup_records_are_no_metrics() -> None:
    found = taken(at(1, 'training loss=1,note="7",ok=t'), at(2, 'training note="x"'), once("fleet", 3, size=7))
    assert names(found.rollups[0]) == ["custom.training.loss", "custom.training.ok"]
    assert (found.dropped.unread_fields, found.dropped.unknown) == (1, {"training": 1, "fleet": 1})


def test_a_field_that_is_a_text_at_first_is_a_number_later() -> None:
    (one,) = flat(rollups(at(1, 'training loss="nan"'), at(2, "training loss=4"))).values()
    assert (one.count, one.sum) == (1, 4)


def test_custom_metrics_leave_room_for_the_others() -> None:
    some = [at(1, f"made_up{number} value=1") for number in range(MAX_CUSTOM + 5)]
    found = taken(*some, *(at(1, f"net,interface=e{number} drop_in=1") for number in range(MAX_SERIES)))
    assert found.dropped.beyond_limit == 5 + MAX_CUSTOM
    assert len(found.rollups[0]) == MAX_CUSTOM


def test_the_bound_of_custom_metrics_holds_over_steps_and_old_ones_make_room() -> None:
    state, dropped = State(), []
    for hour, number in ((0, 0), (0, 100), (0, 200), (1, 200), (2, 300), (3, 400)):
        reader = intake(state=State.unpack(state.pack()))
        lines = (at(hour * HOUR, f"made_up{name} value=1") for name in range(number, number + 100))
        dropped.append(reader.take(step(lines)).dropped.beyond_limit)
        state = reader.state
    assert dropped == [0, 0, 100, 100, 0, 0]


def test_a_record_has_bounded_tags_and_fields() -> None:
    tags = {f"t{number}": "x" for number in range(20)}
    found = taken(Metric("made", tags, {f"f{number}": number for number in range(100)}, BEGIN))
    assert (len(found.rollups[0]), found.dropped.unread_fields) == (64, 36)
    assert all(len(series.attributes) == 2 + 8 for series in found.rollups[0])


def test_names_and_tags_hold_no_secret_and_are_bounded() -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    found = rollups(Metric(secret, {secret: secret, "long": "a" * 500}, {secret: 1, "b" * 500: 2}, BEGIN))
    assert secret not in str(found)
    assert all(len(text) <= 128 for series in found for pair in series.attributes for text in pair)


def test_all_custom_metrics_share_two_stored_columns() -> None:
    found = rollups(*(at(second, f"made_up{name} value={second},counter=7") for second in (1, 2) for name in range(50)))
    (chunk,) = chunks_of(0, found)
    assert sorted(chunk.columns) == ["custom.counter", "custom.gauge"]
    read: Rollups = {}
    for name, packed in chunk.columns.items():
        add_column(read, name, chunk.block, packed)
    assert read == found


def test_custom_metrics_are_selected_by_name_or_its_first_parts() -> None:
    found = rollups(at(1, "training.a loss=1,rate=2"), at(1, "training.ab loss=3"), at(1, "mem used=4"))

    def selected(name: str | None) -> list[str]:
        chosen = selector_of(name, None)
        assert all(series.name in chosen.to_read for series in chosen.of(found))
        return names(chosen.of(found))

    custom = ["custom.training.a.loss", "custom.training.a.rate", "custom.training.ab.loss"]
    assert selected(None) == [*custom, "system.memory.usage"]
    assert selected("custom") == selected("custom.training") == custom
    assert selected("custom.training.a") == custom[:2]
    assert selected("custom.training.a.rate,system.memory") == [custom[1], "system.memory.usage"]
    assert selected("system.memory") == ["system.memory.usage"]
    assert selected("custom.nothing") == []


def test_custom_metrics_are_selected_by_their_tags() -> None:
    found = rollups(at(1, "training,run=a loss=1"), at(1, "training,run=b loss=2"))
    (series,) = selector_of("custom", "run=b").of(found)
    assert isinstance(series, Series)
    assert dict(series.attributes)["run"] == "b"
