"""What tasks add to the counters and ends of runs of their leaf, compared with a plain account of each task's lives."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.jobs.deleted_job_counters import KEPT, MAX_GONE_POOLS, DeletedJobCounters
from shared.domain.jobs.job_counters import MAX_POOLS, NO_POOL, JobCounters
from shared.domain.leaves.leaf_counters import LeafCounters
from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.run_ends import RunEnds
from shared.domain.tasks.task_counters import COUNTER_FIELDS, TaskCounters
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, PREPARING, RUNNING, Task
from tests.stores.schema.made_rows import T0

NAMES = ["a", "b", "c", "d", "e", "f"]
steps = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["prepare", "start", "succeed", "fail", "retry", "preempt", "reactivate", "create"]),
    ),
    max_size=40,
)
ONE = TaskCounters(4, 3, 2, 1)


class Account:
    """Tasks that move as the service moves them, and their counters."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.began: set[str] = set()
        self.numbers = Counter[str]()
        self.ends: dict[tuple[str, int], int] = {}
        self.now = 1000

    def step(self, name: str, step: str) -> None:
        """Makes a step if the task's state allows it; each state is seen."""
        self.now += 1
        task, created = self.tasks.get(name), Task(name, ACTIVE, transition=self.now, creation=self.now)
        if step == "create" or task is None:
            self.tasks[name] = created
            self.began.discard(name)
        elif step == "prepare" and task.state == ACTIVE:
            self.tasks[name] = task._replace(state=PREPARING, transition=self.now)
        elif step == "start" and task.state in (ACTIVE, PREPARING):
            self.tasks[name] = task._replace(state=RUNNING, transition=self.now, start=self.now)
            self.numbers["started"] += name not in self.began
            self.began.add(name)
        elif step in ("succeed", "fail") and task.state != COMPLETED:
            result = 1 + (step == "fail")
            self.tasks[name] = task._replace(state=COMPLETED, transition=self.now, end=self.now, result=result)
            self.numbers.update(completed=1, failed=int(step == "fail"))
        elif step in ("retry", "preempt") and task.state == RUNNING:
            retried = int(step == "retry")
            self.tasks[name] = created._replace(creation=task.creation, retries=task.retries + retried)
            self.numbers["retried"] += retried
            if retried:
                self.ends[name, task.retries] = self.now
        elif step == "reactivate" and task.state == COMPLETED:
            self.tasks[name] = created._replace(creation=task.creation)
            self.began.discard(name)

    @property
    def counters(self) -> TaskCounters:
        return TaskCounters(*(self.numbers[name] for name in COUNTER_FIELDS))


@given(steps)
def test_a_leaf_counts_each_life_of_a_task_once(moves: list[tuple[str, str]]) -> None:
    account, leaf, before = Account(), Leaf(), TaskCounters()
    for name, step in moves:
        account.step(name, step)
        for _ in range(2):  # what is read again adds nothing
            leaf.fold([account.tasks[name]])
        assert leaf.counters.counters == account.counters
        assert leaf.counters.counters.at_least(before) == leaf.counters.counters
        before = leaf.counters.counters
        leaf.counters = LeafCounters.unpack(leaf.counters.pack())
        assert leaf.run_ends.times == account.ends
        leaf.run_ends = RunEnds.unpack(leaf.run_ends.pack())


@given(steps, st.integers(1, 5))
def test_parts_of_a_leaf_count_on_together(moves: list[tuple[str, str]], rows: int) -> None:
    account, parts = Account(), [Leaf()]
    for name, step in moves:
        account.step(name, step)
        holder = next((part for part in reversed(parts) if part.keys and part.keys[0] <= name), parts[0])
        holder.fold([account.tasks[name]])
        parts = [small for part in parts for small in part.split(rows)]
    assert sum((part.counters.counters for part in parts), TaskCounters()) == account.counters
    assert {run: end for part in parts for run, end in part.run_ends.times.items()} == account.ends


def test_a_task_s_first_sight_counts_all_of_its_life() -> None:
    done = Task("a", COMPLETED, 2, 50, 10, 20, 50, 1, retries=3)
    assert LeafCounters().after([], [done]).counters == TaskCounters(1, 1, 1, 3)
    ended_before_it_ran = done._replace(start=0, retries=0)
    assert LeafCounters().after([], [ended_before_it_ran]).counters == TaskCounters(0, 1, 1, 0)
    assert LeafCounters().after([], [Task("a", ACTIVE, requeues=1)]).counters == TaskCounters()


