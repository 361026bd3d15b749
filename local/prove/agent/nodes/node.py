"""A node under proof: a folder in which agents start, end, and find the files of earlier ones."""

import subprocess
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from local.prove.agent.judging.lives import ProcessLife
from local.prove.agent.nodes.processes import SUPERVISOR


class Kind(StrEnum):
    """The kind of a node, by its agents and its storage."""

    PAIR = "run beside append"
    SUPERVISED = "start in the background"
    SMALL = "small spool"
    EXPIRING = "signature that expires"
    DELETED = "container deleted"
    SHARED = "two agents of different pid namespaces"
    READ_ONLY = "disk that is read-only for a while"
    FULL = "disk that is full for a while"


WITH_DISKS = (Kind.READ_ONLY, Kind.FULL)
"""Kinds whose folder is a disk of its own, which is disrupted in place of the rest."""


@dataclass(slots=True)
class Node:
    """A node; `boot` counts its starts, `lives` has every process that measured or took lines.

    `stubborn` are sentences about processes that didn't end when asked to.
    """

    name: str
    kind: Kind
    folder: Path
    python: str
    container: str
    boot: int = 1
    lives: list[ProcessLife] = field(default_factory=list)
    children: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    groups: set[int] = field(default_factory=set)
    stubborn: list[str] = field(default_factory=list)

    @property
    def commands(self) -> tuple[str, ...]:
        if self.kind is Kind.SUPERVISED:
            return (SUPERVISOR,)
        if self.kind is Kind.SHARED:
            return ("run", "run")
        return ("run", "append") if self.kind is Kind.PAIR else ("run",)

    @property
    def alive(self) -> list[ProcessLife]:
        return [life for life in self.lives if not life.ended]
