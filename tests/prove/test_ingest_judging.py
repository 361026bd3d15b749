"""The judge of ingestion: writers record exactly their writes, and each loss or duplicate is found."""

import random
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from local.prove.ingest.book import BlobLife, LoggedEvent, WrittenData
from local.prove.ingest.judging import judge_events, judge_node, judge_rejects, judge_totals
from local.prove.ingest.pens import PLANS, Plan, SimulatedAgent
from local.prove.ingest.truth import WHOLE, shown_of, totals_of, truth_of
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.intake import Intake, Window

_BEGIN = 1_790_000_000 * 10**9
_REMADE = next(plan for plan in PLANS if plan.name == "tes-remade")
_KEY = ("TaskStartEvent", "job", "task")
_LOGGED = "2026-08-06T12:00:00.0000000Z"


def _life(plan: Plan, number: int = 0) -> tuple[BlobLife, bytes]:
    """Returns a pen's record and content of some appends, up to the end of a sealed blob."""
    life, content = BlobLife(plan.blob(number), number), b""
    pen = SimulatedAgent(plan, random.Random(plan.name), _BEGIN)  # noqa: S311  # the same each time
    for turn in range(8):
        if turn == 4 and plan.is_retried:
            pen.start_anew()
        content += pen.written(life, len(content))
    if plan.rolls:
        content += pen.end(life, len(content))
    return life, content


def _answer(node: str, *lives: tuple[BlobLife, int]) -> dict[str, Any]:
    """Returns the API's answer without deviations."""
    truth = truth_of(node, lives)
    nothing = ("withoutTime", "outOfWindow", "ofTooManyNodes", "ofTooManyTasks", "beyondLimit", "late", "noNumbers")
    return {
        "leftOut": {
            "records": truth.records,
            "refused": truth.refused,
            "unreadFields": truth.unread,
            "unknown": dict(truth.unknown),
            **dict.fromkeys(nothing, 0),
        },
        "value": [
            {
                "name": name,
                "attributes": dict(attributes),
                "points": [
                    {
                        "time": datetime.fromtimestamp(minute * 60, UTC).isoformat(),
                        "count": one.count,
                        "min": one.min,
                        "max": one.max,
                        "sum": one.sum,
                        "last": one.last,
                    }
                    for minute, one in minutes.items()
                ],
            }
            for (name, attributes), minutes in shown_of(truth).items()
        ],
    }


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_decoder_finds_the_samples_that_the_writer_noted(plan: Plan) -> None:
    life, content = _life(plan)
    intake = Intake(Identity(), Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)))
    steps = list(Decoder().steps(content, 0, is_last=True))
    taken = [intake.take(step) for step in steps]
    refused = sorted({one.start for step in taken for one in step.rejected})
    assert refused == [unit.start for unit in life.units if unit.is_bad]
    assert sum(step.dropped.records for step in taken) == sum(len(unit.samples) for unit in life.units)
    counted = sum(
        one.count for step in taken for some in step.rollups.values() for each in some.values() for one in each.values()
    )
    truths = [truth_of(node, [(life, len(life.units))]) for node in life.nodes]
    assert counted == sum(one.count for truth in truths for each in truth.series.values() for one in each.values())
    assert counted > 100
    life.size = len(content)
    assert totals_of([life])["samples"] == counted
    assert totals_of([life])["lostBytes"] == len(content) - steps[-1].end == 0


def test_correct_answers_are_compared_and_not_reported() -> None:
    life, _ = _life(PLANS[0])
    found = judge_node("tes", _answer("tes", (life, len(life.units))), WrittenData([life]))
    assert (found.wrong, found.unread) == ((), 0)
    assert found.compared > 20


def test_a_unit_that_is_lost_or_counted_twice_is_seen() -> None:
    life, _ = _life(PLANS[0])
    good = next(number for number, unit in enumerate(life.units) if unit.samples)
    for units in (
        life.units[:-2],
        life.units[:good] + life.units[good + 1 :],
        life.units + life.units[good : good + 1],
    ):
        other = BlobLife(life.blob, 0, list(units))
        assert judge_node("tes", _answer("tes", (other, len(units))), WrittenData([life])).wrong


@pytest.mark.parametrize("name", ["count", "min", "max", "sum", "last"])
def test_any_number_that_is_a_little_off_is_seen(name: str) -> None:
    life, _ = _life(PLANS[0])
    answer = _answer("tes", (life, len(life.units)))
    answer["value"][0]["points"][3][name] *= 1.001
    assert len(judge_node("tes", answer, WrittenData([life])).wrong) == 1