def test_very_many_waiting_tasks_fit_a_column_and_damage_counts_as_nothing() -> None:
    many = LeafCounters(ONE, frozenset(f"{number:032x}{number * 7919:032x}" for number in range(40_000)))
    packed = many.pack()
    assert len(packed) <= 64 * 1024
    assert LeafCounters.unpack(packed).counters == ONE
    assert 0 < len(LeafCounters.unpack(packed).waiting) < 40_000
    for damaged in (None, b"", b"1 2", b"one two three four", b"1 2 3 4\nxyz"):
        assert LeafCounters.unpack(damaged) == LeafCounters()


def test_a_job_s_numbers_go_to_the_pool_that_it_has_and_never_fall() -> None:
    job = JobCounters(7).counted(TaskCounters(2, 1, 0, 0), "Blue")
    job = job.counted(TaskCounters(3, 1, 1, 0), None).counted(TaskCounters(1, 0, 0, 0), "Blue")
    assert job.pools == {"blue": TaskCounters(2, 1, 0, 0), NO_POOL: TaskCounters(1, 0, 1, 0)}
    assert job.counted(TaskCounters(3, 1, 1, 0), "green") is job


def test_a_job_with_very_many_pools_keeps_the_first_apart_so_that_no_counter_falls() -> None:
    job = JobCounters(7)
    for number in range(MAX_POOLS + 10):
        before = job
        job = job.begun_anew().counted(ONE, f"pool-{number}")
        assert all(job.pools[pool].at_least(counters) == job.pools[pool] for pool, counters in before.pools.items())
    assert len(job.pools) == MAX_POOLS + 1
    assert (job.pools["pool-0"], job.pools[NO_POOL]) == (ONE, TaskCounters(*(10 * number for number in ONE.values())))
    again = job.begun_anew().counted(ONE, "pool-0")
    assert again.pools["pool-0"] == ONE + ONE
    assert job.total == TaskCounters(*(60 * number for number in ONE.values()))


def test_counters_of_a_deleted_job_count_once_while_its_row_is_there_and_after() -> None:
    jobs = {"job": JobCounters(7, pools={"blue": ONE})}
    after = DeletedJobCounters().with_job("job", jobs["job"], T0).with_job("job", jobs["job"], T0)
    assert after.with_jobs(jobs) == after.with_jobs({}) == {"blue": ONE}
    grown = {"job": JobCounters(7, pools={"blue": ONE + ONE})}
    assert after.with_jobs(grown) == after.with_job("job", grown["job"], T0).with_jobs(grown) == {"blue": ONE + ONE}
    another = {"job": JobCounters(8, pools={"blue": ONE})}
    assert after.with_jobs(another) == {"blue": ONE + ONE}


def test_names_of_deleted_jobs_go_when_nobody_needs_them_and_those_of_pools_stay() -> None:
    counters = JobCounters(7, pools={"blue": ONE, "green": ONE})
    left = DeletedJobCounters().with_job("job", counters, T0)
    assert left.pruned({"job": counters}, ["blue", "green"], T0 + 2 * KEPT) == left
    assert left.pruned({}, ["blue", "green"], T0) == left
    pruned = left.pruned({}, ["blue"], T0 + 2 * KEPT)
    assert not pruned.leaving
    assert pruned.gone == {"green": T0 + 2 * KEPT}
    assert pruned.with_jobs({}) == {"blue": ONE, "green": ONE}
    assert pruned.pruned({}, ["blue"], T0 + 3 * KEPT) == pruned
    again = pruned.pruned({}, ["blue", "green"], T0 + 3 * KEPT)
    assert (again.gone, again.with_jobs({})) == ({}, {"blue": ONE, "green": ONE})


def test_of_too_many_pools_that_are_gone_those_without_stored_jobs_go_first_and_the_longest_gone_of_them() -> None:
    names = [f"pool-{number:04}" for number in range(MAX_GONE_POOLS + 2)]
    counted, oldest, older = names[0], names[1], names[2]
    stored = {"stored": JobCounters(8, pools={counted: ONE})}
    first = DeletedJobCounters(dict.fromkeys((counted, oldest), ONE)).pruned(stored, ["listed"], T0)
    second = replace(first, pools={**first.pools, older: ONE}).pruned(stored, ["listed"], T0 + KEPT)
    many = replace(second, pools=dict.fromkeys([*names, "listed"], ONE)).pruned(stored, ["listed"], T0 + 2 * KEPT)
    assert len(many.gone) == MAX_GONE_POOLS
    assert set(names) - many.gone.keys() == {oldest, older}
    assert many.pools == dict.fromkeys([counted, *names[3:], "listed"], ONE) | {NO_POOL: ONE + ONE}
    assert many.pruned(stored, ["listed"], T0 + 3 * KEPT) == many
    assert DeletedJobCounters.of_plain(many.plain(), many.plain_gone()) == many
    assert DeletedJobCounters.of_plain(many.plain()) == replace(many, gone={})
