import random
import string
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from azure.data.tables import UpdateMode

from shared.domain.core.keys import key_of
from shared.domain.leaves.leaves import FORMAT, Leaf
from shared.domain.tasks.job_statistics import StoredJobStatistics
from shared.domain.tasks.tasks import COUNT_FIELDS, Task, TaskCounts
from shared.errors import CacheConflictError, StorageError
from shared.services.reading.folding import fold
from shared.stores.jobs.heads import HEAD, Head, sum_of
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory, TaskCache
from shared.stores.tables.rows import transactions
from shared.stores.tables.tables import Tables, load_rows
from tests.domain.support.summary_oracle import blamed, insight_of_rows

T0 = datetime(2026, 11, 21, 7, 0, 0, 123_456, tzinfo=UTC)
EMPTY = LeafEntry("s", TaskCounts(), None)


def numbered(count: int, *, state: int = 0) -> list[Task]:
    return [Task(f"task-{number:06}", state) for number in range(count)]


async def filled(cache: TaskCache, partition: str, tasks: list[Task], *, leaf_rows: int = 4) -> Directory:
    directory, _ = await fold(cache, Directory(partition), tasks, leaf_rows=leaf_rows)
    return await cache.save_head(directory, T0)


async def tasks_of(cache: TaskCache, directory: Directory) -> list[Task]:
    leaves = await cache.load_leaves(directory.partition, directory.leaves)
    return [task for leaf in leaves for task in leaf]


async def test_folded_tasks_are_read_back_by_another_process(tables: Tables, partition: str) -> None:
    tasks = [
        Task("Über", 3, 2, 5, 4, -3, 2, -(2**31), ("userError", "Ünder\nline"), 1, 2, 3, ("pool", "node")),
        Task("z", 0),
    ]
    written = await filled(TaskCache(tables), partition, tasks)
    other = TaskCache(tables)
    read = await other.read_directory(partition)
    assert read == written
    assert sorted(await tasks_of(other, read)) == sorted(tasks)
    assert read.counts == TaskCounts(active=1, completed=1, failed=1)


async def test_a_partition_without_rows_is_an_empty_directory(tables: Tables, partition: str) -> None:
    assert await TaskCache(tables).load_directory(partition) == Directory(partition)


async def test_leaves_split_and_stay_in_order_of_keys(tables: Tables, partition: str) -> None:
    tasks = numbered(50)
    random.Random(5).shuffle(tasks)  # noqa: S311
    cache = TaskCache(tables)
    directory = Directory(partition)
    for start in range(0, 50, 7):
        directory, moved = await fold(cache, directory, tasks[start : start + 7], leaf_rows=4)
        assert moved
    assert await tasks_of(TaskCache(tables), await cache.read_directory(partition)) == numbered(50)
    rows = [leaf.row for leaf in directory.leaves]
    assert rows == sorted(rows)
    assert rows[0] == "s"
    assert all(directory.leaves[directory.place_of(key_of(task.id))].counts.total for task in tasks)


async def test_a_leaf_and_its_new_sibling_are_written_in_one_transaction(tables: Tables, partition: str) -> None:
    """The sibling's row exists already, so the whole transaction fails and the leaf keeps its tasks."""
    cache = TaskCache(tables)
    directory = await filled(cache, partition, numbered(4))
    blocking = Leaf([Task("task-000004", 0)])
    await TaskCache(tables).save_leaves(directory, [LeafReplacement(replace(EMPTY, row="stask-000004"), [blocking])])
    with pytest.raises(CacheConflictError):
        await fold(cache, directory, numbered(6, state=2), leaf_rows=4)
    whole = await TaskCache(tables).load_leaf(partition, directory.leaves[0])
    assert list(whole) == numbered(4)


async def test_a_leaf_that_another_poll_rewrote_gives_way_when_it_is_read(tables: Tables, partition: str) -> None:
    one, other = TaskCache(tables), TaskCache(tables)
    seen = await filled(one, partition, numbered(3))
    await fold(other, seen, numbered(1, state=2))
    with pytest.raises(CacheConflictError):
        await fold(one, seen, numbered(2, state=3))
    again = await one.read_directory(partition)
    assert (await one.load_leaf(partition, again.leaves[0])).row(0).state == 2