def test_a_whole_processor_that_is_not_the_mean_of_its_cores_is_seen() -> None:
    life, _ = _life(PLANS[0])
    answer = _answer("tes", (life, len(life.units)))
    (whole,) = [one for one in answer["value"] if (one["name"], tuple(one["attributes"].items())) == WHOLE]
    whole["points"][0]["sum"] *= 1.01
    (wrong,) = judge_node("tes", answer, WrittenData([life])).wrong
    assert str(WHOLE) in wrong


def test_any_first_units_of_an_ended_life_are_right_and_no_others() -> None:
    life, _ = _life(_REMADE)
    life.is_over = True
    for units in (0, 3, len(life.units)):
        found = judge_node("tes-remade", _answer("tes-remade", (life, units)), WrittenData([life]))
        assert (found.wrong, found.unread) == ((), len(life.units) - units)
    without_the_first = BlobLife(life.blob, 0, life.units[1:])
    assert judge_node("tes-remade", _answer("tes-remade", (without_the_first, 4)), WrittenData([life])).wrong


def test_each_event_has_to_be_there_once_as_it_was_logged() -> None:
    book = WrittenData(happenings={_KEY: LoggedEvent(*_KEY, {"id": "task"})}, logged={_KEY: [_LOGGED]})
    event = {"kind": _KEY[0], "jobId": "job", "taskId": "task", "time": _LOGGED, "properties": {"id": "task"}}
    assert not judge_events([event], book).wrong
    for events in (
        [],
        [event, event],
        [{**event, "taskId": "other"}],
        [{**event, "time": "2026-08-06T12:00:01Z"}],
        [{**event, "properties": {}}],
    ):
        assert judge_events(events, book).wrong, events


def test_bad_units_have_to_be_listed_once_each() -> None:
    book = WrittenData(bad_lines=[("log", 7), ("log", 9)])
    right = [{"blob": "log", "offset": 7}, {"blob": "log", "offset": 9}]
    assert not judge_rejects(right, book).wrong
    for rejects in (right[:1], [*right, right[0]], [right[0], {"blob": "other", "offset": 9}]):
        assert judge_rejects(rejects, book).wrong


def test_totals_have_to_be_those_of_all_deliveries() -> None:
    book = WrittenData(
        happenings={_KEY: LoggedEvent(*_KEY, {})}, logged={_KEY: [_LOGGED, _LOGGED]}, log_sizes={"log": 70}
    )
    book.bad_lines.append(("log", 7))
    right: dict[str, Any] = {"records": 3, "events": 1, "repeats": 1, "refused": 1, "bytes": 70, "behindBytes": 0}
    right |= {"problems": [], "telemetry": {**totals_of([]), "behindBytes": 0, "problems": []}}
    assert not judge_totals(right, book, killed=False).wrong
    for name in ("records", "events", "repeats", "refused", "bytes", "behindBytes"):
        wrong = deepcopy(right)
        wrong[name] += 1
        assert len(judge_totals(wrong, book, killed=False).wrong) == 1
    assert judge_totals({**right, "problems": ["a"]}, book, killed=False).wrong
    for telemetry in (None, {**right["telemetry"], "problems": ["a"]}, {**right["telemetry"], "behindBytes": 1}):
        assert judge_totals({**right, "telemetry": telemetry}, book, killed=True).wrong


@pytest.mark.parametrize("killed", [False, True])
def test_totals_of_telemetry_are_never_too_much_and_too_little_only_where_a_host_was_killed(*, killed: bool) -> None:
    logs = dict.fromkeys(("records", "events", "repeats", "refused", "bytes", "behindBytes"), 0)
    present, before = _sized(PLANS[0]), _sized(_REMADE)
    before.is_over = True
    book, least, most = WrittenData([present, before]), totals_of([present]), totals_of([present, before])

    def wrong(**changed: int) -> int:
        telemetry = {**most, "behindBytes": 0, "problems": [], **changed}
        return len(judge_totals({**logs, "problems": [], "telemetry": telemetry}, book, killed=killed).wrong)

    assert (wrong(), wrong(**least)) == (0, 0)
    for name in most:
        assert wrong(**{name: most[name] + 1}) == 1
        assert wrong(**{name: least[name] - 1}) == (not killed or not least[name])


def _sized(plan: Plan) -> BlobLife:
    life, content = _life(plan)
    life.size = len(content)
    return life
