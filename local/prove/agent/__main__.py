"""Proves that node agents lose nothing but the last flush interval of one that is killed.

Starts Azurite and real agents, which send to it through a proxy that resets, delays, refuses, and loses the answers to
what it did. Agents are killed by `kill -9`, paused, and killed with their whole machine, then start again in the same
folder. One node's spool is too small for the time that storage is down, one's signature expires, one's container is
deleted. Blobs are full after a few blocks. At the end every unit that ever lay in a spool must be stored exactly once,
or be counted as dropped. The exit code is 1 if anything is wrong, or the kills didn't fit into the time.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from azure.storage.blob import BlobServiceClient

from local.azurite import ACCOUNT, StorageAddresses, azurite_program
from local.dev.running.stack import base_environment
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import Failure, complain, say, step
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.judging.verdicts import NodeEvidence, NodeVerdict, judge_node
from local.prove.agent.nodes.agent_file import pythons, write_agent_under_proof
from local.prove.agent.nodes.disruptions import Disruptions
from local.prove.agent.nodes.feeding import LineFeeder
from local.prove.agent.nodes.node import Kind, Node
from local.prove.agent.nodes.node_starter import NodeStarter
from local.prove.agent.nodes.spool_watch import SpoolWatch
from local.prove.agent.nodes.stalls import StallWatch
from local.prove.agent.report import Run, section, text
from local.prove.agent.storage.blobs import ContainerLives
from local.prove.agent.storage.faults import FaultPlan
from local.prove.agent.storage.limited_storage import Storage
from local.prove.agent.storage.proxy import FaultyProxy, served
from local.prove.reporting.proofs_page import write_section

MEASURED_PATHS = ("agent",)
_BOUNDS = Bounds(interval=1.0, flush=5.0, slack=1.0)
_KILLS_PER_MINUTE = 8
_KINDS = (Kind.PAIR, Kind.SUPERVISED, Kind.SMALL, Kind.EXPIRING, Kind.DELETED, Kind.PAIR)
_STATUS_EVERY = 30.0
_TICK = 0.02
_DELETED_AT, _DELETED_FOR = 0.4, 10.0  # share of the time, seconds
_PATIENCE = 120.0  # seconds for sending everything at the end
_MAX_SHOWN = 40
_WEAKEST = 2.0  # minutes in which all of it can happen


@dataclass(frozen=True, slots=True)
class _Rig:
    """Everything that runs."""

    nodes: tuple[Node, ...]
    starter: NodeStarter
    watch: SpoolWatch
    stalls: StallWatch
    plan: FaultPlan
    proxy: FaultyProxy
    storage: Storage
    containers: ContainerLives


def main() -> int:
    options = _parser().parse_args()
    options.kills = options.kills or round(options.minutes * _KILLS_PER_MINUTE)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ExitStack() as stack:
            with step("Starting storage and building the agent"):
                rig = stack.enter_context(_running_rig(options))
            run = _prove(rig, options)
    except Failure as failure:
        complain(str(failure))
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    say(f"\n{text(run)}\n")
    for line in run.wrong[:_MAX_SHOWN]:
        say(f"  {line}")
    if options.write:
        write_section("agent", section(run))
    return 0 if run.is_proved else 1


@contextmanager
def _running_rig(options: argparse.Namespace) -> Iterator[_Rig]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prove-agent-")))
        logs = HERE.logs / "agent"
        logs.mkdir(parents=True, exist_ok=True)
        for log in logs.glob("*.log"):
            log.unlink()
        children = stack.enter_context(Children())
        azurite = azurite_program(HERE, log=logs / "azurite.log", environment=base_environment())
        addresses = StorageAddresses.announced(children.start(azurite))
        service = BlobServiceClient.from_connection_string(addresses.connection_string)
        nodes = tuple(_nodes(options.agents, folder))
        watch = SpoolWatch({node.name: node.folder for node in nodes}, folder / "kept")
        storage, plan = Storage(addresses.blob, stack.enter_context(service)), FaultPlan(options.seed)
        proxy = FaultyProxy(storage, plan, watch.look)
        address = f"{stack.enter_context(served(proxy))}/{ACCOUNT}"
        write_agent_under_proof(HERE.root, folder / "batchscope-agent.pyz")
        starter = NodeStarter(
            folder / "batchscope-agent.pyz",
            address,
            logs,
            children,
            interval=_BOUNDS.interval,
            flush=_BOUNDS.flush,
        )
        stack.callback(lambda: [starter.kill_all(node) for node in nodes])
        yield _Rig(
            nodes,
            starter,
            stack.enter_context(watch),
            stack.enter_context(StallWatch()),
            plan,
            proxy,
            storage,
            ContainerLives(service, storage, sorted({node.container for node in nodes})),
        )


def _nodes(number: int, folder: Path) -> Iterator[Node]:
    """Yields nodes of all kinds in turn; one whose container is deleted has one of its own."""
    found = pythons()
    for index in range(number):
        kind, name = _KINDS[index % len(_KINDS)], f"node-{index + 1}"
        container = f"telemetry-{index + 1}" if kind is Kind.DELETED else "telemetry"
        yield Node(name, kind, folder / name, found[index % len(found)], container)


def _prove(rig: _Rig, options: argparse.Namespace) -> Run:
    began, clock, seconds = datetime.now(UTC), time.monotonic(), options.minutes * 60
    disruptions = Disruptions(
        rig.nodes, rig.starter, rig.plan.set_down, seed=options.seed, seconds=seconds, kills=options.kills
    )
    for node in rig.nodes:
        disruptions.start(node)
        if node.kind is Kind.DELETED:
            _plan_deletion(rig, disruptions, node, seconds)
    feeder, status_due = LineFeeder(rig.nodes, rig.watch), clock + _STATUS_EVERY
    while (now := time.monotonic()) < clock + seconds:
        disruptions.step()
        feeder.step()
        if now >= status_due:
            status_due += _STATUS_EVERY
            _say_status(rig, disruptions, now - clock)
        time.sleep(_TICK)
    disruptions.finish()
    _end(rig)
    verdicts = {node.name: _judged(rig, node) for node in rig.nodes}
    return Run(
        options=options,
        began=began,
        seconds=time.monotonic() - clock,
        pythons=_versions(rig),
        bounds=_BOUNDS,
        verdicts=verdicts,
        done=disruptions.done,
        faults=rig.plan.struck,
        refused=rig.storage.refused,
        full=rig.storage.full,
        stalls=rig.stalls.stalls,
        wrong=[line for verdict in verdicts.values() for line in verdict.wrong]
        + [line for node in rig.nodes for line in node.stubborn],
    )


def _plan_deletion(rig: _Rig, disruptions: Disruptions, node: Node, seconds: float) -> None:
    def delete() -> None:
        disruptions.done["containers deleted"] += 1
        rig.containers.delete(node.container)

    disruptions.at(seconds * _DELETED_AT, delete)
    disruptions.at(seconds * _DELETED_AT + _DELETED_FOR, lambda: rig.containers.create_again(node.container))


def _say_status(rig: _Rig, disruptions: Disruptions, seconds: float) -> None:
    done = disruptions.done
    say(
        f"  {seconds:4.0f} s: {rig.watch.seen:,} units spooled, {rig.storage.appended:,} blocks stored, "
        f"{rig.plan.struck.total():,} faults, {done['kills']} kills, {done['pauses']} pauses, {done['reboots']} reboots"
    )


def _end(rig: _Rig) -> None:
    """Lets all agents end without faults, and others send what they left."""
    say("  Nothing goes wrong any more; all agents end, and others send what is left.")
    rig.plan.calm()
    rig.proxy.settle()
    for node in rig.nodes:
        rig.starter.ask(node)
    for node in rig.nodes:
        rig.starter.await_end(node)
        rig.starter.start(node, node.commands[:1])
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and any(len(rig.watch.left(node.name)) > 1 for node in rig.nodes):
        time.sleep(_TICK)
    for node in rig.nodes:
        rig.starter.ask(node)
    for node in rig.nodes:
        rig.starter.await_end(node)


def _judged(rig: _Rig, node: Node) -> NodeVerdict:
    mark = f"/nodes/{node.name}/"
    evidence = NodeEvidence(
        name=node.name,
        spooled=rig.watch.units(node.name),
        blobs=[blob for blob in rig.containers.blobs(node.container) if mark in blob.path],
        lives=node.lives,
        boots=node.boot,
        left=rig.watch.left(node.name),
        unsealed=frozenset(rig.proxy.unsealed),
    )
    return judge_node(evidence, _BOUNDS, rig.stalls.stalls)


def _versions(rig: _Rig) -> list[str]:
    programs = {node.python for node in rig.nodes}
    asked = (subprocess.run([one, "--version"], capture_output=True, text=True, check=True) for one in programs)
    return sorted({answer.stdout.split()[-1] for answer in asked})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py prove agent", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--minutes", type=_minutes, default=4.0, help=f"how long things go wrong {default}")
    add("--agents", type=_agents, default=len(_KINDS), help=f"how many nodes have agents {default}")
    add("--kills", type=int, default=0, help=f"by kill -9 in that time (default: {_KILLS_PER_MINUTE} a minute)")
    add("--seed", type=int, default=1, help=f"of what goes wrong and when {default}")
    add("--write", action="store_true", help="write the section 'agent' of docs/proofs.md")
    return parser


def _minutes(words: str) -> float:
    if float(words) < _WEAKEST:
        raise argparse.ArgumentTypeError(f"'{words}' is below {_WEAKEST:g}, in which not all of it can happen")
    return float(words)


def _agents(words: str) -> int:
    if int(words) < len(set(_KINDS)):
        raise argparse.ArgumentTypeError(f"'{words}' is below {len(set(_KINDS))}, so that a kind of node is missing")
    return int(words)


if __name__ == "__main__":
    sys.exit(main())
