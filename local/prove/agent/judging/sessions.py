"""The units of each session: every one is stored exactly once or counted as dropped. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from local.prove.agent.judging.members import DamageError, Member, blob_name, integers_of, measurement_of, members_of

_AGENT = "batchscope_agent"
_MAX_LISTED = 5  # numbers of units in a sentence


@dataclass(frozen=True, slots=True)
class SpooledUnit:
    """A unit that lay in a spool; `content` is None where it went before it could be read."""

    session: str
    number: int
    records: int
    content: bytes | None


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A blob at the end, or at the moment when its container was deleted: then it belongs to an earlier `life`."""

    path: str
    content: bytes
    is_sealed: bool
    life: int = 0


@dataclass(slots=True)
class SessionUnits:
    """A session of an agent: its units by number, as they lay in the spool and as they are stored."""

    name: str
    spooled: dict[int, SpooledUnit] = field(default_factory=dict)
    stored: dict[int, Member] = field(default_factory=dict)
    again: int = 0
    """Units that are stored again after their container was deleted."""
    dropped: tuple[int, int] = (0, 0)
    """Units and records that the agent counts as dropped."""
    wrong: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[int]:
        last = max([*self.spooled, *self.stored], default=-1)
        return [number for number in range(last + 1) if number not in self.stored]

    def known(self) -> dict[int, tuple[str, ...]]:
        """Returns the lines of each unit whose content was seen, by number."""
        found = {number: member.lines for number, member in self.stored.items()}
        for number, unit in self.spooled.items():
            if number not in found and unit.content is not None:
                found[number] = tuple(line for member in members_of(unit.content) for line in member.lines)
        return dict(sorted(found.items()))


def sessions_of(spooled: Iterable[SpooledUnit], blobs: Iterable[StoredBlob]) -> dict[str, SessionUnits]:
    """Returns the sessions of a node by name, each judged."""
    found: dict[str, SessionUnits] = {}
    for unit in spooled:
        found.setdefault(unit.session, SessionUnits(unit.session)).spooled[unit.number] = unit
    last: dict[tuple[int, str], int] = {}
    named = [(name, blob) for blob in blobs if (name := blob_name(blob.path))]
    for name, blob in sorted(named, key=lambda pair: (pair[1].life, pair[0].session, pair[0].number)):
        session = found.setdefault(name.session, SessionUnits(name.session))
        _read(session, blob, last)
    for session in found.values():
        _judge(session)
    return dict(sorted(found.items()))


def _read(session: SessionUnits, blob: StoredBlob, last: dict[tuple[int, str], int]) -> None:
    """Adds a blob's units; `last` has the number of the last unit by life and session."""
    label = blob.path.rpartition("/")[2]
    try:
        members = list(members_of(blob.content))
    except DamageError as error:
        session.wrong.append(f"{label}: {error}")
        return
    opening = members[0] if members else None
    if opening and not (opening.name == f"{session.name}.opening" and "contract=1i" in opening.lines[0]):
        session.wrong.append(f"{label} doesn't begin with its opening")
    for member in members[1:]:
        number, before = member.number, last.get((blob.life, session.name), -1)
        if number is None or member.session != session.name:
            session.wrong.append(f"{label} holds a foreign member {member.name}")
        elif number <= before:
            session.wrong.append(f"{label}: unit {number} is stored behind unit {before}")
        else:
            last[blob.life, session.name] = number
            session.again += number in session.stored
            session.stored[number] = member


def _judge(session: SessionUnits) -> None:
    for number, member in session.stored.items():
        unit = session.spooled.get(number)
        if unit and unit.content not in (None, member.content):
            session.wrong.append(f"{session.name}: unit {number} is stored with other bytes than it was spooled")
        if unit and unit.records != len(member.lines):
            session.wrong.append(f"{session.name}: unit {number} has {len(member.lines)} records, not {unit.records}")
    session.dropped = _counted(session.stored)
    _judge_missing(session)
    _judge_flushed(session)


def _counted(stored: Mapping[int, Member]) -> tuple[int, int]:
    """Returns the highest counts of dropped units and records in the agent's own records."""
    counts = (integers_of(member.lines[-1]) for member in stored.values() if _is_own(member.lines))
    return max(((found["dropped_units"], found["dropped_records"]) for found in counts), default=(0, 0))


def _is_own(lines: tuple[str, ...]) -> bool:
    return bool(lines) and measurement_of(lines[-1]) == _AGENT and "dropped_units=" in lines[-1]


def _judge_missing(session: SessionUnits) -> None:
    missing, (units, records) = session.missing, session.dropped
    if len(missing) != units:
        listed = ", ".join(map(str, missing[:_MAX_LISTED])) or "none"
        session.wrong.append(
            f"{session.name}: {len(missing)} units are missing ({listed}), {units} are counted as dropped"
        )
    seen = [session.spooled[number].records for number in missing if number in session.spooled]
    if len(seen) == len(missing) == units and sum(seen) != records:
        session.wrong.append(f"{session.name}: {sum(seen)} records are missing, {records} are counted as dropped")


def _judge_flushed(session: SessionUnits) -> None:
    """The agent's count of records that it flushed before must be that of the units before, stored or dropped."""
    flushed: int | None = 0
    known = session.known()
    for number in range(max([*session.spooled, *session.stored], default=-1) + 1):
        lines = known.get(number)
        if lines is None:
            flushed = None
            continue
        claimed = integers_of(lines[-1]).get("flushed_records") if lines else None
        if claimed is None:
            continue
        if flushed is not None and claimed != flushed:
            session.wrong.append(
                f"{session.name}: before unit {number} {claimed} records were flushed, {flushed} are in units"
            )
        flushed = claimed + len(lines)