async def test_a_leaf_that_another_poll_rewrote_gives_way_when_it_is_written(tables: Tables, partition: str) -> None:
    one, other = TaskCache(tables), TaskCache(tables)
    seen = await filled(one, partition, numbered(3))
    await fold(other, seen, numbered(1, state=2))
    with pytest.raises(CacheConflictError):
        await one.save_leaves(seen, [LeafReplacement(seen.leaves[0], [Leaf(numbered(3, state=3))])])


async def test_two_first_leaves_at_once_do_not_overwrite_each_other(tables: Tables, partition: str) -> None:
    await filled(TaskCache(tables), partition, numbered(3))
    with pytest.raises(CacheConflictError):
        await fold(TaskCache(tables), Directory(partition), numbered(3, state=2))


async def test_a_leaf_that_was_collected_gives_way(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    directory = await filled(cache, partition, numbered(3))
    await tables["tasks"].delete_entity(partition, "s")
    with pytest.raises(CacheConflictError):
        await fold(cache, directory, numbered(1, state=2))


async def test_the_head_is_written_under_its_etag(tables: Tables, partition: str) -> None:
    one, other = TaskCache(tables), TaskCache(tables)
    seen = await filled(one, partition, numbered(3))
    await other.save_head(seen, T0)
    with pytest.raises(CacheConflictError):
        await one.save_head(seen, T0)
    with pytest.raises(CacheConflictError):
        await one.save_head(replace(seen, head_etag=None), T0)


async def test_a_death_before_the_head_leaves_valid_leaves_and_the_older_head(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    before = await filled(cache, partition, numbered(9))
    await fold(cache, before, numbered(9, state=2), leaf_rows=4)
    found = await TaskCache(tables).read_directory(partition)
    assert found.head_etag == before.head_etag
    assert found.counts == TaskCounts(running=9)
    head = next(row for row in await load_rows(tables["tasks"], partition) if row["RowKey"] == HEAD)
    assert [head[field] for field in COUNT_FIELDS] == [9, 0, 0, 0, 0, 0]
    assert head["asOf"] == T0
    after = await TaskCache(tables).save_head(found, T0)
    assert after.counts == TaskCounts(running=9)


async def test_a_remembered_directory_that_is_out_of_date_gives_way_and_is_forgotten(
    tables: Tables, partition: str
) -> None:
    one, other = TaskCache(tables), TaskCache(tables)
    await filled(one, partition, numbered(3))
    moved, _ = await fold(other, await other.load_directory(partition), numbered(1, state=2))
    await other.save_head(moved, T0)
    remembered = await one.load_directory(partition)
    with pytest.raises(CacheConflictError):
        await one.save_head(remembered, T0)
    one.forget(partition)
    assert await one.load_directory(partition) == await other.load_directory(partition)


async def test_folding_known_tasks_writes_nothing(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    directory = await filled(cache, partition, numbered(9))
    assert await fold(cache, directory, numbered(9)) == (directory, False)
    assert await fold(cache, directory, []) == (directory, False)


async def test_many_leaves_go_into_as_many_transactions_as_they_need(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    directory = Directory(partition)
    for start in range(0, 900, 150):
        directory, _ = await fold(cache, directory, numbered(900)[start : start + 150], leaf_rows=4)
    assert len(directory.leaves) > 200
    directory, _ = await fold(cache, directory, numbered(900, state=2), leaf_rows=4)
    assert (await cache.read_directory(partition)).counts == directory.counts == TaskCounts(running=900)


def longest(count: int, dice: random.Random) -> list[Task]:
    """Returns tasks of the maximum size: the longest ids, in random order, each on its own node."""
    letters = string.ascii_letters + string.digits + "_-"
    names = ["".join(dice.choices(letters, k=64)) for _ in range(count)]
    times = [dice.randrange(1_700_000_000_000, 1_800_000_000_000) for _ in range(4)]
    return [
        Task(name, 3, 2, times[0] + dice.randrange(10**9), times[1], times[2] + dice.randrange(10**9), times[3],
             dice.randrange(2**31), ("userError", "FailureExitCode"), 1, 1, 1, ("p" * 64, name[::-1]))
        for name in names
    ]  # fmt: skip


async def test_a_full_pass_of_the_longest_ids_fits_the_limits_of_transactions(tables: Tables, partition: str) -> None:
    dice = random.Random(11)  # noqa: S311
    tasks = longest(20_000, dice)
    cache = TaskCache(tables)
    first = await filled(cache, partition, tasks[:4000], leaf_rows=4096)
    assert len(first.leaves) == 1
    replacement = LeafReplacement(first.leaves[0], Leaf(sorted(tasks, key=lambda task: key_of(task.id))).split())
    ((unit,),) = transactions([replacement.unit(partition)])
    assert (
        sum(len(chunk) for _, row, *_ in unit for chunk in row.values() if isinstance(chunk, bytes)) * 4 / 3 < 4 << 20
    )
    directory, _ = await fold(cache, first, tasks)
    read = await TaskCache(tables).read_directory(partition)
    assert read.leaves == directory.leaves
    assert read.counts == TaskCounts(completed=20_000, failed=20_000)


async def test_words_of_any_length_fit_the_limits_of_transactions(tables: Tables, partition: str) -> None:
    dice = random.Random(12)  # noqa: S311
    codes = ["".join(dice.choices(string.ascii_letters, k=2000)) for _ in range(3000)]
    tasks = [task._replace(failure=("userError", code)) for task, code in zip(longest(3000, dice), codes, strict=True)]
    cache = TaskCache(tables)
    directory, _ = await fold(cache, await filled(cache, partition, tasks[:1000], leaf_rows=4096), tasks)
    read = await TaskCache(tables).read_directory(partition)
    assert read.leaves == directory.leaves
    assert sorted(await tasks_of(cache, read)) == sorted(tasks)


@pytest.mark.parametrize("touched", [[0, 1, 2, 3], [0, 2, 3], [0, 9], [5], [1, 3, 5, 7, 9, 11]])
async def test_leaves_are_read_alike_together_and_one_by_one(
    tables: Tables, partition: str, touched: list[int]
) -> None:
    cache = TaskCache(tables)
    directory = await filled(cache, partition, numbered(48))
    assert len(directory.leaves) == 12
    entries = [directory.leaves[place] for place in touched]
    one_by_one = await cache.load_leaves(partition, entries)
    together = await cache.load_run(partition, entries)
    assert list(map(list, one_by_one)) == list(map(list, together))
    changed = [Task(f"task-{place * 4:06}", 2) for place in touched]
    after, moved = await fold(cache, directory, changed, leaf_rows=4)
    assert moved
    assert after.counts == TaskCounts(active=48 - len(touched), running=len(touched))
    assert (await TaskCache(tables).read_directory(partition)).leaves == after.leaves


async def test_leaves_read_together_give_way_where_another_poll_was_faster(tables: Tables, partition: str) -> None:
    one, other = TaskCache(tables), TaskCache(tables)
    seen = await filled(one, partition, numbered(12))
    await fold(other, seen, numbered(1, state=2), leaf_rows=4)
    with pytest.raises(CacheConflictError, match="rewrote"):
        await one.load_run(partition, seen.leaves)
    await tables["tasks"].delete_entity(partition, seen.leaves[1].row)
    with pytest.raises(CacheConflictError, match="gone"):
        await one.load_run(partition, seen.leaves[1:])


async def test_any_order_of_ids_leaves_the_same_tasks_and_no_sparse_leaves(tables: Tables, partition: str) -> None:
    tasks, cache = numbered(3000), TaskCache(tables)
    random.Random(6).shuffle(tasks)  # noqa: S311
    directory = Directory(partition)
    for start in range(0, 3000, 500):
        directory, _ = await fold(cache, directory, tasks[start : start + 500], leaf_rows=64)
    assert sorted(await tasks_of(cache, directory)) == numbered(3000)
    assert len(directory.leaves) <= 3000 / 64 * 2
    in_order, _ = await fold(cache, Directory(f"{partition}o"), numbered(3000), leaf_rows=64)
    assert len(in_order.leaves) == -(-3000 // 64)


async def test_a_damaged_leaf_is_named(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    directory = await filled(cache, partition, numbered(3))
    row = await tables["tasks"].get_entity(partition, "s")
    row["d0"] = bytes([FORMAT + 1]) + row["d0"][1:]
    answer = await tables["tasks"].update_entity(row)
    entry = replace(directory.leaves[0], etag=str(answer["etag"]))
    with pytest.raises(StorageError, match=f"format {FORMAT + 1}"):
        await cache.load_leaf(partition, entry)


FAILED = [
    Task(f"task-{number:06}", 3, 2, 9_000_000, 1, 2_000, 9_000_000, number % 3, ("userError", "FailureExitCode"))
    for number in range(9)
]


async def test_a_directory_has_the_summary_of_every_leaf_and_the_head_their_sum(tables: Tables, partition: str) -> None:
    written = await filled(TaskCache(tables), partition, FAILED)
    read = await TaskCache(tables).read_directory(partition)
    summary = sum_of(leaf.summary for leaf in read.leaves)
    assert len(read.leaves) > 1
    assert summary
    assert summary.statistics == insight_of_rows(FAILED)
    assert written.statistics == StoredJobStatistics.of(summary.statistics, read.origin or b"")
    head = await TaskCache(tables).load_head(partition)
    assert head == Head(T0, TaskCounts(completed=9, failed=9), blamed(FAILED))


async def test_where_one_leaf_has_no_summary_there_is_no_sum(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    await filled(cache, partition, FAILED)
    for row in ("s", HEAD):
        stored = await tables["tasks"].get_entity(partition, row)
        kept = {name: value for name, value in stored.items() if name not in {"summary", "failures0"}}
        await tables["tasks"].update_entity(kept, mode=UpdateMode.REPLACE)
    head = await cache.load_head(partition)
    assert head == Head(T0, TaskCounts(completed=9, failed=9), None)
    directory = await cache.read_directory(partition)
    assert directory.counts.total == 9
    assert directory.origin is None
    saved = await cache.save_head(directory, T0)
    assert saved.statistics is None
    assert await cache.load_head(partition) == head


async def test_there_is_no_head_of_a_generation_that_is_gone(tables: Tables, partition: str) -> None:
    assert await TaskCache(tables).load_head(partition) is None


async def test_failures_too_long_for_a_row_lose_groups_but_none_of_their_number(tables: Tables, partition: str) -> None:
    dice, cache = random.Random(13), TaskCache(tables)  # noqa: S311
    codes = ["".join(dice.choices(string.ascii_letters, k=20_000)) for _ in range(100)]
    tasks = [Task(f"t-{number:03}", 3, 2, failure=("userError", code)) for number, code in enumerate(codes)]
    directory, _ = await fold(cache, Directory(partition), tasks, leaf_rows=1)
    await cache.save_head(directory, T0)
    head = await cache.load_head(partition)
    assert head
    assert head.failures
    assert head.failures.count == 100
    assert 0 < len(head.failures.groups) < 100


async def test_a_generation_does_not_see_the_rows_of_another(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    await filled(cache, partition, numbered(3))
    await filled(cache, f"{partition}x", numbered(5))
    assert (await TaskCache(tables).read_directory(partition)).counts.total == 3


async def test_a_generation_is_deleted_whole_and_nothing_beside_it(tables: Tables, partition: str) -> None:
    cache = TaskCache(tables)
    for name in ("g1", "g2"):
        directory = await filled(cache, f"{partition}~{name}", numbered(250))
        await fold(cache, directory, numbered(500), leaf_rows=4)
    await filled(cache, f"{partition}-2~g1", numbered(1))
    assert await cache.load_generations(f"{partition}~") == [f"{partition}~g1", f"{partition}~g2"]
    await cache.delete_generation(f"{partition}~g1")
    assert await cache.load_generations(f"{partition}~") == [f"{partition}~g2"]
    assert (await cache.load_directory(f"{partition}~g1")).leaves == ()
    assert (await TaskCache(tables).read_directory(f"{partition}~g2")).counts.total == 500
    await cache.delete_generation(f"{partition}~g1")
    assert len(await cache.load_generations(f"{partition}-2~")) == 1
