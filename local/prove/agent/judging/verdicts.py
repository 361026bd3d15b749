"""Judges a node by its spooled units, its stored blobs, and its processes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from local.prove.agent.judging.lives import SECOND, ProcessLife
from local.prove.agent.judging.losses import Bounds, judge_losses
from local.prove.agent.judging.sessions import SessionUnits, SpooledUnit, StoredBlob, sessions_of

_REBOOT = "batchscope_event,kind=reboot "
_SURE = 6.0  # seconds of life in which an agent has sent its first records


@dataclass(frozen=True, slots=True)
class NodeEvidence:
    """The evidence of a node. `left` are sessions that are in its spool at the end.

    `unsealed` are paths of blobs whose sealing failed by a fault. `boots` counts the starts of its machine.
    """

    name: str
    spooled: Sequence[SpooledUnit]
    blobs: Sequence[StoredBlob]
    lives: Sequence[ProcessLife]
    boots: int = 1
    left: Sequence[str] = ()
    unsealed: frozenset[str] = frozenset()


@dataclass(slots=True)
class NodeVerdict:
    """Figures and faults of a node."""

    units: int = 0
    records: int = 0
    samples: int = 0
    fed: int = 0
    dropped_units: int = 0
    dropped_records: int = 0
    again: int = 0
    sessions: int = 0
    blobs: int = 0
    rolled: int = 0
    sealed: int = 0
    reboots: int = 0
    losses: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def judge_node(evidence: NodeEvidence, bounds: Bounds, stalls: Sequence[tuple[int, int]] = ()) -> NodeVerdict:
    sessions = sessions_of(evidence.spooled, evidence.blobs)
    losses = judge_losses(evidence.lives, sessions.values(), bounds, stalls)
    verdict = NodeVerdict(samples=losses.samples, fed=losses.fed, losses=losses.losses, wrong=losses.wrong)
    for session in sessions.values():
        _add(verdict, session)
    _judge_blobs(evidence, verdict)
    _judge_reboots(evidence, sessions.values(), verdict)
    verdict.wrong += [f"{evidence.name}: the session {name} is left in the spool" for name in evidence.left]
    return verdict


def _add(verdict: NodeVerdict, session: SessionUnits) -> None:
    verdict.sessions += 1
    verdict.units += len(session.stored)
    verdict.records += sum(len(member.lines) for member in session.stored.values())
    verdict.dropped_units += session.dropped[0]
    verdict.dropped_records += session.dropped[1]
    verdict.again += session.again
    verdict.wrong += session.wrong


def _judge_blobs(evidence: NodeEvidence, verdict: NodeVerdict) -> None:
    """At the end every session is over, so that its blobs are sealed, where no fault prevented it."""
    last = max((blob.life for blob in evidence.blobs), default=0)
    for blob in evidence.blobs:
        verdict.blobs += 1
        verdict.rolled += not blob.path.endswith(".0.gz")
        verdict.sealed += blob.is_sealed
        is_due = blob.life == last and blob.content and not blob.is_sealed
        if is_due and blob.path not in evidence.unsealed and not evidence.left:
            verdict.wrong.append(f"{blob.path.rpartition('/')[2]} isn't sealed")


def _judge_reboots(evidence: NodeEvidence, sessions: Iterable[SessionUnits], verdict: NodeVerdict) -> None:
    """Each restart of the machine is an event, unless no agent after it lived for long enough to send one.

    A session repeats the record of the one before it, which was killed meanwhile: equal ones are one event.
    """
    lines = (line for session in sessions for unit in session.known().values() for line in unit)
    verdict.reboots = len({line for line in lines if line.startswith(_REBOOT)})
    runs = [life for life in evidence.lives if life.command == "run"]
    boots = {life.boot for life in runs if _is_long(life)}
    sure = len(boots - {1}) if 1 in boots else 0
    if not sure <= verdict.reboots <= evidence.boots - 1:
        verdict.wrong.append(f"{evidence.name}: {verdict.reboots} reboots reported of {evidence.boots - 1}")


def _is_long(life: ProcessLife) -> bool:
    paused = sum(end - begin for begin, end in life.paused)
    return not life.ended or life.ended - life.began - paused > _SURE * SECOND
