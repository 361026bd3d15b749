"""Pools and nodes in real storage: loaded exactly as saved, and no write overwrites another unknowingly."""

import secrets
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import orjson
import pytest
from azure.data.tables import UpdateMode

from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.nodes.node_records import EarlierState, NodeRecord
from shared.domain.nodes.nodes import Node, NodeError, NodeSummary, RecentTask, StartRun
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale, Evaluation, Problem, StartTask
from shared.domain.pools.pools import NodesSnapshot, Pool, PoolConfirmation, first_seen
from shared.domain.usage.billing_classes import CLASSES
from shared.domain.usage.last_nodes import LastNodes
from shared.domain.usage.node_spans import ListGap, Removal
from shared.domain.usage.usage_ledger import DeletedPool, UsageKind, UsageLedger
from shared.errors import CacheConflictError
from shared.stores.pools import nodes as nodes_module
from shared.stores.pools.node_json import json_of_node, node_of
from shared.stores.pools.nodes import NodeStore, StoredNodes, planned
from shared.stores.pools.packed_usage import packed_usage, usage_of
from shared.stores.pools.pools import PoolStore
from shared.stores.tables import rows
from shared.stores.tables.tables import Tables, load_rows

T0 = datetime(2026, 11, 21, 7, 0, 1, 234_000, tzinfo=UTC)
FACTS = PoolFacts(
    "Pool Ä", T0, "active", T0, "standard_d4s_v5", "steady", T0, Size(2, 3), Size(1), 4,
    (Problem("AllocationFailed", "Ünable"),), AutoScale("f", "PT5M", T0, "r", Problem("e", "m")),
    StartTask("run", (("A", "b"),), waits_for_success=False, retries=1), "Shown",
)  # fmt: skip
SUMMARY = NodeSummary((("idle", True, 2), ("preempted", False, 1)), 12, 3, 5, 2)
TALLY = InterruptionCount(7, Interruptions(6, 3, 9, ((1, 3), (3, 3))))
DAY = 86_400_000  # milliseconds
USAGE = UsageLedger(
    1_795_244_400_000,
    1_795_248_000_000,
    {498_679: {UsageKind("idle", True, "a"): 7}, 498_680: {UsageKind("preempted", False, ""): 9}},
    {"tvm-1": 1_795_247_999_000},
)
RECORD = NodeRecord(7, (EarlierState("idle", 3), EarlierState("", 2)), (5, 4), Interruptions(2, 1, 9, ((1, 1), (3, 1))))
SNAPSHOT = NodesSnapshot(T0, T0, "fullRead", SUMMARY, "digest", "doubt", TALLY, ((1, 2), (3, 4)))
POOL = replace(
    first_seen(FACTS, T0).listed(SNAPSHOT).listed(replace(SNAPSHOT, doubt=None)),
    evaluations=(Evaluation(T0, "r"), Evaluation(T0, None, Problem("e"))),
)
FULL = Node(
    "TVM-1", "starttaskfailed", False, 1, 2, 3, "disabled", 4, 5, 6, 7, "standard_d4s_v5",
    StartRun("completed", "failure", 1, 2, 3, 4, "usererror", "code", "message"),
    (NodeError("a", "b"),), (RecentTask("j", "t", "running"),), 9, RECORD, "1.12.3",
)  # fmt: skip


@pytest.fixture
def account() -> str:
    return f"demo-{secrets.token_hex(6)}"


def by_key(found: Iterable[Node]) -> dict[str, Node]:
    return {node.key: node for node in found}


def many(count: int, **changes: Any) -> dict[str, Node]:
    return by_key(Node(f"tvmps_{number:064x}_d", "idle")._replace(**changes) for number in range(count))


async def save_pool(store: PoolStore, account: str, pool: Pool) -> Pool:
    (end,) = await store.save_all(account, [pool])
    if isinstance(end, CacheConflictError):
        raise end
    return end


