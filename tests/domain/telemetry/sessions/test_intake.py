import json
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from msgspec.structs import replace

from shared.domain.core.stamps import EPOCH
from shared.domain.packing.compression import deflated, inflated
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.query.ranges import Range, StoredRollups
from shared.domain.telemetry.records.labels import Identity, PathPattern
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups import folding
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.node_facts import Disk, NodeFacts, latest_of
from shared.domain.telemetry.sessions.sessions import MAX_NODES
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, at, flat, intake, once, step, taken, variable

PATH = PathPattern("**/{job}/{task}/{attempt}/vm_perf_metrics.*")
OPENING = [
    variable("AZ_BATCH_POOL_ID", "pool1"),
    variable("AZ_BATCH_TASK_ID", "task-7"),
    once("imds_metadata", vm_size="STANDARD_D2S_V3", vm_location="eastus", batch_pool_name="other"),
    once("batch_agent_data", batch_vm_name="tvmps_1", batch_pool_name="other"),
    once("linux_boot", iso_boot_timestamp="2024-04-15T17:59:12.345678901Z"),
    once("vm_cpuinfo_metadata", tags={"cpu": '"0"'}, model_name="Xeon 8272CL"),
    once("vm_lscpu_metadata", CPUs="2"),
    once("exec.lsblk", name="sda", type="disk", size=32213303296, model="Virtual Disk"),
    once("exec.lsblk", name="sda1", type="part", size=5),
    once("nvme_metadata", name="/dev/nvme0n1", physical_size=1920383410176),
    once("mem", used=1),
]


def test_whose_a_blob_is_comes_from_its_path_its_records_and_their_tags() -> None:
    reader = intake(PATH.identity("a/b/job-1/x/2/vm_perf_metrics.0.zst"))
    session = reader.take(step([*OPENING, at(5, "mem used=2")])).sessions[0]
    assert session.identity == Identity("pool1", "tvmps_1", "job-1", "task-7", "2")
    tagged = taken(at(1, "mem,pool_id=p,node_id=n,job_id=j,task_id=t,host=h used=1")).sessions[0]
    assert tagged.identity == Identity("p", "n", "j", "t")
    assert taken(at(1, "mem,host=h used=1")).sessions[0].host == "h"


def test_of_several_facts_those_after_the_latest_start_count() -> None:
    start = datetime(2026, 11, 21, 12, tzinfo=UTC)
    some = [NodeFacts(vm_size="early", booted_at=start), NodeFacts(vm_size="untold"),
            NodeFacts(vm_size="late", booted_at=start + timedelta(hours=1))]  # fmt: skip
    for order in permutations(some):
        assert latest_of(order).vm_size == "late"
    assert latest_of([]) == NodeFacts()


def test_facts_of_a_node_are_kept_and_nothing_else() -> None:
    facts = taken(*OPENING).sessions[0].facts
    assert (facts.cpu_model, facts.cpu_count, facts.vm_size, facts.region) == (
        "Xeon 8272CL", 2, "STANDARD_D2S_V3", "eastus",
    )  # fmt: skip
    assert facts.booted_at == datetime(2024, 4, 15, 17, 59, 12, 345678, UTC)
    assert facts.disks == (Disk("sda", 32213303296, "Virtual Disk"), Disk("nvme0n1", 1920383410176))


@pytest.mark.parametrize("ticks", [133576379521234567, "133576379521234567"])
def test_times_of_the_agent_may_be_win32_ticks_and_the_kernels_own_is_finer(ticks: int | str) -> None:
    records = [once("batch_agent_data", batch_boot_time=ticks, batch_allocation_time=ticks)]
    moment = datetime(2024, 4, 15, 6, 59, 12, 123456, UTC)
    facts = taken(*records).sessions[0].facts
    assert (facts.booted_at, facts.allocated_at) == (moment, moment)
    finer = once("linux_boot", iso_boot_timestamp="2024-04-15T06:59:12.5Z")
    for order in ([*records, finer], [finer, *records]):
        assert taken(*order).sessions[0].facts.booted_at == moment.replace(microsecond=500_000)
    assert taken(once("linux_boot", iso_boot_timestamp="soon")).sessions[0].facts.booted_at is None


