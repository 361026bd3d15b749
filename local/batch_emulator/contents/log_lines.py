"""Lines of a program's log, each computed from its number.

Two consecutive lines have the same size together, though not each, so the place of a line follows from its number.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property

from local.batch_emulator.core.stamps import SECOND, stamp

PAIR_SIZE = 256
_DIFFERENCES = 24  # the first of two lines is up to so many bytes shorter or longer than half a pair
_MASK = (1 << 64) - 1
_WARNINGS = 23

_COMPONENTS = ("main", "loader", "solver", "writer", "cache", "net")
_MESSAGES = {
    "ascii": (
        "read block %d of shard %d in %d ms",
        "step %d of %d, residual 0.%05d",
        "wrote %d rows to part %d, %d bytes",
        "cache holds %d of %d entries, %d evicted",
        "worker %d has %d items left after %d s",
        "checkpoint %d saved, %d MiB, rank %d",
    ),
    "latin-1": ("größe %d, höhe %d, länge %d mm", "señal %d, año %d, número %d", "français %d, élève %d, reçu %d"),
    "utf-8": ("größe %d, höhe %d, länge %d µm", "温度 %d 圧力 %d 時間 %d", "ファイル %d 行 %d 列 %d", "✓ %d → %d ≈ %d"),
}
_SLOW_MESSAGES = ("retry %d of request %d after %d ms", "queue is at %d of %d, waiting %d ms")
_FILLER = (
    b" | cpu 88 %, memory 43 %, disk 71 %, net 12 MB/s, swap 0 %, waits 3 ms, load 3.71, 214 processes, 1042 threads"
)
CHARSETS = tuple(_MESSAGES)


@dataclass(frozen=True)
class LogLines:
    """The lines from number `first` to `last` (exclusive) of a log.

    The log's line 0 is of the moment `begun`, in ticks, and the others follow `interval` ticks apart. The encoding is
    one of CHARSETS.
    """

    seed: str
    begun: int
    interval: float
    first: int
    last: int
    charset: str = "ascii"

    @cached_property
    def _key(self) -> int:
        return zlib.crc32(self.seed.encode()) << 32 | zlib.adler32(self.seed.encode())

    @property
    def size(self) -> int:
        return self._offset(self.last) - self._offset(self.first)

    def read(self, start: int, end: int) -> bytes:
        begin = self._offset(self.first)
        start, end = begin + start, min(begin + end, self._offset(self.last))
        first, last = self._line_at(start), self._line_at(max(start, end - 1)) + 1
        text = b"".join(map(self._line, range(first, min(last, self.last))))
        return text[start - self._offset(first) : end - self._offset(first)]

    def _offset(self, number: int) -> int:
        pairs, odd = divmod(number, 2)
        return pairs * PAIR_SIZE + (self._first_size(pairs) if odd else 0)

    def _line_at(self, offset: int) -> int:
        pair, rest = divmod(offset, PAIR_SIZE)
        return 2 * pair + (rest >= self._first_size(pair))

    def _first_size(self, pair: int) -> int:
        return PAIR_SIZE // 2 - _DIFFERENCES + self._chance(pair) % (2 * _DIFFERENCES)

    def _line(self, number: int) -> bytes:
        pair, odd = divmod(number, 2)
        size = PAIR_SIZE - self._first_size(pair) if odd else self._first_size(pair)
        text = self._text(number).encode("utf-8" if self.charset == "ascii" else self.charset)
        return text + _FILLER[: size - len(text) - 1] + b"\n"

    def _text(self, number: int) -> str:
        chance = self._chance(number + (1 << 32))
        messages, level = _MESSAGES[self.charset], "INFO"
        if chance % _WARNINGS == 0:
            messages, level = _SLOW_MESSAGES, "WARN"
        numbers = (chance >> 8 & 0xFFF, chance >> 20 & 0xFF, chance >> 28 & 0x3FF)
        component = _COMPONENTS[(chance >> 40) % len(_COMPONENTS)]
        message = messages[(chance >> 48) % len(messages)] % numbers
        return f"{_time(self.begun + round(number * self.interval))} {level} {component}: {message}"

    def _chance(self, number: int) -> int:
        """Returns 64 bits that follow from the seed and a number."""
        mixed = (self._key ^ number * 0x9E3779B97F4A7C15) & _MASK
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
        return mixed ^ mixed >> 31


def _time(moment: int) -> str:
    """Returns a moment with milliseconds."""
    seconds, fraction = divmod(moment, SECOND)
    return f"{stamp(seconds * SECOND)[:-1]}.{fraction * 1000 // SECOND:03}Z"
