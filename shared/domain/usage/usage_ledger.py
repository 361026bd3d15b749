"""A pool's usage ledger: node seconds by hour, billing class, kind of node and VM size.

It holds only what has ended: a node adds to it when its state ends. What lasts follows from the stored nodes. It is
written in the transaction that writes these, so each change counts once, however often a poll is repeated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from typing import NamedTuple

from shared.domain.nodes.nodes import Node
from shared.domain.usage.billing_classes import BillingClass, class_of
from shared.domain.usage.last_nodes import Deletion, LastNodes, last_nodes
from shared.domain.usage.node_spans import ListGap, Removal, UsageSpan, ended_spans, gone_spans

KEPT = timedelta(days=4)
HOUR = 3_600_000  # milliseconds
_DAY = 24 * HOUR
_KEPT_DAYS = KEPT // timedelta(days=1)


class UsageKind(NamedTuple):
    """What is counted apart within an hour; `vm_size` is empty where unknown."""

    billing_class: BillingClass
    dedicated: bool
    vm_size: str


class DeletedPool(NamedTuple):
    """What determines the prices of a pool that is deleted: see `PoolDay` in the package `cost`."""

    id: str
    slots_per_node: int
    os: str | None
    license: str | None


type UsageAmounts = Mapping[UsageKind, int]
"""Milliseconds of nodes."""
type UsageHours = Mapping[int, UsageAmounts]
"""Amounts by hours since 1970 (UTC). An hour in which nothing changes stays the same object."""
type _Ended = tuple[Node, Sequence[UsageSpan]]


@dataclass(frozen=True, slots=True)
class UsageLedger:
    """What has ended of a pool's nodes `since` a time, as of the list that last ended anything; ms since 1970.

    `starts` are those of present states, by node, that differ from the node's own stamps. `pool` is None while the
    pool has a row of its own. `last` are the nodes that it had when it was deleted, None where `hours` have all.
    """

    since: int
    as_of: int
    hours: UsageHours = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    pool: DeletedPool | None = None
    last: LastNodes | None = None

    @property
    def has_time(self) -> bool:
        """Whether it has any time of nodes that aren't there any more."""
        return bool(self.hours or self.last)

    def after(
        self, before: Mapping[str, Node], nodes: Mapping[str, Node], gap: ListGap, removal: Removal
    ) -> "UsageLedger":
        """Returns the ledger after a list showed `nodes`, or itself where no state ended."""
        change = _LedgerChange(self, gap)
        for key in before.keys() - nodes.keys():
            change.remove(key, before[key], removal)
        for key, node in nodes.items():
            if (old := before.get(key)) is not node:
                change.follow(key, old, node, removal)
        return change.result()

    def ended(
        self, nodes: Mapping[str, Node], gap: ListGap, removal: Removal, pool: DeletedPool | None
    ) -> "UsageLedger":
        """Returns the ledger of a deleted pool, which had these nodes in its last list."""
        if not nodes:
            return replace(self, pool=pool)
        change = _LedgerChange(replace(self, hours=_with_spans(self.hours, self.of_last()), last=None), gap)
        for key, node in nodes.items():
            change.end(key, node)
        as_of, last = max(self.as_of, gap.at), last_nodes(nodes, gap, removal)
        return replace(change.result(), as_of=as_of, pool=pool, last=last)

    def dated(self, deletions: Iterable[Deletion]) -> "UsageLedger":
        """Returns the ledger with the time at which its pool was deleted, or itself where these don't say more."""
        last = self.last.ended_by(deletions) if self.last else None
        return self if last == self.last else replace(self, last=last)

    def start_of(self, key: str, node: Node) -> int:
        """Returns since when a node's present state counts, in milliseconds since 1970."""
        return max(self.since, self.starts.get(key, node.transition or node.allocated))

    def total(self, nodes: Mapping[str, Node], as_of: int) -> UsageHours:
        """Returns ended and lasting time up to `as_of`, the time as of which these nodes are stored."""
        lasting = (
            (node, (UsageSpan(self.start_of(key, node), as_of, class_of(node.state)),)) for key, node in nodes.items()
        )
        return _with_spans(self.hours, chain(lasting, self.of_last()))

    def known_since(self, now: int) -> int:
        """Returns from when on it is complete, as of `now`; older hours are dropped with the next change."""
        return max(self.since, first_kept(now))

    def is_over(self, now: int) -> bool:
        """Returns whether all of it is older than the ledger keeps."""
        return self.as_of < first_kept(now)

    def of_last(self) -> Iterable[_Ended]:
        """Returns the time of the nodes that a deleted pool had, since their last list."""
        return self.last.spans() if self.last else ()


