"""A pool as the Batch service describes it, and what Batchscope knows of its nodes.

What the service tells of a resize belongs to the last attempt, and only while the pool is steady: an error that isn't
told any more is stale, and kept as such.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from shared.domain.jobs import Source
from shared.domain.keys import key_of
from shared.domain.nodes import NodeSummary
from shared.domain.vm_sizes import vcpus_of

MOST_STALE_ERRORS = 10


@dataclass(frozen=True, slots=True)
class Size:
    """How many nodes of a kind there are, and are to be; `target` is None where the service tells none."""

    current: int = 0
    target: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the service's words."""

    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class AutoScale:
    """A pool's autoscaling: the formula, how often it is evaluated (ISO 8601), and its last evaluation."""

    formula: str | None = None
    interval: str | None = None
    evaluated_at: datetime | None = None
    results: str | None = None
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class StartTask:
    """What nodes run before anything else, without secrets; `environment` is of names and values."""

    command_line: str
    environment: tuple[tuple[str, str], ...] = ()
    waits_for_success: bool = True
    retries: int = 0


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """A pool's own properties, named as in the Batch REST API; times are aware UTC.

    `spot` are low-priority nodes in that API's words; `resize_errors` are those of the last resize.
    """

    id: str
    creation_time: datetime
    state: str
    state_transition_time: datetime
    vm_size: str
    allocation_state: str | None = None
    allocation_state_transition_time: datetime | None = None
    dedicated: Size = Size()
    spot: Size = Size()
    slots_per_node: int = 1
    resize_errors: tuple[Problem, ...] = ()
    auto_scale: AutoScale | None = None
    start_task: StartTask | None = None
    display_name: str | None = None

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def nodes(self) -> int:
        """How many nodes the service says there are."""
        return self.dedicated.current + self.spot.current


@dataclass(frozen=True, slots=True)
class ResizeError:
    """An error of a resize; `ended_at` is when the attempt that it belongs to ended, by the service.

    `first_seen` and `last_seen` are dates of lists of pools; `last_seen` is None while it is current: told by the
    latest list.
    """

    code: str
    message: str
    ended_at: datetime | None
    first_seen: datetime
    last_seen: datetime | None = None

    @property
    def is_current(self) -> bool:
        return self.last_seen is None


@dataclass(frozen=True, slots=True)
class NodesPicture:
    """A pool's nodes in numbers as of T0: the date of a list of pools received before the nodes were listed.

    `full_read_at` is the T0 of the last list of all nodes with all that is known of them; `digest` names what is stored
    of each; `doubt` is why the numbers may not be those of one instant, None where nothing speaks against it.
    """

    as_of: datetime
    full_read_at: datetime
    source: Source
    summary: NodeSummary
    digest: str
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class PoolConfirmation:
    """A later round that found nothing changed: the pool of that `version` holds as of then, too."""

    version: str
    as_of: datetime
    full_read_at: datetime
    source: Source


@dataclass(frozen=True, slots=True)
class Cores:
    """vCPUs of all nodes of a pool, and those that running tasks have slots on, by the share of slots that is used."""

    total: int
    busy: float


@dataclass(frozen=True, slots=True)
class Pool:
    """What is stored of one pool; `seen_at` is the date of the list that told these facts first."""

    facts: PoolFacts
    seen_at: datetime
    errors: tuple[ResizeError, ...] = ()
    picture: NodesPicture | None = None
    etag: str | None = None

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def as_of(self) -> datetime:
        """As of when the facts are known to hold."""
        return max(self.seen_at, self.picture.as_of) if self.picture else self.seen_at

    @property
    def version(self) -> str:
        """What a confirmation names: it changes with whatever is told of the pool, but for as of when."""
        picture = self.picture
        nodes = (picture.digest, picture.summary, picture.doubt) if picture else None
        return blake2b(repr((self.facts, self.errors, nodes)).encode(), digest_size=8).hexdigest()

    @property
    def cores(self) -> Cores | None:
        """None where the VM size isn't known, or the nodes aren't."""
        vcpus = vcpus_of(self.facts.vm_size)
        if vcpus is None or self.picture is None:
            return None
        summary = self.picture.summary
        busy = vcpus * summary.used / self.facts.slots_per_node
        return Cores(vcpus * summary.total, round(busy, 3))

    def seen(self, facts: PoolFacts, at: datetime) -> "Pool":
        """After the list of pools dated `at` showed it. Another creation time is another pool under the same id."""
        if facts.creation_time != self.facts.creation_time:
            return replace(first_seen(facts, at), etag=self.etag)
        if facts == self.facts:
            return self
        return replace(self, facts=facts, seen_at=at, errors=_errors_after(self.errors, facts, at, self.as_of))

    def listed(self, picture: NodesPicture) -> "Pool":
        """After its nodes were read."""
        return replace(self, picture=picture)

    def confirmed(self, confirmation: PoolConfirmation | None) -> "Pool":
        """As a later round found it, if that round spoke of what this is."""
        picture = self.picture
        if picture is None or confirmation is None or confirmation.version != self.version:
            return self
        if confirmation.as_of < picture.as_of:
            return self
        moved = replace(
            picture,
            as_of=confirmation.as_of,
            full_read_at=max(picture.full_read_at, confirmation.full_read_at),
            source=confirmation.source,
        )
        return replace(self, picture=moved)

    def confirmation(self) -> PoolConfirmation | None:
        """What the round's row is to say of a pool that is stored as it is."""
        picture = self.picture
        if picture is None:
            return None
        return PoolConfirmation(self.version, picture.as_of, picture.full_read_at, picture.source)

    def wants_all_nodes(self, now: datetime, interval: timedelta) -> bool:
        """True where a list of what changed wouldn't do: tasks run, all were never listed, or long ago."""
        picture = self.picture
        return picture is None or picture.summary.is_busy or now - picture.full_read_at >= interval


def first_seen(facts: PoolFacts, at: datetime) -> Pool:
    """A pool that the list dated `at` showed for the first time."""
    return Pool(facts, at, _errors_after((), facts, at, at))


def _errors_after(
    before: tuple[ResizeError, ...], facts: PoolFacts, at: datetime, last_looked: datetime
) -> tuple[ResizeError, ...]:
    """Errors after a list of pools: what it doesn't tell, or tells of another attempt, is stale from then on."""
    ended = facts.allocation_state_transition_time
    told = {(problem.code, problem.message): problem for problem in facts.resize_errors}
    same = {(e.code, e.message): e for e in before if e.is_current and e.ended_at == ended}
    current = [
        same.get(name) or ResizeError(problem.code, problem.message, ended, first_seen=at)
        for name, problem in told.items()
    ]
    stale = [
        replace(error, last_seen=last_looked) if error.is_current else error for error in before if error not in current
    ]
    stale.sort(key=lambda error: error.last_seen or at, reverse=True)
    return (*current, *stale[:MOST_STALE_ERRORS])
