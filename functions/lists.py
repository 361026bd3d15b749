"""Pages of lists that are in memory: what a page shows, how many entries there are, and the order of columns.

Every entry has one position in an order, which changes only if the entry does: pages that each begin behind the last
position of the one before neither repeat nor miss an entry. Entries whose value isn't known come last in both
directions, equal values in the order of keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from functions.positions import continuation_of, position_of
from shared.domain.core.keys import key_of

_DESCENDING = " desc"

type Value = int | str | None
type Position = tuple[bool, Any, str]
"""Whether the value is unknown, the value (then 0 or empty), the key."""


@dataclass(frozen=True, slots=True)
class Cut[T]:
    """A page: `count` entries match on all pages; `continuation` is that of the next, None on the last."""

    shown: list[T]
    count: int
    continuation: str | None


def page_by_key[T](found: Sequence[T], key: Callable[[T], str], *, after: str, size: int) -> Cut[T]:
    """A page of entries in the order of their keys, behind one of these."""
    rest = [one for one in found if key(one) > after]
    shown = rest[:size]
    return Cut(shown, len(found), key(shown[-1]) if len(rest) > len(shown) else None)


@dataclass(frozen=True, slots=True)
class Order[T]:
    """An order by a column: its name as `orderby` has it, with its values and the keys of entries.

    `kind` is the type of values.
    """

    name: str
    kind: type[int | str]
    value: Callable[[T], Value]
    key: Callable[[T], str]

    def page(self, found: Sequence[T], *, continuation: str, size: int) -> Cut[T]:
        """A page of entries that come in the order of their keys. Raises BadRequestError."""
        after = position_of(self.name, continuation, self.kind)
        ordered = sorted(found, key=self._known, reverse=self._descends)
        ordered.sort(key=lambda one: self.value(one) is None)
        rest = [one for one in ordered if after is None or self._is_after(self._position(one), after)]
        shown = rest[:size]
        more = continuation_of(self.name, self._position(shown[-1])) if len(rest) > len(shown) else None
        return Cut(shown, len(found), more)

    @property
    def _descends(self) -> bool:
        return self.name.endswith(_DESCENDING)

    def _known(self, one: T) -> int | str:
        value = self.value(one)
        return self.kind() if value is None else value

    def _position(self, one: T) -> Position:
        return self.value(one) is None, self._known(one), self.key(one)

    def _is_after(self, one: Position, other: Position) -> bool:
        if one[0] != other[0]:
            return one[0]
        if one[1] == other[1]:
            return one[2] > other[2]
        return bool(one[1] < other[1] if self._descends else one[1] > other[1])


def is_among(wanted: Sequence[str], found: str | None) -> bool:
    """Whether an id is one of those that are asked for, without case as in Batch; any is where none are."""
    return not wanted or key_of(found or "") in map(key_of, wanted)