def test_a_batch_of_startup_records_begins_the_next_session() -> None:
    def later(second: float) -> list[Metric]:
        return [replace(one, time=(one.time or 0) + round(second * SECOND)) for one in OPENING]

    second_node = once("batch_agent_data", 300, batch_vm_name="tvmps_2")
    lines = [*OPENING, at(5, "mem used=2"), *later(295), second_node, at(305, "mem used=4"), *later(600)]
    found = intake().take(step(lines))
    assert [found.sessions[number].identity.node for number in sorted(found.sessions)] == [
        "tvmps_1", "tvmps_1", "tvmps_2", "tvmps_1",
    ]  # fmt: skip
    assert {number: sum(one.count for one in flat(part).values()) for number, part in found.rollups.items()} == {
        0: 2, 1: 1, 2: 1, 3: 1,
    }  # fmt: skip


def test_one_batch_may_come_in_several_steps() -> None:
    reader = intake()
    numbers = [set(reader.take(step([one])).sessions) for one in OPENING]
    assert set().union(*numbers) == {0}


def test_a_session_goes_on_from_step_to_step_and_from_state_to_state() -> None:
    reader = intake()
    assert set(reader.take(step(OPENING)).sessions) == {0}
    first = reader.take(step([at(5, "mem used=2")]))
    assert set(first.sessions) == {0}
    second = intake(state=State.unpack(reader.state.pack())).take(step([at(10, "mem used=2")]))
    assert (second.sessions, set(second.rollups)) == ({}, {0})


def test_a_counter_of_another_session_is_another_counter() -> None:
    lines = [at(0, "net,interface=e bytes_sent=1000i"), once("linux_boot", 10), at(20, "net,interface=e bytes_sent=5i")]
    assert taken(*lines).rollups == {}
    same = [at(0, "net,interface=e bytes_sent=1000i"), at(20, "net,interface=e bytes_sent=1005i")]
    assert len(taken(*same).rollups[0]) == 1


def test_sessions_that_are_over_are_forgotten() -> None:
    reader = intake()
    for second in (0, 100, 200):
        reader.take(step([once("linux_boot", second), at(second + 5, "net,interface=e bytes_sent=5i")]))
    assert set(reader.state.memories) == {2}


def test_nodes_that_write_at_once_are_kept_apart_by_their_tags() -> None:
    lines = [at(second, f"net,interface=e,host=n{second % 2} bytes_sent={1000 * (second % 2) + second}i")
             for second in range(6)]  # fmt: skip
    found = taken(*lines)
    assert {number: session.host for number, session in found.sessions.items()} == {0: "n0", 1: "n1"}
    assert [one.sum for part in found.rollups.values() for one in flat(part).values()] == [4, 4]


def test_a_blob_of_very_many_nodes_is_bounded_and_says_so() -> None:
    found = taken(*(at(1, f"mem,host=n{number} used=1") for number in range(MAX_NODES + 5)))
    assert (len(found.sessions), found.dropped.of_too_many_nodes) == (MAX_NODES, 5)


def test_a_node_has_only_so_many_series_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MAX_SERIES", 3)
    reader = intake()
    first = reader.take(step(at(second, f"mem used=1,free=2,cached={second}") for second in range(4)))
    assert (len(first.rollups[0]), first.dropped.beyond_limit) == (3, 0)
    again = intake(state=State.unpack(reader.state.pack()))
    second = again.take(step([at(5, "mem used=1,free=2,total=3"), at(6, "mem total=4")]))
    assert (len(second.rollups[0]), second.dropped.beyond_limit) == (2, 2)


