"""Shares that pools have of nodes whose agents write sizes, or shares of something else, instead."""

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.pools.node_metrics import HIGHEST
from shared.domain.telemetry.pools.node_minutes import minutes_of
from shared.domain.telemetry.pools.node_shares import FILE_SYSTEM_IN_USE, MEMORY_IN_USE
from tests.domain.telemetry.decode.otlp_messages import as_json, message, number
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, rollups
from tests.domain.telemetry.support.reading import contents

MINUTE = BEGIN // (60 * SECOND)
FULLEST = Series("system.filesystem.utilization", (HIGHEST, ("system.filesystem.state", "used")))


def by_state(name: str, states: dict[str, int], **device: str) -> Metric:
    points = [number(size, BEGIN, state=state, **device) for state, size in states.items()]
    return Metric(name=name, unit="By", gauge=Gauge(data_points=points))


def otlp(*metrics: Metric) -> bytes:
    return as_json(message(*metrics))


def exposition(*lines: str) -> bytes:
    return "\n".join((f"# timestamp {BEGIN // SECOND}", *lines, "# EOF", "")).encode()


def lines(*some: str) -> bytes:
    return "".join(f"{line} {BEGIN}\n" for line in some).encode()


def shares(*texts: bytes) -> dict[Series, float]:
    """Returns the shares of a node's minute that several steps wrote."""
    one, *others = (minutes_of(rollups(*contents(Decoder().steps(text, 0))[0]))[MINUTE] for text in texts)
    for other in others:
        one = one.merged(other)
    wanted = (MEMORY_IN_USE, FILE_SYSTEM_IN_USE, FULLEST)
    return {metric: total / count for metric, total, count in one.metrics if metric in wanted}


LINUX = {"used": 30, "free": 20, "buffered": 10, "cached": 40, "slab_reclaimable": 15, "slab_unreclaimable": 5}


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (otlp(by_state("system.memory.usage", LINUX)), 0.3),
        (otlp(by_state("system.memory.usage", {"used": 30, "free": 90})), 0.25),
        (otlp(by_state("system.memory.usage", {"used": 30, "free": 1}),
              Metric(name="system.memory.limit", gauge=Gauge(data_points=[number(60, BEGIN)]))), 0.5),
        (exposition("node_memory_MemTotal_bytes 400", "node_memory_MemAvailable_bytes 100",
                    "node_memory_MemFree_bytes 50", "node_memory_Cached_bytes 20"), 0.75),
        (lines(*(f"memory,type=memory,type_instance={state} value={size}" for state, size in
                 (("used", 20), ("free", 30), ("cached", 15), ("buffered", 5), ("slab_recl", 25), ("slab_unrecl", 5)))),
         0.2),
        (lines("mem used_percent=60,used=1,free=1,total=9,available=2"), 0.6),
    ],
    ids=["Collector, Linux", "Collector, Windows", "Collector with the limit", "node_exporter", "collectd", "Telegraf"],
)  # fmt: skip
def test_memory_in_use_follows_from_what_the_agent_writes(text: bytes, share: float) -> None:
    assert shares(text) == {MEMORY_IN_USE: pytest.approx(share)}


ROOT = {"device": "/dev/sda1", "mountpoint": "/", "type": "ext4", "mode": "rw"}
SCRATCH = {"device": "/dev/nvme0n1p1", "mountpoint": "/mnt", "type": "xfs", "mode": "rw"}
DISC = {"device": "/dev/sr0", "mountpoint": "/media", "type": "udf", "mode": "ro"}
RUN = {"device": "tmpfs", "mountpoint": "/run", "type": "tmpfs", "mode": "rw"}


def exported(device: dict[str, str], size: int, free: int) -> tuple[str, str]:
    of = f'device="{device["device"]}",fstype="{device["type"]}",mountpoint="{device["mountpoint"]}"'
    return f"node_filesystem_size_bytes{{{of}}} {size}", f"node_filesystem_avail_bytes{{{of}}} {free}"


@pytest.mark.parametrize(
    "text",
    [
        otlp(*(by_state("system.filesystem.usage", {"used": used, "free": free, "reserved": 7}, **device)
               for device, used, free in ((ROOT, 20, 80), (SCRATCH, 9, 1), (DISC, 5, 0), (RUN, 1, 0)))),
        exposition(*(line for device, size, free in ((ROOT, 100, 80), (SCRATCH, 30, 3), (DISC, 5, 0), (RUN, 1, 0))
                     for line in exported(device, size, free))),
        lines("win_disk,instance=C: Percent_Free_Space=80,Free_Megabytes=5",
              "win_disk,instance=D: Percent_Free_Space=10,Free_Megabytes=1",
              "win_disk,instance=_Total Percent_Free_Space=50"),
        lines(*(f"df,type=df_complex,instance={name},type_instance={state} value={size}"
                for name, used, free in (("root", 20, 80), ("mnt", 9, 1))
                for state, size in (("used", used), ("free", free), ("reserved", 3)))),
        lines("disk,device=sda1,path=/ used_percent=20,used=1,free=1,total=9",
              "disk,device=nvme0n1,path=/mnt used_percent=90,used=1,free=1,total=9"),
    ],
    ids=["Collector", "node_exporter", "Telegraf on Windows", "collectd", "Telegraf"],
)  # fmt: skip
def test_file_systems_in_use_follow_from_what_the_agent_writes(text: bytes) -> None:
    assert shares(text) == {FILE_SYSTEM_IN_USE: pytest.approx(0.55), FULLEST: pytest.approx(0.9)}


@pytest.mark.parametrize(
    "text",
    [
        otlp(by_state("system.memory.usage", {"used": 30})),
        otlp(by_state("system.memory.usage", {"free": 30, "cached": 20})),
        lines("win_mem Available_Bytes=5"),
        otlp(by_state("system.filesystem.usage", {"used": 30}, **ROOT)),
        exposition(exported(ROOT, 0, 0)[1], *exported(SCRATCH, 0, 0)),
    ],
)
def test_a_share_is_unknown_where_its_whole_is(text: bytes) -> None:
    assert shares(text) == {}


def test_sizes_that_two_steps_of_a_minute_write_make_one_share() -> None:
    parts = [
        otlp(by_state("system.memory.usage", states), by_state("system.filesystem.usage", states, **ROOT))
        for states in ({"used": 30}, {"free": 90})
    ]
    assert shares(*parts) == dict.fromkeys((MEMORY_IN_USE, FILE_SYSTEM_IN_USE, FULLEST), pytest.approx(0.25))
