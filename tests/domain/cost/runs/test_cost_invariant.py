"""A machine of pools, tasks, late events, restarts and roll-ups: nothing billed is lost, counted twice or moved later.

After each roll-up tasks, idle slots, idle nodes, overhead, unattributed and unwatched time are all the time of nodes
that the ledger has, times the slots; and money by pool, by job with each sharing and by class has one sum.
"""

from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.busy_nodes import HOUR, TaskUsageByHour
from shared.domain.cost.cost_groups import CostSum, Grouping, cost_table
from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.day_rollups import (
    NodeKinds,
    day_tasks,
    hours_of,
    kept_hours,
    outcome_times,
    settled_hours,
    settling,
    with_ended,
)
from shared.domain.cost.day_rollups import usage_by_hour as made_hours
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.runs.job_days import kept_jobs
from shared.domain.cost.runs.run_events import RunEvent, instances_of
from shared.domain.cost.runs.task_attempts import attempts
from shared.domain.cost.usage_days import DAY, HOURS, NodeKind, PoolDay, UsageDay, summed
from shared.domain.nodes.nodes import Node
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, RUNNING, SUCCESS, Task
from shared.domain.usage.node_spans import ListGap, Removal
from shared.domain.usage.usage_ledger import UsageLedger

_TODAY = 20_000
_START = _TODAY * DAY
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_SIZE, _SLOTS, _LONGEST = "standard_d2s_v5", {"one": 1, "four": 4}, 180_000
_STATES = ("idle", "running", "starting", "waitingforstarttask", "unusable", "offline", "rebooting", "preempted")
_POOLS, _JOBS, _NAMES = st.sampled_from(sorted(_SLOTS)), st.sampled_from(("a", "b", "c")), st.integers(0, 2)


def _prices() -> PriceTable:
    meters = {MeterKey("linux", "dedicated"): Decimal("0.113"), MeterKey("linux", "spot"): Decimal("0.0207")}
    intervals = {meter: (PriceInterval(price, _LONG_AGO, None, "m"),) for meter, price in meters.items()}
    history = PriceHistory("westeurope", _SIZE, intervals, {}, _LONG_AGO)
    return PriceTable("USD", histories={history.place: history})


class _Pool:
    """A pool's nodes as listed last, and its ledger."""

    def __init__(self, at: int) -> None:
        self.ledger, self.nodes, self.as_of = UsageLedger(at, at), dict[str, Node](), at

    def list(self, nodes: dict[str, Node], at: int) -> None:
        gap = ListGap(self.as_of, at, _LONGEST)
        self.ledger = self.ledger.after(self.nodes, nodes, gap, Removal(0, 0, at))
        self.nodes, self.as_of = nodes, at

    def kinds(self) -> NodeKinds:
        known = {key: NodeKind(_SIZE, node.dedicated) for key, node in self.nodes.items()}
        return NodeKinds(known, frozenset({NodeKind(_SIZE, True), NodeKind(_SIZE, False)}))