async def save_nodes(store: NodeStore, before: StoredNodes, nodes: Mapping[str, Node]) -> StoredNodes:
    write = planned(before, nodes, before.tally, before.usage)
    (conflict,) = await store.save_all([write])
    if conflict:
        raise conflict
    return await store.load(before.account_key, before.pool_key, write.digest)


async def test_a_pool_comes_back_as_it_was_written(tables: Tables, account: str) -> None:
    store = PoolStore(tables)
    saved = await save_pool(store, account, POOL)
    assert saved.etag
    assert (await PoolStore(tables).load(account, "pool ä")) == (None, saved)
    assert (await PoolStore(tables).load_all(account)).resources == {POOL.key: saved}
    bare = first_seen(PoolFacts("bare", T0, "active", T0, "x"), T0)
    assert (await store.load(account, "bare"))[1] is None
    saved = await save_pool(store, account, bare)
    assert (await store.load(account, "bare"))[1] == saved


async def test_a_pool_that_another_process_wrote_is_not_overwritten(tables: Tables, account: str) -> None:
    store = PoolStore(tables)
    first = await save_pool(store, account, POOL)
    second = await save_pool(store, account, replace(first, facts=replace(FACTS, state="deleting")))
    for stale in (first, POOL):
        with pytest.raises(CacheConflictError):
            await save_pool(store, account, stale)
    with pytest.raises(CacheConflictError):
        await store.delete(account, first)
    assert (await store.load(account, FACTS.id))[1] == second
    await store.delete(account, second)
    await store.delete(account, second)
    assert (await store.load(account, FACTS.id))[1] is None


async def test_a_round_confirms_pools_as_they_are_stored(tables: Tables, account: str) -> None:
    store = PoolStore(tables)
    saved = await save_pool(store, account, POOL)
    later = PoolConfirmation(POOL.version, T0 + timedelta(minutes=1), T0, "delta")
    done = PoolRound(T0, T0, "why", 3, {POOL.key: later}, {"other": "Broke."})
    await store.save_round(account, done, {POOL.key: saved})
    found = await PoolStore(tables).load_all(account)
    assert found.last == replace(done, etag=found.last.etag if found.last else None)
    assert found.resources[POOL.key].as_of == T0 + timedelta(minutes=1)
    assert (await PoolStore(tables).load(account, FACTS.id))[1] == found.resources[POOL.key]


async def test_a_process_caches_its_writes_until_another_one_writes(tables: Tables, account: str) -> None:
    ours, theirs = PoolStore(tables), PoolStore(tables)
    saved = await save_pool(ours, account, POOL)
    await ours.save_round(account, PoolRound(T0), {POOL.key: saved})
    known = await ours.load_known(account)
    assert known.resources == {POOL.key: saved}
    assert await ours.load_known(account) is known
    their_round = (await theirs.load_known(account)).last
    assert their_round
    confirmation = PoolConfirmation("v", T0 + timedelta(minutes=3), T0, "delta")
    await theirs.save_round(account, replace(their_round, confirmations={"other": confirmation}), {})
    assert known.last
    await ours.save_round(account, replace(known.last, started_at=T0 + timedelta(minutes=5)), known.resources)
    after = await ours.load_known(account)
    assert after is not known
    assert after.last
    assert (after.last.confirmations, after.last.started_at) == ({"other": confirmation}, T0 + timedelta(minutes=5))


async def test_a_round_whose_row_was_deleted_meanwhile_is_written_anew(tables: Tables, account: str) -> None:
    store = PoolStore(tables)
    await store.save_round(account, PoolRound(T0, reason="first"), {})
    last = await store.load_round(account)
    assert last
    await tables["accounts"].delete_entity(account, "pools")
    await store.save_round(account, replace(last, reason="second"), {})
    found = await PoolStore(tables).load_round(account)
    assert found
    assert found.reason == "second"
    assert found.etag != last.etag


