"""The proof of costs finds each kind of error in what an app shows, and allows what nothing can show."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from local.prove.cost import outages
from local.prove.cost.day import NodeSight, Outage
from local.prove.cost.judging import Verdict, judged
from local.prove.cost.outages import Unseen, unseen
from local.prove.cost.report import Run, section, text
from local.prove.cost.rig import Rig
from local.prove.cost.shown import Shown
from local.prove.cost.truth import Line, Truth, hours_of

_START = datetime(2026, 11, 3, tzinfo=UTC)
_HOURS = hours_of(_START, _START + timedelta(hours=3))
_READY, _LEAVING, _UNSEEN = (Line("p", "dedicated", name) for name in ("ready", "leaving", "unwatched"))
_TRUTH = Truth({hour: Counter({_READY: 7000.0, _LEAVING: 4.0}) for hour in _HOURS}, {"j": Decimal(2)}, {}, {}, {})


def _shown(changes: Mapping[Line, float] | None = None, *, hour: int = 0, job: str = "2", other: float = 0.0) -> Shown:
    nodes = {each: Counter(line) for each, line in _TRUTH.nodes.items()}
    nodes[_HOURS[hour]].update(changes or {})
    return Shown(nodes, {"j": Decimal(job)}, {"p": {"unattributed": other}})


def _judged(shown: Shown, *found: Unseen, has_log: bool = True) -> Verdict:
    return judged("app", shown, _TRUTH, found, has_log=has_log)


def _outage(least: float, most: float, shown: float) -> Unseen:
    return Unseen("p", _HOURS[1], _HOURS[2] - timedelta(minutes=5), least, most, 1.0, shown, is_exact=least == most)


def test_a_day_as_it_was_has_no_faults_and_one_like_it_neither() -> None:
    assert _judged(_shown()).faults == []
    assert _judged(_shown({_READY: 100.0, _LEAVING: 90.0}, job="2.019", other=100.0)).faults == []


@pytest.mark.parametrize(
    ("shown", "word"),
    [
        (_shown({_READY: -110.0}), "ready"),
        (_shown({_LEAVING: 110.0}), "leaving"),
        (_shown({_UNSEEN: 250.0}), "unwatched"),
        (_shown(other=250.0), "unattributed"),
        (_shown(job="2.03"), "j cost"),
        (replace(_shown(), jobs={}), "j cost"),
        (replace(_shown(), jobs={"j": Decimal(2), "never": Decimal(1)}), "never"),
    ],
)
def test_each_error_is_a_fault(shown: Shown, word: str) -> None:
    (fault,) = _judged(shown).faults
    assert word in fault


def test_runs_that_were_deleted_may_lack_or_last_until_their_job_is_found_to_be_gone() -> None:
    unlogged = replace(_TRUTH, unlogged={"j": Decimal("0.5")})
    assert judged("app", _shown(job="2.51"), unlogged, [], has_log=True).faults == []
    assert judged("app", _shown(job="1.49"), unlogged, [], has_log=True).faults == []
    assert judged("app", _shown(job="2.53"), unlogged, [], has_log=True).faults


def test_when_a_pool_was_deleted_between_two_polls_only_the_log_can_show() -> None:
    undated = replace(_TRUTH, undated={_READY: 60.0})
    for more, faults in ((150.0, 0), (175.0, 1), (-175.0, 1)):
        found = judged("app", _shown({_READY: more}), undated, [], has_log=False).faults
        assert len(found) == faults
    assert len(judged("app", _shown({_READY: 150.0}), undated, [], has_log=True).faults) == 1


def test_a_node_dates_the_end_of_its_start_by_its_own_clock_which_may_be_wrong() -> None:
    skewed = replace(_TRUTH, skewed={_READY: 10.0})
    for has_log in (True, False):
        for more, faults in ((110.0, 0), (-110.0, 0), (120.0, 1)):
            assert len(judged("app", _shown({_READY: more}), skewed, [], has_log=has_log).faults) == faults


def test_without_the_log_only_nodes_and_outages_are_judged() -> None:
    assert _judged(_shown(job="9", other=900.0), has_log=False).faults == []
    assert _judged(_shown({_READY: -110.0}), has_log=False).faults


def test_hours_of_outages_are_judged_by_their_unwatched_time_alone() -> None:
    dark = _shown({_READY: -600.0, _UNSEEN: 600.0}, hour=1)
    assert _judged(dark, _outage(600.0, 600.0, 600.0)).faults == []
    (fault,) = _judged(dark, _outage(600.0, 600.0, 603.0)).faults
    assert "outage" in fault
    assert _judged(dark, _outage(0.0, 900.0, 600.0)).faults == []
    assert len(_judged(dark, _outage(700.0, 900.0, 600.0)).faults) == 1


def test_a_node_is_unwatched_from_its_last_sight_until_its_state_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    since, until = _START, _START + timedelta(minutes=30)
    states = {
        "same": {"running": 1800.0},
        "changed": {"running": 600.0, "idle": 1200.0},
        "booted": {"running": 600.0, "rebooting": 1200.0},
        "gone": {"running": 100.0},
    }
    rows = [
        {"pool": "p", "node": node, "state": state, "seconds": seconds}
        for node, found in states.items()
        for state, seconds in found.items()
    ]

    def usage(*_: Any) -> Any:
        return {"nodes": rows}

    monkeypatch.setattr(outages, "usage", usage)
    sights = {
        ("p", "same"): NodeSight(since - timedelta(hours=1), None),
        ("p", "changed"): NodeSight(since + timedelta(minutes=10), since - timedelta(hours=1)),
        ("p", "booted"): NodeSight(since + timedelta(minutes=20), since + timedelta(minutes=15)),
    }
    outage = Outage(timedelta(minutes=29), {"app": since}, {"app": until}, {until: sights})
    rig: Any = Rig.__new__(Rig)
    (found,) = unseen(rig, outage, "app", _shown({_UNSEEN: 700.0}), _TRUTH)
    assert (found.least, found.most, found.slack, found.shown) == (600.0, 2500.0, 3.0, 700.0)
    assert not found.is_exact


def test_a_report_has_both_sides_and_every_fault() -> None:
    verdict = _judged(_shown({_READY: -110.0}), _outage(5.0, 5.0, 5.0))
    run = Run(
        began=_START,
        seconds=90.0,
        seed=1,
        minutes=180,
        kills=2,
        done=Counter({"jobs created": 3}),
        verdicts=[verdict],
        faults=verdict.faults,
    )
    assert "p, dedicated, ready" in text(run)
    shown = section(run)
    assert "Not proved" in shown
    assert "- app: p, dedicated, ready" in shown
    assert "| app | all jobs | 2.0000 USD | 2.0000 USD |" in shown
    assert "All bars hold" in section(replace(run, faults=[]))
