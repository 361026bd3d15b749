"""Everything that runs in the proof: storage behind a faulty proxy, nodes before their agents start, and watches."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from azure.storage.blob import BlobServiceClient

from local.azurite import ACCOUNT, StorageAddresses
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.nodes.agent_file import pythons, write_agent_under_proof
from local.prove.agent.nodes.node import WITH_DISKS, Kind, Node
from local.prove.agent.nodes.node_disk import NodeDisk, mounts_of_own
from local.prove.agent.nodes.node_starter import NodeStarter
from local.prove.agent.nodes.pid_namespaces import are_permitted
from local.prove.agent.nodes.spool_watch import SpoolWatch
from local.prove.agent.nodes.stalls import StallWatch
from local.prove.agent.storage.blobs import ContainerLives
from local.prove.agent.storage.faults import FaultPlan
from local.prove.agent.storage.limited_storage import Storage
from local.prove.agent.storage.proxy import FaultyProxy, served
from local.prove.stack.services import start_storage

KINDS = (
    Kind.PAIR,
    Kind.SUPERVISED,
    Kind.SMALL,
    Kind.EXPIRING,
    Kind.DELETED,
    Kind.SHARED,
    Kind.READ_ONLY,
    Kind.FULL,
    Kind.PAIR,
)
"""The kinds of nodes, which take turns."""
CONTAINER = "telemetry"
"""The container that the app reads; the one that is deleted is another."""


@dataclass(frozen=True, slots=True)
class Rig:
    """Everything that runs. `disks` are those of nodes that have their own, `left_out` the kinds that aren't permitted.

    Mounts and namespaces need an administrator's rights.
    """

    nodes: tuple[Node, ...]
    disks: Mapping[str, NodeDisk]
    left_out: frozenset[Kind]
    starter: NodeStarter
    watch: SpoolWatch
    stalls: StallWatch
    plan: FaultPlan
    proxy: FaultyProxy
    storage: Storage
    containers: ContainerLives
    children: Children
    logs: Path
    addresses: StorageAddresses


@contextmanager
def running_rig(number: int, seed: int, bounds: Bounds) -> Iterator[Rig]:
    """Starts storage and the proxy, and builds the agent of `number` nodes; ends all in any case. Raises Failure."""
    left_out = _left_out()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prove-agent-")))
        logs = HERE.logs / "agent"
        logs.mkdir(parents=True, exist_ok=True)
        for log in logs.glob("*.log"):
            log.unlink()
        children = stack.enter_context(Children())
        addresses = start_storage(children, logs)
        service = BlobServiceClient.from_connection_string(addresses.connection_string)
        nodes = tuple(node for node in _nodes(number, folder) if node.kind not in left_out)
        disks = {node.name: NodeDisk(node.folder) for node in nodes if node.kind in WITH_DISKS}
        for disk in disks.values():
            stack.callback(disk.unmount)
        watch = SpoolWatch({node.name: node.folder for node in nodes}, folder / "kept")
        storage, plan = Storage(addresses.blob, stack.enter_context(service)), FaultPlan(seed, disks)
        proxy = FaultyProxy(storage, plan, watch.look)
        address = f"{stack.enter_context(served(proxy))}/{ACCOUNT}"
        write_agent_under_proof(HERE.root, folder / "batchscope-agent.pyz")
        starter = NodeStarter(
            folder / "batchscope-agent.pyz",
            address,
            logs,
            children,
            interval=bounds.interval,
            flush=bounds.flush,
        )
        stack.callback(lambda: [starter.kill_all(node) for node in nodes])
        yield Rig(
            nodes,
            disks,
            left_out,
            starter,
            stack.enter_context(watch),
            stack.enter_context(StallWatch()),
            plan,
            proxy,
            storage,
            ContainerLives(service, storage, sorted({node.container for node in nodes})),
            children,
            logs,
            addresses,
        )


def _left_out() -> frozenset[Kind]:
    """Returns the kinds of nodes that this user may not make; mounts are in a namespace of the proof's from then on."""
    disks = () if mounts_of_own() else WITH_DISKS
    return frozenset((*disks, *(() if are_permitted() else (Kind.SHARED,))))


def _nodes(number: int, folder: Path) -> Iterator[Node]:
    """Yields nodes of all kinds in turn; one whose container is deleted has one of its own."""
    found = pythons()
    for index in range(number):
        kind, name = KINDS[index % len(KINDS)], f"node-{index + 1}"
        container = f"{CONTAINER}-{index + 1}" if kind is Kind.DELETED else CONTAINER
        yield Node(name, kind, folder / name, found[index % len(found)], container)
