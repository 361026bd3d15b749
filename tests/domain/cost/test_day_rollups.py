"""Rolling a day up again and again gives what rolling it up once gives, and keeps what is gone since."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.busy_nodes import HOUR, TaskUsageByHour
from shared.domain.cost.day_rollups import (
    DayTasks,
    NodeKinds,
    day_tasks,
    has_part_of_day,
    hours_of,
    kept_hours,
    settled_hours,
    settling,
    usage_by_hour,
    with_redated,
)
from shared.domain.cost.runs.job_days import kept_jobs
from shared.domain.cost.usage_days import DAY, HOURS, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay, with_slots
from shared.domain.tasks.tasks import SUCCESS
from shared.domain.timeline.timeline import Run
from shared.domain.usage.billing_classes import BillingClass
from shared.domain.usage.usage_ledger import UsageKind

_DAY = 20_000
_OWN, _SPOT = NodeKind("standard_d2s_v5", True), NodeKind("standard_d2s_v5", False)
_RUNS = st.lists(
    st.builds(
        lambda job, start, length: (
            job,
            Run(_DAY * DAY + start, "t", _DAY * DAY + start + length, SUCCESS, 1, ("P", "n_d")),
        ),
        st.sampled_from("ab"),
        st.integers(0, DAY - 1),
        st.integers(0, 8 * HOUR),
    ),
    max_size=8,
)


def _tasks(runs: list[tuple[str, Run]], first: int, settled: int, known: int) -> DayTasks:
    hours = range(_DAY * HOURS + first, (_DAY + 1) * HOURS)
    settles = settling(UsageDay(_DAY, 0, settled=first), settled, known)
    usage = TaskUsageByHour(hours, known, lambda _: False, settles)
    for job, run in runs:
        if run.start < known:
            usage.take(job, [run if run.end and run.end <= known else run._replace(end=None)])
    return day_tasks(usage, {"p": NodeKinds({}, frozenset({_OWN}))})


@given(_RUNS, st.lists(st.integers(1, 30 * HOUR), max_size=5))
def test_jobs_have_the_same_units_however_often_a_day_is_rolled_up(
    runs: list[tuple[str, Run]], moments: list[int]
) -> None:
    day, names = UsageDay(_DAY, 0), {"a": "A", "b": "B"}
    for at in (*sorted(moments), 40 * HOUR):
        known = _DAY * DAY + at
        settled = settled_hours(day, known)
        tasks = _tasks(runs, day.settled, settled, known)
        day = UsageDay(_DAY, known, jobs=kept_jobs(day, tasks, names), settled=settled)
    expected = Counter[str]()
    for job, run in runs:
        assert run.end is not None
        expected[job] += max(min(run.end, (_DAY + 1) * DAY) - run.start, 0)
    assert {job: sum(usage.units.values()) for job, usage in day.jobs.items()} == +expected
    assert day.settled == HOURS


def test_settled_hours_and_hours_before_a_ledger_began_stay_as_they_were() -> None:
    old, new = ({hour: {_OWN: {"idle": units}} for hour in range(6)} for units in (1, 2))
    before = UsageDay(_DAY, 0, hours={"p": old}, settled=2)
    found = kept_hours(before, "p", new, known_since=_DAY * DAY + 4 * HOUR)
    assert [found[hour][_OWN]["idle"] for hour in range(6)] == [1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(("old", "new", "shown"), [(1, 2, 2), (5, 2, 5), (0, 2, 2)])
def test_the_hour_in_which_a_ledger_began_has_the_greater_of_both_times(old: int, new: int, shown: int) -> None:
    before = UsageDay(_DAY, 0, hours={"p": {3: {_OWN: {"idle": old}}}})
    found = kept_hours(before, "p", {3: {_OWN: {"idle": new}}}, known_since=_DAY * DAY + 3 * HOUR + 5)
    assert found == {3: {_OWN: {"idle": shown}}}


_HOURS = _DAY * HOURS


def _idle(**hours: int) -> dict[int, dict[UsageKind, int]]:
    return {_HOURS + int(hour[1:]): {UsageKind("idle", True, "standard_d2s_v5"): time} for hour, time in hours.items()}


def test_hours_of_nodes_whose_end_is_dated_keep_the_time_of_tasks_as_far_as_nodes_were_there() -> None:
    busy = {_OWN: {"succeeded": 120, "idleSlots": 120, "idle": 160}}
    before = UsageDay(_DAY, 0, hours={"p": {1: busy, 2: busy, 3: {_OWN: {"unwatched": 40}}}}, settled=9)
    undated, dated = _idle(h1=100, h2=100, h3=10), _idle(h1=100, h2=45)
    found = with_redated(before, "p", (undated, dated), 0, 4).hours["p"]
    assert found == {1: busy, 2: {_OWN: {"succeeded": 120, "idleSlots": 60}}, 3: {}}
    later = with_redated(before, "p", (undated, _idle(h1=100, h2=130, h3=10)), 0, 4).hours["p"]
    assert later[2] == {_OWN: {"succeeded": 120, "idleSlots": 120, "idle": 280}}
    assert with_redated(before, "p", (undated, undated), 0, 4) is before


def test_the_hour_in_which_a_ledger_began_anew_keeps_what_only_the_one_before_had() -> None:
    before = UsageDay(_DAY, 0, hours={"p": {3: {_OWN: {"idle": 200}}}}, settled=9)
    begun = _DAY * DAY + 3 * HOUR + 5
    assert with_redated(before, "p", (_idle(h3=40), _idle(h3=30)), begun, 4) is before
    assert with_redated(before, "p", (_idle(h3=50), _idle(h3=30)), begun, 4).hours == {"p": {3: {_OWN: {"idle": 120}}}}


def test_a_pool_with_other_slots_than_before_has_the_same_time_of_nodes() -> None:
    before, key = _day_of_slots(4), JobUsageKey("p", _OWN, "failed")
    found = with_slots(before, {"p": 1, "new": 2})
    assert found.pools["p"] == PoolDay("P", 1, None, None, None, {_OWN: {"idle": 100, "failed": 25}})
    assert found.hours == {"p": {3: {_OWN: {"idle": 100, "failed": 25}}}, "q": before.hours["q"]}
    assert found.jobs["a"] == JobDay("A", {key: 20, key._replace(pool="q"): 7}, {key: 5})
    assert found.pools["q"] is before.pools["q"]
    assert with_slots(found, {"p": 4}) == before
    assert with_slots(before, {"p": 4}) is before


def _day_of_slots(slots: int) -> UsageDay:
    units = {_OWN: {"idle": 100 * slots, "failed": 25 * slots}}
    pools = {key: PoolDay(key.upper(), slots, None, None, None, units) for key in "pq"}
    key = JobUsageKey("p", _OWN, "failed")
    job = JobDay("A", {key: 20 * slots, key._replace(pool="q"): 7}, {key: 5 * slots})
    return UsageDay(_DAY, 0, pools=pools, hours={key: {3: units} for key in "pq"}, jobs={"a": job})


def test_what_jobs_had_in_open_hours_is_made_anew_unless_they_are_gone() -> None:
    key = JobUsageKey("p", _OWN, "running")
    before = UsageDay(_DAY, 0, jobs={name: JobDay(name, {key: 5}, {key: 3}) for name in ("a", "gone")}, settled=4)
    tasks = DayTasks({}, {"a": {key: 2}}, {"b": {key: 1}})
    found = kept_jobs(before, tasks, {"a": "A", "b": "B"})
    assert found == {
        "a": JobDay("A", Counter({key: 7}), {}),
        "b": JobDay("B", Counter(), {key: 1}),
        "gone": JobDay("gone", {key: 5}, {key: 3}),
    }


def test_nodes_that_are_gone_have_the_kind_that_their_ids_say() -> None:
    kinds = NodeKinds({"n1": _SPOT}, frozenset({_OWN, _SPOT}))
    assert [kinds.of(node) for node in ("N1", "tvmps_1_p", "tvmps_1_d")] == [_SPOT, _SPOT, _OWN]
    mixed = NodeKinds({}, frozenset({_OWN, NodeKind("standard_e8s_v5", True)}))
    assert mixed.of("tvmps_1_d") == NodeKind("", True)
    assert NodeKinds({}, frozenset({_SPOT})).of("tvmps_1_d") == _SPOT


def test_a_ledgers_hours_are_those_of_the_day_by_kind() -> None:
    late, following = _DAY * HOURS + 23, (_DAY + 1) * HOURS
    sizes = {UsageKind("idle", True, size): time for size, time in (("STANDARD_D2S_V5", 5), ("standard_d2s_v5", 6))}
    ledger = {late: sizes, following: sizes}
    assert hours_of(ledger, _DAY) == {23: {_OWN: {"idle": 11}}}


def test_an_hours_time_is_allocated_and_unbilled_time_stays_apart() -> None:
    times: dict[BillingClass, int] = {"running": 50, "ready": 30, "starting": 5, "preempted": 9}
    ledger = {_DAY * HOURS + 1: {UsageKind(name, True, "standard_d2s_v5"): time for name, time in times.items()}}
    run = Run(_DAY * DAY + HOUR, "t", _DAY * DAY + HOUR + 60, SUCCESS, 2, ("P", "n_d"))
    tasks = _tasks([("a", run)], 0, 0, (_DAY + 1) * DAY)
    found = usage_by_hour(ledger, tasks.pools["p"], _DAY, 4)
    assert found == {
        1: {_OWN: {"succeeded": 120, "idleSlots": 120, "idle": 80, "starting": 20, "preempted": 36}},
    }


def test_a_day_after_the_last_poll_of_a_deleted_pool_has_no_part_of_its_ledger() -> None:
    noon = _DAY * DAY + DAY // 2
    assert has_part_of_day(noon, noon + 1, _DAY)
    assert has_part_of_day(noon - 3 * DAY, noon, _DAY)
    assert not has_part_of_day(noon - 3 * DAY, _DAY * DAY, _DAY)
    assert not has_part_of_day(noon - 3 * DAY, noon - DAY, _DAY)
    assert not has_part_of_day(noon + DAY, noon + 2 * DAY, _DAY)
