"""Small telemetry blobs in every format, resource logs, and hostile blobs. Pure: content from a seed, no storage."""

import gzip
import json
import random
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta

import zstandard

from local.prove.ingest import forms
from local.prove.ingest.forms import Form
from local.prove.ingest.samples import Agent, Sample

_FORMS: tuple[Form, ...] = (forms.tes, forms.gzipped, forms.deflated, forms.batches, forms.records, forms.influx)
_INTERVALS = (1, 12)
_EVENT_KINDS = ("TaskStartEvent", "TaskCompleteEvent", "TaskFailEvent")
_RESOURCE = "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO"
_MB = 1 << 20

type Hostile = Callable[[random.Random], bytes]


def small_telemetry(chance: random.Random, at: datetime) -> bytes:
    """Returns up to a minute of samples of a node, or of a task on it, with an unknown measurement."""
    form = chance.choice(_FORMS)
    agent = Agent(chance, int(at.timestamp()) * 1_000_000_000, whole_seconds=form is forms.records)
    tags = {"job_id": f"job-{chance.randrange(50)}", "task_id": f"task-{chance.randrange(500)}"}
    batch_tags = tags if chance.getrandbits(1) else {}
    samples = [one for _ in range(chance.randint(*_INTERVALS)) for one in agent.interval(batch_tags)]
    unknown = {f"field_{chance.randrange(200)}": 7.0}
    samples.append(
        Sample(f"custom_{chance.randrange(5_000)}", {**batch_tags, "rack": str(at.minute)}, unknown, samples[0].at)
    )
    return b"".join(packed for packed, _ in form(samples))


def resource_log(chance: random.Random, at: datetime) -> bytes:
    """Returns some events of the minute."""
    return b"".join(_event(chance, at + timedelta(seconds=chance.uniform(0, 59))) for _ in range(chance.randint(1, 40)))


def hostile(turn: int, chance: random.Random) -> bytes:
    """Returns hostile content in turn: compression bombs, garbage, and excessive names, lines and nesting."""
    return HOSTILE[turn % len(HOSTILE)](chance)


def _event(chance: random.Random, at: datetime) -> bytes:
    properties = {
        "jobId": f"logged-{chance.randrange(20)}",
        "id": f"task-{chance.randrange(1 << 40)}",
        "taskType": "User",
        "nodeInfo": {"poolId": "soaked", "nodeId": f"node-{chance.randrange(50)}"},
        "executionInfo": {"retryCount": 0, "exitCode": chance.randrange(3)},
    }
    line = {
        "time": f"{at:%Y-%m-%dT%H:%M:%S.%f}0Z",
        "resourceId": _RESOURCE,
        "operationName": chance.choice(_EVENT_KINDS),
    }
    return json.dumps({**line, "properties": properties}).encode() + b"\n"


def _gzip_bomb(_: random.Random) -> bytes:
    return gzip.compress(bytes(64 * _MB), mtime=0)


def _zlib_bomb(_: random.Random) -> bytes:
    return zlib.compress(b"cpu " * (16 * _MB))


def _zstd_bomb(_: random.Random) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(bytes(256 * _MB))


def _cut_frame(chance: random.Random) -> bytes:
    return zstandard.ZstdCompressor().compress(chance.randbytes(_MB))[: _MB // 2]


def _garbage(chance: random.Random) -> bytes:
    return chance.randbytes(chance.randrange(_MB))


def _endless_name(chance: random.Random) -> bytes:
    return b'{"metrics":[{"name":"' + b"n" * chance.randrange(_MB) + b'","fields":{"a":1},"tags":{},"timestamp":1}]}\n'


def _endless_line(_: random.Random) -> bytes:
    return b"cpu,host=a usage_user=" + b"9" * (3 * _MB)


def _many_tags(chance: random.Random) -> bytes:
    tags = ",".join(f"tag{chance.randrange(1 << 30)}={number}" for number in range(5_000))
    return f"cpu,{tags} usage_user=1 1\n".encode() * 3


def _many_names(chance: random.Random) -> bytes:
    return b"".join(b"m%d,t%d=%d f%d=1\n" % (chance.randrange(1 << 40), *(number,) * 3) for number in range(20_000))


def _deep(_: random.Random) -> bytes:
    return b'{"metrics":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


HOSTILE: tuple[Hostile, ...] = (
    _gzip_bomb, _zlib_bomb, _zstd_bomb, _cut_frame, _garbage,
    _endless_name, _endless_line, _many_tags, _many_names, _deep,
)  # fmt: skip
