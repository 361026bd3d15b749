"""Generated tasks as Batch may report them, and an oracle that counts them without the code under test."""

import string
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from shared.domain.tasks.tasks import Task, TaskCounts

ids = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64)
times = st.just(0) | st.integers(1_700_000_000_000, 1_900_000_000_000) | st.integers(-62_135_596_800_000, 2**48)
exit_codes = st.none() | st.integers(-3, 3) | st.integers(-(2**31), 2**32 - 1) | st.integers(-(2**62), 2**62)
pairs = st.just(("", "")) | st.tuples(st.text(max_size=8), st.text(max_size=8))
tasks = st.builds(
    Task,
    id=ids,
    state=st.integers(0, 3),
    result=st.integers(0, 2),
    transition=times,
    creation=times,
    start=times,
    end=times,
    exit_code=exit_codes,
    failure=pairs,
    retries=st.integers(0, 2**31),
    requeues=st.integers(0, 300),
    slots=st.integers(1, 256),
    node=pairs,
)


def tasks_with(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Task]:
    """Generates tasks that vary only in the given fields."""
    return st.fixed_dictionaries(fields).map(lambda chosen: Task(**chosen))


def distinct(many: Iterable[Task]) -> list[Task]:
    """Returns the last task of each id, in the order of ids without case."""
    by_id = {task.id.lower(): task for task in many}
    return [by_id[name] for name in sorted(by_id)]


def counted(many: Iterable[Task]) -> TaskCounts:
    """Counts tasks one by one."""
    rows = list(many)
    states, results = Counter(task.state for task in rows), Counter(task.result for task in rows)
    return TaskCounts(states[0], states[1], states[2], states[3], results[1], results[2])
