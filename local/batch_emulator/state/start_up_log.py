"""The moments of nodes' first starts by the service's clock, from the resize that wished for them to their first task.

They judge the app's figures. Only a node's first life counts. They are in memory: a restarted emulator has those of
nodes that are allocated from then on.
"""

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Json, Node

MOMENTS = (
    "wished", "allocated", "booted", "startTaskStarted", "startTaskEnded", "ready", "preparing", "firstTask",
)  # fmt: skip
_MAX_NODES = 20_000


class StartUpLog:
    """The moments of an account's nodes, the latest 20,000, also of nodes that have left."""

    def __init__(self) -> None:
        self._nodes: dict[Node, dict[str, int]] = {}

    def begin(self, node: Node, *, wished: int) -> None:
        """Begins with a node's allocation, for a resize that began at `wished`, in ticks."""
        if len(self._nodes) >= _MAX_NODES:
            del self._nodes[next(iter(self._nodes))]
        self._nodes[node] = {"wished": wished, "allocated": node.allocated}

    def mark(self, node: Node, name: str, moment: int) -> None:
        """Records one of MOMENTS unless it is known, or the node has restarted."""
        if (known := self._nodes.get(node)) is not None and not node.life:
            known.setdefault(name, moment)

    def to_json(self) -> Json:
        """Returns the nodes' sizes and moments by pool and node."""
        found: dict[str, Json] = {}
        for node, moments in self._nodes.items():
            shown = {name: stamp(moments[name]) for name in MOMENTS if name in moments}
            found.setdefault(node.pool.id, {})[node.id] = {"vmSize": node.vm_size, **shown}
        return found
