"""Telemetry formats of agents, with unreadable units of each.

A unit is read as a whole: a frame, a member, a stream, or a line.
"""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Sequence

import zstandard

from local.prove.ingest.samples import SECOND, Sample

type Packed = tuple[bytes, Sequence[Sample]]
type Form = Callable[[Sequence[Sample]], list[Packed]]


def tes(samples: Sequence[Sample]) -> list[Packed]:
    """Returns a zstd frame, as TES nodes flush it: with checksum, without content size."""
    packer = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    return [(packer.compress(_batch(samples)), samples)]


def gzipped(samples: Sequence[Sample]) -> list[Packed]:
    return [(gzip.compress(_batch(samples), mtime=0), samples)]


def deflated(samples: Sequence[Sample]) -> list[Packed]:
    """Returns a zlib stream."""
    return [(zlib.compress(_batch(samples)), samples)]


_CHECKSUMS: dict[Form, int] = {tes: 1, gzipped: 8, deflated: 1}
"""The position of a checksum byte, from the end."""
_CUT = 0.5


def batches(samples: Sequence[Sample]) -> list[Packed]:
    """Returns Telegraf's JSON, one batch per line."""
    return [(_batch(samples), samples)]


def records(samples: Sequence[Sample]) -> list[Packed]:
    """Returns Telegraf's JSON, one record per line, with its default times in seconds."""
    return [(_line(_record(one, SECOND)), [one]) for one in samples]


def influx(samples: Sequence[Sample]) -> list[Packed]:
    """Returns line protocol with nanoseconds."""
    return [(_written(one), [one]) for one in samples]


def damaged(form: Form, unit: bytes, chance: random.Random) -> bytes:
    """Returns an unreadable unit of a format, after which the next one is readable."""
    if form in _CHECKSUMS:
        if chance.random() < _CUT:
            return unit[: chance.randrange(1, len(unit))]
        at = len(unit) - _CHECKSUMS[form]
        return unit[:at] + bytes([unit[at] ^ 1]) + unit[at + 1 :]
    return b"cpu,cpu=cpu0 usage_user=\n" if form is influx else b'{"metrics":[{"name":7\n'


def _batch(samples: Sequence[Sample]) -> bytes:
    return _line({"metrics": [_record(one, 1_000_000) for one in samples]})


def _record(sample: Sample, unit: int) -> dict[str, object]:
    return {"fields": sample.fields, "name": sample.name, "tags": sample.tags, "timestamp": sample.at // unit}


def _line(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def _written(sample: Sample) -> bytes:
    tags = "".join(f",{name}={value}" for name, value in sample.tags.items())
    fields = ",".join(f"{name}={_value(value)}" for name, value in sample.fields.items())
    return f"{sample.name}{tags} {fields} {sample.at}\n".encode()


def _value(value: float | str) -> str:
    """Returns a field value; a quoted text may contain line ends."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value}i" if isinstance(value, int) else repr(value)
