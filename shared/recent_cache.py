"""A cache of what was used in the last minutes, in bounded memory."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

_SECONDS = 900.0  # agents write every few seconds or minutes


class _Entry[V](NamedTuple):
    value: V
    size: int
    expires: float


class RecentCache[K, V]:
    """Values by key; those not put again within a quarter of an hour go, and the oldest where all exceed `most`.

    `most` has the unit of `size`. `clock` returns seconds that never go back.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._most = most
        self._clock = clock
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Returns a value; None if there is none, or it has expired."""
        entry = self._entries.get(key)
        return entry.value if entry and self._clock() < entry.expires else None

    def pop(self, key: K) -> V | None:
        """Returns and removes a value, as `get`."""
        value, entry = self.get(key), self._entries.pop(key, None)
        self.size -= entry.size if entry else 0
        return value

    def put(self, key: K, value: V, size: int = 1) -> None:
        """Adds or replaces a value, and removes what has expired."""
        self.pop(key)
        now = self._clock()
        self._entries[key] = _Entry(value, size, now + _SECONDS)
        self.size += size
        while self._entries and self._is_past(next(iter(self._entries.values())), now):
            _, oldest = self._entries.popitem(last=False)
            self.size -= oldest.size

    def _is_past(self, oldest: _Entry[V], now: float) -> bool:
        return oldest.expires <= now or self.size > self._most
