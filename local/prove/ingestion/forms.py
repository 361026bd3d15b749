"""How samples are written: the forms of agents, and units of each that can't be read.

A unit is what a reader takes in as a whole: a frame, a member, a stream, or a line.
"""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Sequence

import zstandard

from local.prove.ingestion.samples import SECOND, Sample

type Packed = tuple[bytes, Sequence[Sample]]
type Form = Callable[[Sequence[Sample]], list[Packed]]


def tes(samples: Sequence[Sample]) -> list[Packed]:
    """A zstd frame, as nodes of TES flush them: a checksum, and no size told."""
    packer = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    return [(packer.compress(_batch(samples)), samples)]


def gzipped(samples: Sequence[Sample]) -> list[Packed]:
    return [(gzip.compress(_batch(samples), mtime=0), samples)]


def deflated(samples: Sequence[Sample]) -> list[Packed]:
    """A zlib stream."""
    return [(zlib.compress(_batch(samples)), samples)]


_CHECKSUMS: dict[Form, int] = {tes: 1, gzipped: 8, deflated: 1}
"""A byte of them, from the end."""
_CUT = 0.5


def batches(samples: Sequence[Sample]) -> list[Packed]:
    """Telegraf's JSON, a batch to a line."""
    return [(_batch(samples), samples)]


def records(samples: Sequence[Sample]) -> list[Packed]:
    """Telegraf's JSON, a record to a line, with times in seconds as it has them unless told otherwise."""
    return [(_line(_record(one, SECOND)), [one]) for one in samples]


def influx(samples: Sequence[Sample]) -> list[Packed]:
    """Line protocol in nanoseconds."""
    return [(_written(one), [one]) for one in samples]


def damaged(form: Form, unit: bytes, chance: random.Random) -> bytes:
    """A unit of a form that can't be read, and after which the next one of that form can."""
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
    """A text in quotes may have ends of lines."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value}i" if isinstance(value, int) else repr(value)
