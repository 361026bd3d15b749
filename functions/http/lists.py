"""Pages of in-memory lists: the entries of a page, the total, and orders by column.

An entry's position in an order changes only with the entry. Each page begins after the last position of the previous
page, so pages neither repeat nor miss an entry. Entries with an unknown value come last in both directions; equal
values are ordered by key. Clients must return the text of a position, `continuation`, unchanged.
"""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from functions.http.answers import Answer, UnreadableAnswer
from functions.http.handling import Page, RouteRequest
from functions.http.parameters import BadRequestError
from shared.domain.core.keys import key_of
from shared.domain.reports.reports import UnreadableRow

_DESCENDING = " desc"
_KEY = re.compile(r"[a-z0-9_\-=]+")

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


def listed[T, A: Answer](
    call: RouteRequest[Any, None],
    section: ListSection[T],
    answer: Callable[[T], A],
    unreadable: Iterable[UnreadableRow] = (),
) -> Page[A]:
    """Returns the page of a list as an answer, with the ids of rows that can't be read."""
    return Page(
        value=[answer(entry) for entry in section.shown],
        next_link=call.next_link(section.continuation),
        count=section.count,
        unreadable=[UnreadableAnswer(id=row.id, reason=row.why) for row in unreadable] or None,
    )


def continuation_of(order: str, position: tuple[bool, int | str, str]) -> str:
    """Returns the text of a position in the order that `orderby` names."""
    return urlsafe_b64encode(msgspec.json.encode((order, *position))).decode().rstrip("=")


def position_of[V: int | str](order: str, continuation: str, kind: type[V]) -> tuple[bool, V, str] | None:
    """Returns the position that a text encodes, None for an empty text; `kind` is the type of the order's values.

    Raises BadRequestError where the text isn't a position of this order.
    """
    if not continuation:
        return None
    try:
        raw = urlsafe_b64decode(continuation.encode() + b"=" * (-len(continuation) % 4))
        given, unknown, value, key = msgspec.json.decode(raw, type=tuple[str, bool, int | str, str])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise _refusal() from error
    if given != order or not isinstance(value, kind) or not _KEY.fullmatch(key):
        raise _refusal()
    return unknown, value, key


def _refusal() -> BadRequestError:
    return BadRequestError(
        "The query parameter 'continuation' is none that this list gave for this orderby; follow nextLink as it is.",
        target="continuation",
    )
