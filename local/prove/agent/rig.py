"""Everything that runs in the proof: storage behind a faulty proxy, nodes before their agents start, and watches."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from azure.storage.blob import BlobServiceClient

from local.azurite import ACCOUNT, StorageAddresses
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.nodes.agent_file import pythons, write_agent_under_proof
from local.prove.agent.nodes.node import Kind, Node
from local.prove.agent.nodes.node_starter import NodeStarter
from local.prove.agent.nodes.spool_watch import SpoolWatch
from local.prove.agent.nodes.stalls import StallWatch
from local.prove.agent.storage.blobs import ContainerLives
from local.prove.agent.storage.faults import FaultPlan
from local.prove.agent.storage.limited_storage import Storage
from local.prove.agent.storage.proxy import FaultyProxy, served
from local.prove.stack.services import start_storage

KINDS = (Kind.PAIR, Kind.SUPERVISED, Kind.SMALL, Kind.EXPIRING, Kind.DELETED, Kind.PAIR)
"""The kinds of nodes, which take turns."""
CONTAINER = "telemetry"
"""The container that the app reads; the one that is deleted is another."""


@dataclass(frozen=True, slots=True)
class Rig:
    """Everything that runs."""

    nodes: tuple[Node, ...]
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
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prove-agent-")))
        logs = HERE.logs / "agent"
        logs.mkdir(parents=True, exist_ok=True)
        for log in logs.glob("*.log"):
            log.unlink()
        children = stack.enter_context(Children())
        addresses = start_storage(children, logs)
        service = BlobServiceClient.from_connection_string(addresses.connection_string)
        nodes = tuple(_nodes(number, folder))
        watch = SpoolWatch({node.name: node.folder for node in nodes}, folder / "kept")
        storage, plan = Storage(addresses.blob, stack.enter_context(service)), FaultPlan(seed)
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


def _nodes(number: int, folder: Path) -> Iterator[Node]:
    """Yields nodes of all kinds in turn; one whose container is deleted has one of its own."""
    found = pythons()
    for index in range(number):
        kind, name = KINDS[index % len(KINDS)], f"node-{index + 1}"
        container = f"{CONTAINER}-{index + 1}" if kind is Kind.DELETED else CONTAINER
        yield Node(name, kind, folder / name, found[index % len(found)], container)
