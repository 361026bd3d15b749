"""Prometheus' text format and OpenMetrics: samples, labels, times, blocks, and the series of well-known exporters."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.blobs.uncharted_blobs import why_undrawn
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.query.ranges import line_of
from shared.domain.telemetry.records.bounds import MAX_LINE
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.precision import Precision
from shared.domain.telemetry.rollups.rollups import merged
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, intake
from tests.domain.telemetry.support.reading import all_steps, contents, read

AT = 1_713_204_180_000
"""BEGIN in milliseconds."""
ANY = Precision()
NODE = f"""# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{{cpu="0",mode="idle"}} 100.5 {AT}
node_cpu_seconds_total{{cpu="0",mode="idle"}} 128.5 {AT + 30_000}
node_memory_MemAvailable_bytes 5.12e+09 {AT}
node_filesystem_avail_bytes{{device="/dev/sda1",fstype="ext4",mountpoint="/"}} 7 {AT}
node_vmstat_pgmajfault 5 {AT}
node_vmstat_pgmajfault 65 {AT + 30_000}
node_hwmon_temp_celsius{{chip="pci0000:00",sensor="temp1"}} 61 {AT}
DCGM_FI_DEV_GPU_UTIL{{gpu="7",UUID="GPU-1",modelName="NVIDIA H100",Hostname="n"}} 50 {AT}
DCGM_FI_DEV_FB_USED{{gpu="7",modelName="NVIDIA H100"}} 2 {AT}
DCGM_FI_DEV_SM_CLOCK{{gpu="7",modelName="NVIDIA H100"}} 1980 {AT}
training_loss{{run="a"}} 0.25 {AT}
"""
GPU = {"hw.id": "7", "hw.model": "NVIDIA H100", "hw.type": "gpu"}


def metrics(text: str) -> list[Metric]:
    found = read(text.encode(), ANY)
    assert not found.mistakes
    return found.metrics


def block(*lines: str, time: str = "1713204180") -> str:
    return "\n".join((f"# timestamp {time}", *lines, "# EOF", ""))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a 1", Metric("a", {}, {"gauge": 1}, None)),
        (f"a 1.5 {AT}", Metric("a", {}, {"gauge": 1.5}, BEGIN)),
        (f"a_total 7 {AT}", Metric("a_total", {}, {"counter": 7}, BEGIN)),
        (f"a_count 7 {AT}", Metric("a_count", {}, {"gauge": 7}, BEGIN)),
        (f"a:b{{}} -2e3 {AT}\r", Metric("a:b", {}, {"gauge": -2000}, BEGIN)),
        ("a 1 1713204180.0", Metric("a", {}, {"gauge": 1}, BEGIN)),
        (f'a{{b="c"}} 1 {AT}', Metric("a", {"b": "c"}, {"gauge": 1}, BEGIN)),
        (f'a{{b="c}} 1",d="\\"\\n\\\\",}} 1 {AT}', Metric("a", {"b": "c} 1", "d": '"\n\\'}, {"gauge": 1}, BEGIN)),
        (f'a {{ b = "c" , d="e" }} 1 {AT}', Metric("a", {"b": "c", "d": "e"}, {"gauge": 1}, BEGIN)),
        (f'a_total 1 {AT} # {{trace_id="x"}} 0.5', Metric("a_total", {}, {"counter": 1}, BEGIN)),
        (f"a NaN {AT}", Metric("a", {}, {"gauge": "NaN"}, BEGIN)),
        (f"a +Inf {AT}", Metric("a", {}, {"gauge": "+Inf"}, BEGIN)),
    ],
)
def test_a_line_is_a_record(line: str, expected: Metric) -> None:
    assert metrics(f"{line}\n") == [expected]


@pytest.mark.parametrize("end", ["\n", " # x\n"])
def test_ordinary_lines_and_others_are_read_alike(end: str) -> None:
    timed = ('a{b="c"} 1.5 1713204180000', "a_total 7 1713204180000")
    others = ("\u00e4 1 5", 'a{b="\u00e4\\n"} 2', 'a_bucket{le="1"} 1')
    found = read("".join(f"{line}{end}" for line in (*timed, *others)).encode(), ANY)
    assert found.bad == 1
    assert found.metrics == [
        Metric("a", {"b": "c"}, {"gauge": 1.5}, BEGIN),
        Metric("a_total", {}, {"counter": 7}, BEGIN),
        Metric("a", {"b": "\u00e4\n"}, {"gauge": 2}, None),
    ]


def test_buckets_have_no_record() -> None:
    assert metrics(f'a_bucket{{le="0.5"}} 1 {AT}\na_bucket{{le="+Inf"}} 2 {AT}\n') == []


@pytest.mark.parametrize("line", ["a{b=c} 1", 'a{b="c" 1', "a{} ", "a 1 2 3", "a 1x", "1a 1", "a{,} 1", "a 1 x"])
def test_a_line_of_no_format_is_rejected(line: str) -> None:
    found = read(f"{line}\nmem used=1i 5\n".encode(), ANY)
    assert (found.bad, len(found.metrics)) == (1, 1)


@pytest.mark.parametrize("line", ['a{b="c d=1 7', 'weird{x f="} 1"', "m f=1 7"])
def test_line_protocol_stays_line_protocol(line: str) -> None:
    found = read(f"{line}\n".encode(), ANY)
    assert [set(metric.fields) & {"gauge", "counter"} for metric in found.metrics] in ([], [set()])


def test_the_types_and_units_of_a_block_count() -> None:
    found = metrics(block(
        "# HELP a about", "# TYPE a counter", "# UNIT a seconds", "a_total 7", "a_created 1",
        "# TYPE h histogram", 'h_bucket{le="1"} 1', "h_sum 2", "h_count 1",
        "# TYPE s summary", 's{quantile="0.5"} 3', "s_sum 4", "s_count 2",
        "# TYPE g gauge", "g_total 5", "", f"old 6 {AT - 1000}",
    ))  # fmt: skip
    assert [(one.name, one.tags, one.fields) for one in found] == [
        ("a_total", {"__unit__": "s"}, {"counter": 7}), ("h_sum", {}, {"counter": 2}), ("h_count", {}, {"counter": 1}),
        ("s", {"quantile": "0.5"}, {"gauge": 3}), ("s_sum", {}, {"counter": 4}), ("s_count", {}, {"counter": 2}),
        ("g_total", {}, {"gauge": 5}), ("old", {}, {"gauge": 6}),
    ]  # fmt: skip
    assert [one.time for one in found] == [BEGIN] * 7 + [BEGIN - SECOND]


@pytest.mark.parametrize("time", ["1713204180", "1713204180.0", "1713204180000", "2024-04-15T18:03:00Z"])
def test_the_time_of_a_block_has_any_precision(time: str) -> None:
    assert [one.time for one in metrics(block("a 1", time=time))] == [BEGIN]


def test_a_block_without_an_understood_time_is_rejected() -> None:
    found = read(block("a 1", time="soon").encode(), ANY)
    assert (found.metrics, found.bad) == ([], 1)
    assert "no time" in found.mistakes[0].reason


def test_an_invalid_line_of_a_block_costs_itself() -> None:
    text = block("a 1", "nonsense", "b 2").encode()
    found = read(text, ANY)
    assert [one.name for one in found.metrics] == ["a", "b"]
    (mistake,) = found.mistakes
    assert text[mistake.start + mistake.position :].startswith(b"nonsense")


def test_a_next_block_ends_one_without_an_end() -> None:
    text = "# timestamp 1713204180\na 1\n" + block("b 2", time="1713204181")
    assert [(one.name, one.time) for one in metrics(text)] == [("a", BEGIN), ("b", BEGIN + SECOND)]


def test_a_block_that_never_ends_is_bounded() -> None:
    comment = b"# HELP a " + b"x" * 1000 + b"\n"
    stored = b"# timestamp 1713204180\n" + comment * (MAX_LINE // len(comment) + 2) + b"mem used=1i 5\n"
    found, rejected = contents(Decoder().steps(stored, 0))
    assert [one.reason for one in rejected] == ["no line # EOF ends the exposition within 4,194,304 bytes"]
    assert [one.name for one in found] == ["mem"]


def test_a_block_of_very_many_samples_is_refused() -> None:
    found = read(block(*["a 1"] * 50_000, time="1713204180").encode() + b"mem used=1i 5\n", ANY)
    assert [one.name for one in found.metrics] == ["mem"]
    assert [one.reason for one in found.mistakes] == ["the exposition has more than 40,000 lines"]


@given(st.lists(st.integers(0, 200), max_size=5))
def test_blocks_are_the_same_wherever_a_blob_is_cut(cuts: list[int]) -> None:
    first, last = block("# TYPE a counter", "a 1", 'b{c="d"} 2'), block("e 3", time="1713204181")
    stored = f"{first}mem used=1i 5\n{last}".encode()
    found, rejected = contents(all_steps(stored, sorted(cut for cut in cuts if cut < len(stored))))
    assert not rejected
    assert [(one.name, one.time) for one in found] == [
        ("a", BEGIN), ("b", BEGIN), ("mem", 5 * SECOND), ("e", BEGIN + SECOND),
    ]  # fmt: skip


def test_well_known_exporters_have_the_series_of_other_agents() -> None:
    reader = intake()
    found = [reader.take(step) for step in Decoder().steps(NODE.encode(), 0)]
    rollups = merged(part for one in found for part in one.rollups.values())
    lines = {}
    for series, minutes in rollups.items():
        line = line_of(series, minutes)
        lines[line.name, *dict(line.attributes).values()] = (line.unit, sum(one.sum for _, one in line.points))
    disk = ("/dev/sda1", "/", "free", "ext4")
    assert lines == {
        ("system.cpu.time", "0", "idle"): ("s", 28),
        ("system.memory.linux.available",): ("By", 5.12e9),
        ("system.filesystem.usage", *disk): ("By", 7),
        ("system.paging.faults", "major"): ("{fault}", 60),
        ("hw.temperature", "pci0000:00", "temp1", "temperature"): ("Cel", 61),
        ("hw.gpu.utilization", "general", *GPU.values()): ("1", 0.5),
        ("hw.gpu.memory.usage", *GPU.values()): ("By", 2 * 2**20),
        ("batchscope.gpu.clock.frequency", "sm", *GPU.values()): ("Hz", 1_980_000_000),
        ("custom.training_loss", "a"): ("", 0.25),
    }


def test_samples_without_a_time_are_counted_with_advice() -> None:
    reader = intake()
    dropped = [reader.take(step).dropped for step in Decoder().steps(b"node_load1 0.3\nnode_load5 0.4\n", 0)]
    assert sum(one.without_time for one in dropped) == 2
    assert "Add time stamps" in why_undrawn("Prometheus text", dropped[0])
    assert "Add time stamps" not in why_undrawn("line protocol", dropped[0])


SPACES = " " * 60_000


@pytest.mark.parametrize(
    "line", [f"a{SPACES}", f"a{{{SPACES}", f'a{{b="c"{SPACES}x', f"a 1{SPACES}x", f"a{{{'a=,' * 20_000}"]
)
def test_a_hostile_line_takes_no_time(line: str) -> None:
    begun = time.process_time()
    assert read(f"{line}\n".encode(), ANY).bad == 1
    assert time.process_time() - begun < 0.5
