"""Groups of nodes that get no tasks, by state, with texts for each; `why_nodes` fills in their words."""

from dataclasses import dataclass

from shared.domain.nodes.nodes import START_TASK_FAILED


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes in one of `states`.

    `is_replaceable` means that more nodes would help; where start tasks fail, new nodes would fail as well. `is_plain`
    means that no cause is known beyond the state. `names_formula` appends the autoscale formula to advice on growth.
    """

    states: tuple[str, ...]
    code: str
    title: str
    means: str
    advice: str
    is_replaceable: bool = False
    is_plain: bool = False
    names_formula: bool = False


FAILED = Group(
    (START_TASK_FAILED,),
    "startTaskFailed",
    "the start task fails on {nodes}",
    "failed {their} start task and {get} no tasks",
    "See stdout.txt and stderr.txt of the start task on such a node (directory startup), correct the pool's start "
    "task, and reimage the nodes. With waitForSuccess false tasks don't wait for it.",
)
UNUSABLE = Group(
    ("unusable",),
    "nodesUnusable",
    "{nodes} {are} unusable",
    "can't be used or reached by Batch, and {get} no tasks",
    "See whether the network lets nodes reach Batch and storage, the image's own agent, and whether their disks fill "
    "up. Batch tries to recover the nodes. {replaced}",
    is_replaceable=True,
)
UNREACHABLE = Group(
    ("unknown",),
    "nodesUnreachable",
    "Batch has lost contact with {nodes}",
    "can't be reached by Batch and {get} no tasks",
    "Wait some minutes: Batch tries to reach the nodes. See whether the network lets nodes reach Batch. {replaced}",
    is_replaceable=True,
    is_plain=True,
)
PREEMPTED = Group(
    ("preempted",),
    "nodesPreempted",
    "{nodes} {were} preempted",
    "{were} taken back by Azure; what ran there waits to run again",
    "Batch replaces spot nodes when there is capacity again, nobody knows when. If it can't wait, {larger}, "
    "dedicated ones, or use another VM size or region.",
    is_replaceable=True,
    is_plain=True,
    names_formula=True,
)
SHUT = Group(
    ("offline",),
    "nodesOffline",
    "scheduling is switched off on {nodes}",
    "{get} no tasks: somebody disabled scheduling on {them}",
    "Enable scheduling on the nodes, or {larger}.",
    is_replaceable=True,
    is_plain=True,
    names_formula=True,
)
DEALLOCATED = Group(
    ("deallocating", "deallocated"),
    "nodesDeallocated",
    "{nodes} {are} deallocated",
    "gave up {their} machine when somebody deallocated {them}, and {get} no tasks until {they} {are} started",
    "Start the nodes again, or {larger}.",
    is_replaceable=True,
    is_plain=True,
    names_formula=True,
)
COMING = Group(
    ("creating", "starting", "waitingforstarttask"),
    "nodesStarting",
    "{nodes} {are} still starting",
    "{get} tasks once {they} {have} started and {their} start task has succeeded",
    "Wait: nodes mostly take some minutes.",
)
REBOOTING = Group(
    ("rebooting",),
    "nodesRebooting",
    "{nodes} {are} rebooting",
    "{are} rebooting and {get} tasks when {they} {have} started again",
    "Wait some minutes: the nodes come back by themselves, after their start task if the pool has one.",
    is_plain=True,
)
REIMAGING = Group(
    ("reimaging",),
    "nodesReimaging",
    "{nodes} {are} being reimaged",
    "{are} being reimaged and {get} tasks when {they} {have} started again",
    "Wait some minutes: the nodes come back by themselves, after their start task if the pool has one.",
    is_plain=True,
)
UPGRADED = Group(
    ("upgradingos",),
    "nodesUpgrading",
    "the operating system of {nodes} is being upgraded",
    "{are} being upgraded and {get} tasks when {they} {have} started again",
    "Wait: the nodes come back by themselves. The pool's upgradePolicy says when upgrades happen.",
    is_plain=True,
)
GROUPS = (FAILED, UNUSABLE, UNREACHABLE, PREEMPTED, SHUT, DEALLOCATED, COMING, REBOOTING, REIMAGING, UPGRADED)
