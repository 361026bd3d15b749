"""Units of a few lines, in each form."""

import gzip
import zlib
from collections.abc import Callable

import zstandard

from shared.domain.telemetry.records.metrics import Metric


def frame(text: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(text)


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": frame,
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "text": lambda text: text,
}


def line(number: int) -> bytes:
    return b"m,t=a f=%d %d\n" % (number, 1_713_204_200_000 + number)


def numbers(metrics: list[Metric]) -> list[float]:
    return [float(metric.fields["f"]) for metric in metrics]


def several(number: int) -> bytes:
    """Returns the lines of a unit."""
    return b"".join(line(20 * number + one) for one in range(20))