class _LedgerChange:
    """A ledger's change by one list of nodes."""

    def __init__(self, ledger: UsageLedger, gap: ListGap) -> None:
        self._ledger = ledger
        self._gap = gap
        self._ended: list[_Ended] = []
        self._starts = dict(ledger.starts)

    def follow(self, key: str, old: Node | None, node: Node, removal: Removal) -> None:
        """Adds what ended of a listed node; one with another allocation time is another node."""
        if old and 0 not in {old.allocated, node.allocated} and old.allocated != node.allocated:
            self.remove(key, old, removal._replace(before=min(removal.before, node.allocated)))
            old = None
        if old and (old.state, old.transition) == (node.state, node.transition):
            return
        start = self._ledger.start_of(key, old) if old else self._first_start(node)
        spans = ended_spans(old, node, start, self._gap)
        self._ended.append((node, spans))
        begin = spans[-1].end if spans else start
        self._starts.pop(key, None)
        if begin != max(self._ledger.since, node.transition or node.allocated):
            self._starts[key] = begin

    def remove(self, key: str, old: Node, removal: Removal) -> None:
        """Adds what ended of a node that is gone."""
        self._ended.append((old, gone_spans(old, self._ledger.start_of(key, old), self._gap, removal)))
        self._starts.pop(key, None)

    def end(self, key: str, old: Node) -> None:
        """Adds the time up to the last list of a node whose pool is deleted."""
        start, seen = self._ledger.start_of(key, old), self._gap.known_as_of
        if start < seen:
            self._ended.append((old, (UsageSpan(start, seen, class_of(old.state)),)))
        self._starts.pop(key, None)

    def result(self) -> UsageLedger:
        """Returns the ledger after the change, without the hours that are too old by now."""
        ended = any(spans for _, spans in self._ended)
        if not ended and self._starts == self._ledger.starts:
            return self._ledger
        since = max(self._ledger.since, first_kept(self._gap.at))
        hours = _with_spans(self._ledger.hours, chain(self._ledger.of_last(), self._ended))
        if since > self._ledger.since:
            hours = {hour: amounts for hour, amounts in hours.items() if hour >= since // HOUR}
        as_of = max(self._ledger.as_of, self._gap.at)
        return UsageLedger(since, as_of, hours, self._starts)

    def _first_start(self, node: Node) -> int:
        """Returns since when a new node counts: a node that an earlier list lacked counts only from that list on."""
        return max(node.allocated or node.transition or self._gap.at, self._gap.known_as_of, self._ledger.since)


def _with_spans(hours: UsageHours, ended: Iterable[_Ended]) -> dict[int, UsageAmounts]:
    """Returns hours with the spans of nodes added."""
    changed: dict[int, dict[UsageKind, int]] = {}
    for node, spans in ended:
        for span in spans:
            kind = UsageKind(span.billing_class, node.dedicated, node.vm_size)
            for hour, length in _by_hour(span):
                if (amounts := changed.get(hour)) is None:
                    amounts = changed[hour] = dict(hours.get(hour, {}))
                amounts[kind] = amounts.get(kind, 0) + length
    return {**hours, **changed}


def _by_hour(span: UsageSpan) -> Iterator[tuple[int, int]]:
    """Yields the parts of a span in each hour."""
    start = span.start
    while start < span.end:
        end = min(span.end, (start // HOUR + 1) * HOUR)
        yield start // HOUR, end - start
        start = end


def first_kept(now: int) -> int:
    """Returns the midnight (UTC) before which nothing is kept."""
    return (now // _DAY - _KEPT_DAYS) * _DAY