@pytest.mark.parametrize("count", [0, 1, 250, 251, 1300])
async def test_nodes_come_back_as_they_were_written(tables: Tables, account: str, count: int) -> None:
    wanted = {**many(count), **({FULL.key: FULL} if count else {})}
    store = NodeStore(tables)
    saved = await save_nodes(store, await store.load(account, "pool"), wanted)
    assert saved.nodes == wanted
    assert await NodeStore(tables).read(account, "pool") == saved
    assert await store.load(account, "pool", saved.digest) is saved
    assert await store.load(account, "pool", "other") is not saved


async def test_only_rows_that_changed_are_written_and_none_where_nothing_did(
    tables: Tables, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = NodeStore(tables)
    first = await save_nodes(store, await store.load(account, "pool"), many(600))
    written = counted(monkeypatch, store._table)
    assert await save_nodes(store, first, many(600)) is first
    changed = {**first.nodes}
    key = sorted(changed)[300]
    changed[key] = changed[key]._replace(state="running")
    second = await save_nodes(store, first, changed)
    assert written == [2]  # its row and the head
    assert second.digest != first.digest
    fewer = await save_nodes(store, second, many(10))
    assert written == [2, 4]
    assert await NodeStore(tables).read(account, "pool") == fewer


async def test_two_writers_never_mix_their_nodes(tables: Tables, account: str) -> None:
    ours, theirs = NodeStore(tables), NodeStore(tables)
    before = await save_nodes(ours, await ours.load(account, "pool"), many(600))
    known = await theirs.load(account, "pool")
    keys = sorted(before.nodes)
    first = {**before.nodes, keys[0]: before.nodes[keys[0]]._replace(state="running")}
    last = {**before.nodes, keys[-1]: before.nodes[keys[-1]]._replace(state="unusable")}
    saved = await save_nodes(theirs, known, last)
    with pytest.raises(CacheConflictError):
        await save_nodes(ours, before, first)
    assert await NodeStore(tables).read(account, "pool") == saved
    again = await ours.load(account, "pool")
    assert again == saved
    with pytest.raises(CacheConflictError):
        await save_nodes(ours, replace(again, rows={}, head_etag=None), first)


async def test_nodes_of_a_pool_that_was_deleted_meanwhile_conflict(tables: Tables, account: str) -> None:
    store = NodeStore(tables)
    saved = await save_nodes(store, await store.load(account, "pool"), many(3))
    theirs = NodeStore(tables)
    known = await theirs.load(account, "pool")
    await theirs.delete(known)
    with pytest.raises(CacheConflictError):
        await save_nodes(store, saved, many(4))
    assert (await store.load(account, "pool")).nodes == {}
    with pytest.raises(CacheConflictError):
        await theirs.delete(known)


async def test_stored_nodes_show_their_pools_and_write_times(tables: Tables, account: str) -> None:
    store, pools = NodeStore(tables), PoolStore(tables)
    await save_pool(pools, account, POOL)
    await save_nodes(store, await store.load(account, POOL.key), many(1))
    large = await save_nodes(store, await store.load(account, "other"), many(600))
    assert (await store.pool_keys(account), await pools.keys(account)) == ({POOL.key, "other"}, {POOL.key})
    written = await store.written_at(large)
    assert written
    assert abs(written - datetime.now(UTC)) < timedelta(minutes=5)
    await save_nodes(NodeStore(tables), large, many(599))
    assert await store.written_at(large) is None


async def test_nodes_that_were_written_meanwhile_are_not_deleted(tables: Tables, account: str) -> None:
    store = NodeStore(tables)
    before = await save_nodes(store, await store.load(account, "pool"), many(600))
    after = await save_nodes(store, before, many(3))
    with pytest.raises(CacheConflictError):
        await NodeStore(tables).delete(before)
    assert (await NodeStore(tables).read(account, "pool")).nodes == after.nodes
    await store.delete(after)
    assert (await NodeStore(tables).read(account, "pool")).nodes == {}


async def test_rows_of_different_writes_are_detected_and_written_anew(
    tables: Tables, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write of several transactions ended after the first."""
    monkeypatch.setattr(rows, "MAX_OPERATIONS", 1)
    store = NodeStore(tables)
    first = await save_nodes(store, await store.load(account, "pool"), many(600))
    send, sent = store._table.submit_transaction, 0

    async def dying(operations: Any, **options: Any) -> Any:
        nonlocal sent
        sent += 1
        if sent > 1:
            raise RuntimeError("died")
        return await send(operations, **options)

    with monkeypatch.context() as patched:
        patched.setattr(store._table, "submit_transaction", dying)
        with pytest.raises(RuntimeError, match="died"):
            await save_nodes(store, first, many(600, state="running"))
    other = NodeStore(tables)
    with pytest.raises(CacheConflictError, match="written anew"):
        await other.read(account, "pool")
    torn = await other.load(account, "pool")
    assert (torn.is_torn, torn.nodes) == (True, {})
    saved = await save_nodes(other, torn, many(600, state="running"))
    assert await NodeStore(tables).read(account, "pool") == saved
    assert saved.nodes == many(600, state="running")


@pytest.mark.parametrize("row", ["pool~!", "pool~n00001"])
async def test_node_rows_without_a_digest_are_detected_and_written_anew(tables: Tables, account: str, row: str) -> None:
    store, other = NodeStore(tables), NodeStore(tables)
    known = await save_nodes(store, await store.load(account, "pool"), many(600))
    stored = await tables["nodes"].get_entity(account, row)
    await tables["nodes"].update_entity(
        {name: value for name, value in stored.items() if name != "digest"}, UpdateMode.REPLACE
    )
    await store.doubt(account)
    assert ((await store.load(account, "pool", known.digest)).digest == known.digest) == (row != "pool~!")
    torn = await other.load(account, "pool")
    assert (torn.is_torn, torn.nodes) == (True, {})
    saved = await save_nodes(other, torn, many(600, state="running"))
    assert await NodeStore(tables).read(account, "pool") == saved


async def test_remembered_nodes_are_bounded(tables: Tables, account: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "_REMEMBERED", 25)
    store = NodeStore(tables)
    for name in "abcd":
        await save_nodes(store, await store.load(account, name), many(10))
    assert [name.rpartition("~")[2] for name in store._known] == ["c", "d"]


async def test_pools_and_nodes_are_written_by_the_dozen_and_one_that_was_overtaken_spoils_no_other(
    tables: Tables, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, pools = NodeStore(tables), PoolStore(tables)
    names = [f"pool-{number}" for number in range(120)]
    writes = [planned(await store.load(account, name), many(2), None, None) for name in names]
    await save_nodes(NodeStore(tables), await NodeStore(tables).load(account, "pool-7"), many(1))
    sent = counted(monkeypatch, store._table)
    conflicts = await store.save_all(writes)
    assert [name for name, conflict in zip(names, conflicts, strict=True) if conflict] == ["pool-7"]
    assert sent == [100, *[1] * 100, 20]
    found = {name: len((await NodeStore(tables).read(account, name)).nodes) for name in names}
    assert found == {**dict.fromkeys(names, 2), "pool-7": 1}
    rows = [first_seen(replace(FACTS, id=name), T0) for name in names]
    other = await save_pool(PoolStore(tables), account, rows[7])
    sent = counted(monkeypatch, pools._table)
    ends = await pools.save_all(account, rows)
    assert [end for end in ends if isinstance(end, CacheConflictError)] == [ends[7]]
    assert sent == [100, *[1] * 100, 20]
    stored = (await PoolStore(tables).load_all(account)).resources
    assert stored == {pool.key: pool for pool in [*ends, other] if isinstance(pool, Pool)}


def counted(monkeypatch: pytest.MonkeyPatch, table: Any) -> list[int]:
    """Records the number of operations of each further transaction."""
    sent: list[int] = []
    send = table.submit_transaction

    async def counting(operations: Any, **options: Any) -> Any:
        sent.append(len(operations))
        return await send(operations, **options)

    monkeypatch.setattr(table, "submit_transaction", counting)
    return sent


async def test_five_thousand_nodes_fit_into_one_transaction(tables: Tables, account: str) -> None:
    recent = tuple(RecentTask(f"job-{n}", secrets.token_hex(16), "completed") for n in range(10))
    found = by_key(
        Node(f"tvmps_{secrets.token_hex(32)}_d", "running", transition=n, recent=recent, recent_at=n)
        for n in range(5000)
    )
    store = NodeStore(tables)
    await save_nodes(store, await store.load(account, "pool"), found)
    assert (await NodeStore(tables).read(account, "pool")).nodes == found


async def test_nodes_move_to_rows_of_their_own_and_back(tables: Tables, account: str) -> None:
    store = NodeStore(tables)
    stored = await store.load(account, "pool")
    for count in (250, 251, 2, 600, 0, 1):
        stored = await save_nodes(store, stored, many(count))
        assert (await NodeStore(tables).read(account, "pool")).nodes == many(count)
        rows = await load_rows(tables["nodes"], account)
        assert len(rows) == 1 + (-(-count // 250) if count > 250 else 0)


async def test_a_tally_that_changes_alone_is_written_and_named_by_the_digest(tables: Tables, account: str) -> None:
    store, nodes = NodeStore(tables), many(2)
    before = await save_nodes(store, await store.load(account, "pool"), nodes)
    write = planned(before, nodes, InterruptionCount(1, Interruptions(1)), None)
    assert write.digest != before.digest
    assert await store.save_all([write]) == [None]
    assert (await NodeStore(tables).read(account, "pool")).tally == InterruptionCount(1, Interruptions(1))


async def test_a_usage_ledger_comes_back_as_it_was_written_and_outlives_the_nodes(tables: Tables, account: str) -> None:
    store, nodes = NodeStore(tables), many(2)
    before = replace(await store.load(account, "pool"), tally=TALLY)
    write = planned(before, nodes, TALLY, USAGE)
    assert await store.save_all([write]) == [None]
    kept = await NodeStore(tables).read(account, "pool")
    assert (kept.usage, kept.nodes) == (USAGE, nodes)
    busy = {key: node._replace(tasks=1) for key, node in nodes.items()}
    assert await store.save_all([planned(kept, busy, TALLY, kept.usage)]) == [None]
    busy_now = await NodeStore(tables).read(account, "pool")
    assert busy_now.usage == USAGE
    await store.retire(busy_now, USAGE)
    left = await NodeStore(tables).read(account, "pool")
    assert (left.usage, left.nodes, left.tally) == (USAGE, {}, None)
    assert left.keeps_usage(USAGE.as_of + 4 * DAY)
    assert not left.keeps_usage(USAGE.as_of + 6 * DAY)
    with pytest.raises(CacheConflictError):
        await store.retire(busy_now, USAGE)
    last = LastNodes(ListGap(1, 2, 3), Removal(0, 0, 2), (("idle", True, "standard_d4s_v5", 2),))
    ended = replace(USAGE, pool=DeletedPool("pool", 1, "linux", None), last=last)
    await store.retire(left, ended)
    left = await NodeStore(tables).read(account, "pool")
    assert left.usage == ended
    await store.retire(left, replace(ended, hours={}))
    left = await NodeStore(tables).read(account, "pool")
    assert left.keeps_usage(USAGE.as_of + 4 * DAY)
    await store.retire(left, UsageLedger(1, 2))
    assert await NodeStore(tables).pool_keys(account) == set()


@pytest.mark.parametrize("damage", [b"x", msgspec.msgpack.encode([1, 2]), msgspec.msgpack.encode([1, 2, {}, [b"x"]])])
async def test_a_damaged_usage_ledger_begins_anew_and_spoils_no_nodes(
    tables: Tables, account: str, damage: bytes
) -> None:
    store = NodeStore(tables)
    await store.save_all([planned(await store.load(account, "pool"), many(2), TALLY, USAGE)])
    row = await tables["nodes"].get_entity(account, "pool~!")
    await tables["nodes"].update_entity({**row, "usage0": damage}, UpdateMode.REPLACE)
    found = await NodeStore(tables).read(account, "pool")
    assert (found.usage, found.nodes, found.tally) == (None, many(2), TALLY)


def full_hour(number: int) -> dict[UsageKind, int]:
    sizes = ("standard_d4s_v5", "standard_e4s_v5")
    kinds = [UsageKind(name, kind, size) for name in list(CLASSES)[:12] for kind in (True, False) for size in sizes]
    return {kind: 3_599_123 * (place + number) for place, kind in enumerate(kinds)}


def test_a_full_usage_ledger_takes_few_bytes_and_only_changed_days_are_packed_again() -> None:
    """Five days of a pool of two sizes, with twelve classes each hour, are far below what a property holds."""
    hours = {498_672 + hour: full_hour(hour) for hour in range(120)}
    starts = {f"tvmps_{number:064x}_d": 1_795_244_400_000 + number for number in range(50)}
    first = packed_usage(UsageLedger(1, 2, hours, starts), None)
    assert list(first.column) == ["usage0"]
    assert usage_of(first.column) == first.ledger
    assert packed_usage(first.ledger, first) is first
    later = replace(first.ledger, as_of=3, hours={**hours, 498_672 + 119: full_hour(7)})
    second = packed_usage(later, first)
    assert usage_of(second.column) == later
    same = [day for day, packed in second.days.items() if packed is first.days[day]]
    assert same == list(first.days)[:-1]
    shorter = replace(later, hours={hour: amounts for hour, amounts in later.hours.items() if hour >= 498_696})
    third = packed_usage(shorter, second)
    assert usage_of(third.column) == shorter
    assert list(third.days.values()) == list(second.days.values())[1:]


def test_classes_of_a_later_version_count_as_unknown() -> None:
    kind = UsageKind("unknown", True, "a")
    text = orjson.dumps([[498_679, {"a": [{"unknown": 2, "hibernated": 3}, {}]}]])
    column = msgspec.msgpack.encode([1, 2, {}, [zlib.compress(text)], None, None, "added later"])
    assert usage_of({"usage0": column}) == UsageLedger(1, 2, {498_679: {kind: 5}})


def test_values_that_a_later_version_adds_to_a_node_are_passed_over() -> None:
    assert node_of([*json_of_node(FULL), "added later", 7]) == FULL


def test_a_node_without_a_known_agent_is_written_as_earlier_versions_wrote_and_read_it() -> None:
    assert json_of_node(FULL)[-1] == "1.12.3"
    before = FULL._replace(agent="")
    assert json_of_node(before) == json_of_node(FULL)[:-1]
    assert node_of(json_of_node(before)) == before


async def test_nodes_with_all_that_is_remembered_of_them_take_few_bytes() -> None:
    """A thousand busy nodes with the largest stored record each are far below the limit of a transaction."""
    past = tuple(EarlierState(("idle", "running")[n % 2], 1_795_244_400_000 + n * 61_234) for n in range(20))
    falls = tuple(1_795_244_400_000 + n * 61_234 for n in range(20))
    record = NodeRecord(1_795_244_400_000, past, falls, Interruptions(9, 2, 9, tuple((n, 1) for n in range(20))))
    nodes = by_key(
        Node(f"tvmps_{secrets.token_hex(32)}_d", "idle", record=record._replace(since=number)) for number in range(1000)
    )
    write = planned(StoredNodes("a", "p"), nodes, None, None)
    sizes = [sum(len(v) for v in operation[1].values() if isinstance(v, bytes)) for operation in write.unit]
    assert max(sizes) < 250 * 250
    assert len(write.unit) == 5
