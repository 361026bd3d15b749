"""Pages of in-memory lists: the entries of a page, the total, and orders by column.

An entry's position in an order changes only with the entry. Each page begins after the last position of the previous
page, so pages neither repeat nor miss an entry. Entries with an unknown value come last in both directions; equal
values are ordered by key.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from functions.http.positions import continuation_of, position_of
from shared.domain.core.keys import key_of

_DESCENDING = " desc"

type Value = int | str | None
type Position = tuple[bool, Any, str]
"""Whether the value is unknown; the value (0 or empty if unknown); the key."""


@dataclass(frozen=True, slots=True)
class ListSection[T]:
    """A page: `count` is the number of matches on all pages, `continuation` leads to the next (None on the last)."""

    shown: list[T]
    count: int
    continuation: str | None


def page_by_key[T](found: Sequence[T], key: Callable[[T], str], *, after: str, size: int) -> ListSection[T]:
    """Returns the page of entries whose keys follow `after`, in key order."""
    rest = [one for one in found if key(one) > after]
    shown = rest[:size]
    return ListSection(shown, len(found), key(shown[-1]) if len(rest) > len(shown) else None)


@dataclass(frozen=True, slots=True)
class Order[T]:
    """An order by one column: its name in `orderby`, and accessors for an entry's value and key.

    `kind` is the type of the values.
    """

    name: str
    kind: type[int | str]
    value: Callable[[T], Value]
    key: Callable[[T], str]

    def page(self, found: Sequence[T], *, continuation: str, size: int) -> ListSection[T]:
        """Returns a page of entries, which must be given in key order. Raises BadRequestError."""
        after = position_of(self.name, continuation, self.kind)
        ordered = sorted(found, key=self._known, reverse=self._descends)
        ordered.sort(key=lambda one: self.value(one) is None)
        rest = [one for one in ordered if after is None or self._is_after(self._position(one), after)]
        shown = rest[:size]
        more = continuation_of(self.name, self._position(shown[-1])) if len(rest) > len(shown) else None
        return ListSection(shown, len(found), more)

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
    """Returns whether an id is among the wanted ones, ignoring case as Batch does; always true if none are given."""
    return not wanted or key_of(found or "") in map(key_of, wanted)