def test_series_that_nobody_has_sent_for_two_hours_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MAX_SERIES", 3)

    def sent(hour: int, *disks: int) -> list[Metric]:
        return [at(hour * 3600 + second, f"diskio,name=d{disk} reads={second}i") for disk in disks for second in (0, 9)]

    reader, found = intake(), []
    for hour, disks in enumerate([(1, 2, 3), (1, 4), (1, 4), (1, 4), (5, 6, 7), (1,)]):
        answer = reader.take(step(sent(hour, *disks)))
        found.append((sum(len(some) for some in answer.rollups.values()), answer.dropped.beyond_limit))
        reader = intake(state=State.unpack(reader.state.pack()))
    assert found == [(3, 0), (1, 2), (2, 0), (2, 0), (1, 4), (1, 0)]
    assert len(reader.state.memories[0].readings) == 3


def test_records_without_a_time_or_out_of_all_time_are_counted() -> None:
    lines = [at(1, "mem used=1"), replace(at(1, "mem used=2"), time=None), replace(at(1, "mem used=3"), time=5)]
    found = taken(*lines)
    assert (found.dropped.records, found.dropped.without_time, found.dropped.out_of_window) == (3, 1, 1)
    assert [one.sum for one in flat(found.rollups[0]).values()] == [1]


def test_an_intake_of_a_decoders_steps_knows_where_to_go_on() -> None:
    text = b"mem used=1 1713204200\nbad\nmem used=3 1713204201\n"
    reader = intake()
    (found,) = [reader.take(one) for one in Decoder().steps(text, 500)]
    assert (found.end, found.dropped.records, [one.start for one in found.rejected]) == (500 + len(text), 2, [522])
    assert [one.sum for one in flat(found.rollups[0]).values()] == [4]


def test_a_state_of_another_format_or_of_none_is_refused() -> None:
    for packed in (b"", b"r{", b"zxx", b'r{"format":2}', b"r[]"):
        with pytest.raises(ValueError, match="state of a blob"):
            State.unpack(packed)


def test_a_state_that_was_stored_by_a_version_before_goes_on() -> None:
    reader = intake()
    agent = once("batch_agent_data", batch_vm_name="n1")
    reader.take(step([agent, once("linux_boot"), once("exec.lsblk", name="sda", type="disk", size=5)]))
    written = json.loads(inflated(reader.state.pack()))
    written["sessions"] |= {"left": {}, "displaced": []}
    (session,) = written["sessions"]["current"].values()
    assert session.pop("told") == [["batch_agent_data", BEGIN], ["linux_boot", BEGIN], ["exec.lsblk/sda", BEGIN]]
    assert session.pop("has_facts")
    session |= {"rival": "", "otherwise": None}
    session["told"] = [["batch_agent_data", BEGIN], ["linux_boot", BEGIN]]
    again = intake(state=State.unpack(deflated(json.dumps(written).encode())))
    found = again.take(step([at(5, "mem,host=h used=1"), replace(agent, time=BEGIN + 9 * SECOND)])).sessions
    assert [(session.number, session.whose.node) for session in found.values()] == [(1, "n1"), (2, "n1")]


def test_a_state_stays_small_for_a_node_of_very_many_series() -> None:
    reader = intake()
    lines = [at(second, f"net,interface=e{port} bytes_sent={second * 10**9}i,bytes_recv=5i")
             for second in (1, 2) for port in range(500)]  # fmt: skip
    reader.take(step(lines))
    assert len(reader.state.pack()) < 64 * 1024


@pytest.mark.parametrize(
    ("start", "end", "minutes"),
    [
        (None, None, [0, 1, 2, 3]),
        (60, None, [1, 2, 3]),
        (90, 150, [1, 2]),
        (None, 120, [0, 1]),
        (60, 60.001, [1]),
        (0, 0, []),
    ],
)
def test_a_tasks_samples_are_those_of_the_minutes_of_its_run(
    start: float | None, end: float | None, minutes: list[int]
) -> None:
    def moment(second: float) -> datetime:
        return EPOCH + timedelta(microseconds=BEGIN // 1000, seconds=second)

    series = Series("a")
    known = {series: {BEGIN // MINUTE + minute: Rollup(1, 1, 1, 1, 1, 1) for minute in range(4)}}
    run = Range(moment(-3600 if start is None else start), moment(3600 if end is None else end), 1)
    found = run.steps_of(StoredRollups(known, {}))
    assert [minute - BEGIN // MINUTE for minute in found.get(series, ())] == minutes