class CostMachine(RuleBasedStateMachine):
    """Two pools of three nodes at most, three jobs, and one day that is rolled up again and again."""

    @initialize()
    def begin(self) -> None:
        self.at = _START + HOUR // 3
        self.pools = {name: _Pool(self.at) for name in _SLOTS}
        self.tasks: defaultdict[str, dict[str, Task]] = defaultdict(dict)
        self.events: defaultdict[tuple[str, str], list[RunEvent]] = defaultdict(list)
        self.late: list[tuple[tuple[str, str], RunEvent]] = []
        self.day = UsageDay(_TODAY, 0)
        for one in self.pools.values():
            for key in ("n0_d", "n1_d", "n0_p"):
                one.nodes[key] = Node(key, "running", key.endswith("d"), self.at, allocated=self.at, vm_size=_SIZE)

    @rule(minutes=st.sampled_from((1, 20, 45, 70, 150)))
    def wait(self, minutes: int) -> None:
        self.at += minutes * 60_000

    @rule(pool=_POOLS, number=_NAMES, state=st.sampled_from(_STATES), dedicated=st.booleans(), age=st.integers(0, 90))
    def change_node(self, pool: str, number: int, state: str, age: int, *, dedicated: bool) -> None:
        one = self.pools[pool]
        moment = max(self.at - age * 60_000, one.as_of)
        key = f"n{number}_{'d' if dedicated else 'p'}"
        old = one.nodes.get(key) or Node(key, state, dedicated, allocated=moment, vm_size=_SIZE)
        one.list({**one.nodes, key: old._replace(state=state, transition=moment)}, self.at)

    @precondition(lambda self: any(pool.nodes for pool in self.pools.values()))
    @rule(pool=_POOLS, number=st.integers(0, 5))
    def remove_node(self, pool: str, number: int) -> None:
        one = self.pools[pool]
        gone = sorted(one.nodes)[number : number + 1]
        one.list({key: node for key, node in one.nodes.items() if key not in gone}, self.at)

    @rule(pool=_POOLS)
    def begin_anew(self, pool: str) -> None:
        """A ledger is lost with torn rows, and begins with the next list."""
        one = self.pools[pool]
        one.ledger, one.as_of = UsageLedger(self.at, self.at), self.at

    @rule(job=_JOBS, number=_NAMES, pool=_POOLS, node=st.integers(0, 1), width=st.integers(1, 4), logged=st.booleans())
    def start(self, job: str, number: int, pool: str, node: int, width: int, *, logged: bool) -> None:
        """Starts a task with some slots of a node, or in the pool of one slot a multi-instance task on some nodes."""
        name, place = f"t{number}", (pool, f"n{node}_{'d' if number else 'p'}")
        old = self.tasks[job].get(name)
        if old and old.state == RUNNING:
            return
        held, retries = min(width, _SLOTS[pool]), old.retries if old else 0
        instances = 1 if held > 1 else width
        self.tasks[job][name] = Task(name, RUNNING, start=self.at, slots=held, node=place, retries=retries)
        self._log(
            job, name, RunEvent(self.at, "start", self.at, 0, SUCCESS, retries, held, place, instances), logged=logged
        )

    @rule(job=_JOBS, number=_NAMES, how=st.sampled_from(("succeeds", "fails", "retries", "requeues")), age=_NAMES)
    def end(self, job: str, number: int, how: str, age: int) -> None:
        name = f"t{number}"
        task = self.tasks[job].get(name)
        if task is None or task.state != RUNNING:
            return
        at = max(task.start, self.at - age * 60_000)
        if how in {"retries", "requeues"}:
            retries = task.retries + (how == "retries")
            self.tasks[job][name] = Task(name, ACTIVE, transition=at, slots=task.slots, retries=retries)
            if how == "requeues":
                event = RunEvent(at, "requeue", task.start, 0, SUCCESS, task.retries, task.slots, task.node)
                self._log(job, name, event, logged=True)
            return
        result = SUCCESS if how == "succeeds" else FAILURE
        self.tasks[job][name] = task._replace(state=COMPLETED, result=result, end=at, transition=at)
        event = RunEvent(at, "end", task.start, at, result, task.retries, task.slots, task.node)
        self._log(job, name, event, logged=True)

    @rule(job=_JOBS, number=_NAMES)
    def delete_task(self, job: str, number: int) -> None:
        self.tasks[job].pop(f"t{number}", None)

    @rule()
    def deliver(self) -> None:
        """Late events come."""
        for key, event in self.late:
            self.events[key].append(event)
        self.late.clear()

    @rule(minutes=st.sampled_from((0, 5, 60, 130)), is_listed=st.booleans())
    def roll_up(self, minutes: int, *, is_listed: bool) -> None:
        """Makes the day anew as housekeeping does, after a list of the nodes or without one, and checks it."""
        self.at += minutes * 60_000
        for one in self.pools.values():
            if is_listed:
                one.list(dict(one.nodes), self.at)
        before, as_of = self.day, min(one.as_of for one in self.pools.values())
        settled = settled_hours(before, as_of)
        hours = range(_TODAY * HOURS + before.settled, (_TODAY + 1) * HOURS)
        settles = settling(before, settled, as_of)
        usage = TaskUsageByHour(hours, min(self.at, _START + DAY), lambda pool: _SLOTS.get(pool) == 1, settles)
        for (job, name), events in self._all_events().items():
            for run, outcome, _ in attempts(events, self.tasks[job].get(name), self.at - 300_000):
                usage.add(job, run, outcome, instances_of(events))
        tasks = day_tasks(usage, {name: one.kinds() for name, one in self.pools.items()})
        known, before = before, with_ended(before, tasks.ended)
        found, pools = dict(before.hours), dict[str, PoolDay]()
        for name, one in self.pools.items():
            ledger = one.ledger.total(one.nodes, one.as_of)
            made = made_hours(ledger, tasks.pools.get(name, {}), _TODAY, _SLOTS[name])
            found[name] = kept_hours(before, name, made, one.ledger.known_since(one.as_of))
            pools[name] = PoolDay(name, _SLOTS[name], "westeurope", "linux", "none", summed(found[name].values()))
            for hour, kinds in hours_of(ledger, _TODAY).items():
                for kind, times in kinds.items():
                    assert sum(made[hour][kind].values()) == sum(times.values()) * _SLOTS[name]
        names = {job: job.upper() for job in "abc"}
        known_as_of = outcome_times(before, settles)
        self.day = UsageDay(
            _TODAY, as_of, pools, found, kept_jobs(before, tasks, names), settled, outcomes_as_of=known_as_of
        )
        self._check_past(known)
        self._check_money()

    def _all_events(self) -> dict[tuple[str, str], list[RunEvent]]:
        cached = {(job, name) for job, tasks in self.tasks.items() for name in tasks}
        return {key: self.events.get(key, []) for key in cached | self.events.keys()}

    def _log(self, job: str, name: str, event: RunEvent, *, logged: bool) -> None:
        if logged:
            self.events[job, name].append(event)
        else:
            self.late.append(((job, name), event))

    def _check_past(self, before: UsageDay) -> None:
        """Settled hours are what they were, but for the outcomes of runs that ended, and no job has less in them."""
        for name, hours in before.hours.items():
            for hour, kinds in hours.items():
                for kind, old in kinds.items() if hour < before.settled else ():
                    new = self.day.hours[name][hour][kind]
                    assert sum(new.values()) == sum(old.values())
                    assert {one: units for one, units in new.items() if one not in OUTCOMES} == {
                        one: units for one, units in old.items() if one not in OUTCOMES
                    }
                    assert all(new[one] >= units for one, units in old.items() if one != "running")
        for job, past in before.jobs.items():
            present = self.day.jobs[job].settled
            assert sum(present.values()) >= sum(past.settled.values())
            assert all(units >= 0 for units in present.values())
            for key, held in past.settled.items():
                assert key.outcome == "running" or present[key] >= held

    def _check_money(self) -> None:
        """Every grouping has the same money, in each class and in total; time that tasks held is in jobs."""
        priced, sums = [PricedDay(self.day, _prices())], list[CostSum]()
        for grouping in get_args(Grouping.__value__):
            for sharing in get_args(Sharing.__value__):
                table = cost_table(priced, grouping, sharing, CostRange(range(_TODAY, _TODAY + 1)))
                parts = CostSum()
                for group in table.groups.values():
                    parts.add_sum(group.total)
                sums += [parts, table.total.total]
        for one in sums:
            billed = {name: time for name, time in one.times.items() if name != "preempted" and time}
            assert billed == {name: time for name, time in sums[0].times.items() if name != "preempted" and time}
            for name in one.amounts.keys() | sums[0].amounts.keys():
                assert _digits(one.amounts[name]) == _digits(sums[0].amounts[name])
            assert _digits(one.uncertain) == _digits(sums[0].uncertain)


def _digits(amount: Decimal) -> Decimal:
    """Returns an amount with more digits than any answer has."""
    return amount.quantize(Decimal("1e-18"))


CostMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
test_time_and_money_of_a_day_are_whole = CostMachine.TestCase
