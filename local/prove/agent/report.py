"""The report of a run, for the terminal and docs/proofs.md."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from local.prove.agent.judging.lives import SECOND
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.judging.verdicts import NodeVerdict
from local.prove.agent.nodes.node import Kind
from local.prove.agent.storage.faults import Fault
from local.prove.reporting.figures import counts_text, figures_table, figures_text, headline

_WHAT = """
Real agents, built as a deployment gets them, measure this machine or take numbered lines, and send to Azurite through a
proxy that injects faults. They are killed by `kill -9` at random moments and paused, and all processes of a node
are killed at once, as by a restart of its machine; the next agents find the same folder. Signatures expire, a
container is deleted, storage is down, and one spool is too small for that. One node's disk is full and another's is
read-only for a while, where units wait in memory, and its agent is killed then. Two agents share a folder from pid
namespaces of their own, as containers do. The proof keeps a link to every unit that
lies in a spool, and reads blobs by code of its own. At the end each unit that ever was in a spool must be stored once,
to the byte, or be counted as dropped by the agent itself; a killed agent may lack no more than its last flush interval.
Then the app reads the blobs: each event in them must be in its feed once.
"""

_EXPECTED = ("pauses", "reboots", "outages", "containers deleted", "signatures renewed")
_OF_DISKS = {Kind.FULL: "disks full", Kind.READ_ONLY: "disks read-only"}


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run; `faults` by kind, `refused` are Azurite's own refusals, `done` counts disruptions of nodes.

    `events` is the number of those that agents wrote, `left_out` are kinds of nodes that this user may not make.
    """

    options: argparse.Namespace
    began: datetime
    seconds: float
    pythons: Sequence[str]
    bounds: Bounds
    verdicts: Mapping[str, NodeVerdict]
    done: Mapping[str, int]
    faults: Mapping[Fault, int]
    refused: Mapping[str, int]
    full: int
    left_out: Sequence[Kind]
    stalls: Sequence[tuple[int, int]]
    events: int
    wrong: Sequence[str]

    @property
    def is_proved(self) -> bool:
        """Nothing is wrong, and all that was to happen did."""
        expected = (*_EXPECTED, *(what for kind, what in _OF_DISKS.items() if kind not in self.left_out))
        happened = all(self.done.get(what) for what in expected) and self.total("dropped_units") > 0
        stored = all(verdict.units for verdict in self.verdicts.values())
        return (
            happened
            and stored
            and self.events > 0
            and not self.wrong
            and self.done.get("kills", 0) >= self.options.kills
        )

    def total(self, name: str) -> int:
        return sum(getattr(verdict, name) for verdict in self.verdicts.values())


def rows(run: Run) -> list[tuple[str, str]]:
    """Returns the figures by name."""
    how = _listed(run.done, "supervisors killed", "killed while paused")
    stalls = [(end - begin) / SECOND for begin, end in run.stalls]
    done, losses = run.done, [loss for verdict in run.verdicts.values() for loss in verdict.losses]
    return [
        ("nodes", f"{len(run.verdicts)} for {run.options.minutes:g} minutes; Python {', '.join(run.pythons)}"),
        ("sessions, blobs", f"{run.total('sessions')}, {run.total('blobs')}"),
        ("blobs that followed a full, deleted or foreign one", str(run.total("rolled"))),
        ("blobs sealed", str(run.total("sealed"))),
        ("samples in units", f"{run.total('samples'):,}, and {run.total('fed'):,} lines that were fed"),
        ("records stored once", f"{run.total('records'):,} in {run.total('units'):,} units"),
        ("dropped and counted", f"{run.total('dropped_records'):,} records in {run.total('dropped_units'):,} units"),
        (
            "kills by `kill -9`",
            f"{done.get('kills', 0)} ({how})",
        ),
        ("pauses", str(done.get("pauses", 0))),
        ("restarts of a machine", f"{done.get('reboots', 0)}, {run.total('reboots')} reported as events"),
        ("events of nodes in the app's feed, once", str(run.events)),
        ("other disruptions", _listed(done, "containers deleted", "signatures renewed", "outages")),
        ("disruptions of disks", _listed(done, *_OF_DISKS.values(), "kills beside a disk's fault")),
        ("left out, as this user may make no mounts or namespaces", ", ".join(run.left_out) or "nothing"),
        ("units stored again after their container was deleted", str(run.total("again"))),
        ("faults", counts_text(run.faults)),
        ("refusals by storage itself", counts_text({**run.refused, "409 BlockCountExceedsLimit": run.full})),
        ("longest loss of a killed process", f"{max(losses, default=0):.1f} s (flushed every {run.bounds.flush:g} s)"),
        (
            "stalls of the machine",
            f"{len(stalls)} times, for {sum(stalls):.1f} s, {max(stalls, default=0):.1f} s at most",
        ),
        ("**wrong**", f"**{len(run.wrong)}**"),
    ]


def text(run: Run) -> str:
    """Returns the report for the terminal."""
    return figures_text(rows(run))


def section(run: Run) -> str:
    """Returns the report for docs/proofs.md."""
    return f"{_WHAT}\n{headline('agent', run.began)}:\n\n{figures_table(rows(run))}\n"


def _listed(done: Mapping[str, int], *names: str) -> str:
    return ", ".join(f"{name}: {done.get(name, 0)}" for name in names)
