"""Proves that node agents lose nothing but the last flush interval of one that is killed.

Starts Azurite and real agents, which send to it through a proxy that resets, delays and refuses requests, and loses
answers to successful ones. Agents are killed by `kill -9`, paused, and killed with their whole machine, then start
again in the same folder. One node's spool is too small for the time that storage is down, one's signature expires, and
one's container is deleted. One node's disk is full and another's is read-only for a while, and two agents share a
folder from pid namespaces of their own; without an administrator's rights these three are left out, and the report says
so. Blobs are full after a few blocks. At the end every unit that ever lay in a spool must be stored exactly once, or be
counted as dropped. Then the app reads the blobs, and every event that an agent wrote must be in its feed exactly once.
The exit code is 1 if anything is wrong, or the kills didn't fit into the time.
"""

import argparse
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime

from local.dev.system.console import say, step
from local.prove.agent.feed import read_feed
from local.prove.agent.judging.event_feed import judge_feed, written_events
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.judging.verdicts import NodeEvidence, NodeVerdict, judge_node
from local.prove.agent.nodes.disk_disruptions import DiskDisruptions
from local.prove.agent.nodes.disruptions import Disruptions
from local.prove.agent.nodes.feeding import LineFeeder
from local.prove.agent.nodes.node import Kind, Node
from local.prove.agent.report import Run, section, text
from local.prove.agent.rig import CONTAINER, KINDS, Rig, running_rig
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof

MEASURED_PATHS = ("agent",)
_BOUNDS = Bounds(interval=1.0, flush=5.0, slack=1.0)
_KILLS_PER_MINUTE = 8
_STATUS_EVERY = 30.0
_TICK = 0.02
_DELETED_AT, _DELETED_FOR = 0.4, 10.0  # share of the time, seconds
_PATIENCE = 120.0  # seconds for sending everything at the end
_MIN_MINUTES = 2.0  # in which every disruption can occur


def main() -> int:
    options = _parser().parse_args()
    options.kills = options.kills or round(options.minutes * _KILLS_PER_MINUTE)
    return run_proof("agent", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    with ExitStack() as stack:
        with step("Starting storage and building the agent"):
            rig = stack.enter_context(running_rig(options.agents, options.seed, _BOUNDS))
        run = _run(rig, options)
    return Outcome(text(run), section(run), run.is_proved, run.wrong)


def _run(rig: Rig, options: argparse.Namespace) -> Run:
    began, clock, seconds = datetime.now(UTC), time.monotonic(), options.minutes * 60
    disruptions = Disruptions(
        rig.nodes, rig.starter, rig.plan.set_down, seed=options.seed, seconds=seconds, kills=options.kills
    )
    disk_disruptions = DiskDisruptions(disruptions.queue, rig.starter, rig.plan.set_down, disruptions.done)
    for node in rig.nodes:
        disruptions.start(node)
        if node.name in rig.disks:
            disk_disruptions.plan(node, rig.disks[node.name], seconds)
        if node.kind is Kind.DELETED:
            _plan_deletion(rig, disruptions, node, seconds)
    feeder, status_due = LineFeeder(rig.nodes, rig.watch), clock + _STATUS_EVERY
    while (now := time.monotonic()) < clock + seconds:
        disruptions.queue.run_due()
        feeder.step()
        if now >= status_due:
            status_due += _STATUS_EVERY
            _say_status(rig, disruptions, now - clock)
        time.sleep(_TICK)
    disruptions.finish()
    _end(rig)
    verdicts = {node.name: _judged(rig, node) for node in rig.nodes}
    events, wrong_events = _judged_feed(rig)
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
        left_out=sorted(rig.left_out),
        stalls=rig.stalls.stalls,
        events=events,
        wrong=wrong_events
        + [line for verdict in verdicts.values() for line in verdict.wrong]
        + [line for node in rig.nodes for line in node.stubborn],
    )


def _plan_deletion(rig: Rig, disruptions: Disruptions, node: Node, seconds: float) -> None:
    def delete() -> None:
        disruptions.done["containers deleted"] += 1
        rig.containers.delete(node.container)

    disruptions.queue.at(seconds * _DELETED_AT, delete)
    disruptions.queue.at(seconds * _DELETED_AT + _DELETED_FOR, lambda: rig.containers.create_again(node.container))


def _say_status(rig: Rig, disruptions: Disruptions, seconds: float) -> None:
    done = disruptions.done
    say(
        f"  {seconds:4.0f} s: {rig.watch.seen:,} units spooled, {rig.storage.appended:,} blocks stored, "
        f"{rig.plan.struck.total():,} faults, {done['kills']} kills, {done['pauses']} pauses, {done['reboots']} reboots"
    )


def _end(rig: Rig) -> None:
    """Lets all agents end without faults, and others send the rest."""
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


def _judged(rig: Rig, node: Node) -> NodeVerdict:
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


def _judged_feed(rig: Rig) -> tuple[int, list[str]]:
    """Lets the app read the blobs; returns how many events agents wrote, and what is wrong with the app's list."""
    blobs = rig.containers.blobs(CONTAINER)
    written = set(written_events(blobs))
    say(f"  The app reads {len(blobs)} blobs with {len(written)} events.")
    listed = read_feed(rig.children, rig.logs, rig.addresses, len(blobs))
    return len(written), judge_feed(written, listed)


def _versions(rig: Rig) -> list[str]:
    programs = {node.python for node in rig.nodes}
    asked = (subprocess.run([one, "--version"], capture_output=True, text=True, check=True) for one in programs)
    return sorted({answer.stdout.split()[-1] for answer in asked})


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("agent", __doc__)
    add = parser.add_argument
    add("--minutes", type=_minutes, default=4.0, help=f"duration of the disruptions {DEFAULT}")
    add("--agents", type=_agents, default=len(KINDS), help=f"number of nodes with agents {DEFAULT}")
    add("--kills", type=int, default=0, help=f"by kill -9 in that time (default: {_KILLS_PER_MINUTE} a minute)")
    add("--seed", type=int, default=1, help=f"of the random disruptions {DEFAULT}")
    return parser


def _minutes(words: str) -> float:
    if float(words) < _MIN_MINUTES:
        raise argparse.ArgumentTypeError(f"'{words}' is below {_MIN_MINUTES:g}, in which some disruptions can't occur")
    return float(words)


def _agents(words: str) -> int:
    if int(words) < len(set(KINDS)):
        raise argparse.ArgumentTypeError(f"'{words}' is below {len(set(KINDS))}, so that a kind of node is missing")
    return int(words)


if __name__ == "__main__":
    sys.exit(main())
