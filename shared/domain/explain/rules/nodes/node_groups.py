"""Groups of nodes that get no tasks, by state, with texts for each; `unavailable_nodes` fills in their words."""

from dataclasses import dataclass, replace

from shared.domain.explain.evidence import Evidence
from shared.domain.nodes.nodes import START_TASK_FAILED


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes in one of `states`.

    `is_replaceable` means that more nodes would help; where start tasks fail, new nodes would fail as well.
    `names_cause` means that a cause is known beyond the state.
    """

    states: tuple[str, ...]
    rule: str
    title: str
    means: str
    advice: str
    is_replaceable: bool = False
    names_cause: bool = False

    def count(self, e: Evidence) -> int:
        """Returns the number of the pool's nodes in this group."""
        states = e.states
        return sum(states[state] for state in self.states)

    def are_few(self, e: Evidence) -> bool:
        """Returns whether the pool lacks more nodes than these, which comes first."""
        return self.is_replaceable and self.count(e) < e.awaited


def _restarting(state: str, rule: str, title: str, doing: str) -> Group:
    means = f"{{are}} {doing} and {{get}} tasks when {{they}} {{have}} started again"
    advice = "Wait some minutes: the nodes come back by themselves, after their start task if the pool has one."
    return Group((state,), rule, title, means, advice)


FAILED = Group(
    (START_TASK_FAILED,),
    "startTaskFailed",
    "the start task fails on {nodes}",
    "failed {their} start task and {get} no tasks",
    "See stdout.txt and stderr.txt of the start task on such a node (directory startup), correct the pool's start "
    "task, and reimage the nodes. With waitForSuccess false tasks don't wait for it.",
    names_cause=True,
)
UNUSABLE = Group(
    ("unusable",),
    "nodesUnusable",
    "{nodes} {are} unusable",
    "can't be used or reached by Batch, and {get} no tasks",
    "See whether the network lets nodes reach Batch and storage, the image's own agent, and whether their disks fill "
    "up. Batch tries to recover the nodes. {replaced}",
    is_replaceable=True,
    names_cause=True,
)
UNREACHABLE = Group(
    ("unknown",),
    "nodesUnreachable",
    "Batch has lost contact with {nodes}",
    "can't be reached by Batch and {get} no tasks",
    "Wait some minutes: Batch tries to reach the nodes. See whether the network lets nodes reach Batch. {replaced}",
    is_replaceable=True,
)
PREEMPTED = Group(
    ("preempted",),
    "nodesPreempted",
    "{nodes} {were} preempted",
    "{were} taken back by Azure; what ran there waits to run again",
    "Batch replaces spot nodes when there is capacity again, nobody knows when. If it can't wait, {larger}, "
    "dedicated ones, or use another VM size or region.{formula}",
    is_replaceable=True,
)
SHUT = Group(
    ("offline",),
    "nodesOffline",
    "scheduling is switched off on {nodes}",
    "{get} no tasks: somebody disabled scheduling on {them}",
    "Enable scheduling on the nodes, or {larger}.{formula}",
    is_replaceable=True,
)
DEALLOCATED = Group(
    ("deallocating", "deallocated"),
    "nodesDeallocated",
    "{nodes} {are} deallocated",
    "gave up {their} machine when somebody deallocated {them}, and {get} no tasks until {they} {are} started",
    "Start the nodes again, or {larger}.{formula}",
    is_replaceable=True,
)
STARTING = Group(
    ("creating", "starting", "waitingforstarttask"),
    "nodesStarting",
    "{nodes} {are} still starting",
    "{get} tasks once {they} {have} started and {their} start task has succeeded",
    "Wait: nodes mostly take some minutes.",
    names_cause=True,
)
REBOOTING = _restarting("rebooting", "nodesRebooting", "{nodes} {are} rebooting", "rebooting")
REIMAGING = _restarting("reimaging", "nodesReimaging", "{nodes} {are} being reimaged", "being reimaged")
UPGRADED = replace(
    _restarting("upgradingos", "nodesUpgrading", "the operating system of {nodes} is being upgraded", "being upgraded"),
    advice="Wait: the nodes come back by themselves. The pool's upgradePolicy says when upgrades happen.",
)
LOST = (FAILED, UNUSABLE, UNREACHABLE, SHUT, DEALLOCATED)
ON_THEIR_WAY = (STARTING, REBOOTING, REIMAGING, UPGRADED)


def counts(e: Evidence) -> list[int]:
    """Returns the numbers of nodes that get no tasks, by reason, without groups smaller than the lack of nodes."""
    return [group.count(e) for group in (*LOST, PREEMPTED, *ON_THEIR_WAY) if not group.are_few(e)]


def outweigh(e: Evidence) -> bool:
    """Returns whether nodes that get no tasks, for any reason, are as many as those that may get some."""
    number = sum(counts(e))
    return number > 0 and number >= e.able
