"""Starts and ends the agents of nodes, and notes each process's lifetime."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from local.dev.system.children import Children
from local.prove.agent.judging.lives import ASKED, KILLED, ProcessLife
from local.prove.agent.nodes.entry import BOOT, MEMORY, SPOOL
from local.prove.agent.nodes.node import Kind, Node
from local.prove.agent.nodes.pid_namespaces import first_of_namespace
from local.prove.agent.nodes.processes import (
    SUPERVISOR,
    AgentProcess,
    began,
    processes_of,
    send,
    session_of,
    wait_until_gone,
)
from local.signatures import signed

ACCOUNT = "proof"
"""The Batch account in the options of agents."""
SMALL_SPOOL = 15_000
"""Bytes of the spool that overflows."""
SMALL_MEMORY = 4_000
"""Bytes of units in memory where the disk is full for a while."""
_ENDING = 45.0  # seconds that a request to end may take: 20 for the last units, and a flush under way
_START_PATIENCE = 10.0
_LOOK = 0.05


class NodeStarter:
    """Starts and ends the agents of nodes. `archive` is the agent's file, `address` the proxy's."""

    def __init__(
        self, archive: Path, address: str, logs: Path, children: Children, *, interval: float, flush: float
    ) -> None:
        self._archive, self._address, self._logs, self._children = archive, address, logs, children
        self._times = (f"--interval={interval:g}", f"--flush={flush:g}")

    def start(self, node: Node, commands: tuple[str, ...], *, seconds: float = 3600.0) -> None:
        """Starts agents with a signature that is valid for some seconds."""
        for command in commands:
            if command == SUPERVISOR:
                self._run(node, command, seconds)
                self._await_measuring(node)
            else:
                self._start(node, command, seconds)

    def refresh(self, node: Node) -> list[AgentProcess]:
        """Notes processes that a supervisor started, and returns all of a node."""
        found = processes_of(node.folder)
        known = {life.pid for life in node.alive}
        for one in found:
            if one.command == "run" and one.pid not in known and not self._has_ended(node, one.pid):
                self._note(node, one.pid, "run", began(one.pid))
            if one.command == SUPERVISOR:
                with suppress(OSError):
                    self._keep(node, os.getpgid(one.pid))
        return found

    def kill(self, node: Node, pid: int) -> None:
        """Ends a process by `kill -9`; of a supervisor's child, the kernel then asks for the end."""
        now = time.time_ns()
        is_measuring = any(life.pid == pid for life in node.alive)
        for life in node.alive:
            if life.pid == pid or not is_measuring:
                life.ended, life.how = now, KILLED if life.pid == pid else ASKED
        send(pid, signal.SIGKILL)
        self._reap(node, pid)

    def kill_all(self, node: Node) -> int:
        """Ends all processes of a node at once, and returns their number."""
        found = self.refresh(node)
        now = time.time_ns()
        pids = {one.pid for one in found}
        for life in node.lives:
            if not life.ended:
                life.ended = now
            elif life.pid not in pids:
                continue
            life.how = KILLED
        for one in sorted(found, key=lambda one: one.command != SUPERVISOR):
            send(one.pid, signal.SIGKILL)
        for one in found:
            self._reap(node, one.pid)
        if wait_until_gone(node.folder, pids):
            self._forget(node)
        return len(found)

    def ask(self, node: Node) -> None:
        """Asks the agents of a node to send the rest and to end."""
        self.refresh(node)
        for life in node.alive:
            life.ended, life.how = time.time_ns(), ASKED
            child = node.children.get(life.pid)
            if child and child.stdin:
                child.stdin.close()
            elif child:
                child.terminate()
        if node.kind is Kind.SUPERVISED:
            self._run(node, "stop", 3600.0)

    def await_end(self, node: Node) -> None:
        """Waits for the end of all processes; those that don't end are ended and noted as stubborn."""
        until = time.monotonic() + _ENDING
        while left := processes_of(node.folder):
            for child in node.children.values():
                child.poll()
            if time.monotonic() > until:
                node.stubborn += [f"{node.name}: {one.command} didn't end in {_ENDING:g} s" for one in left]
                self.kill_all(node)
                return
            time.sleep(_LOOK)
        self._forget(node)

    def _start(self, node: Node, command: str, seconds: float) -> None:
        now = time.time_ns()

        def begin() -> subprocess.Popen[bytes]:
            return self._begun(node, command, seconds)

        child = first_of_namespace(begin) if node.kind is Kind.SHARED else begin()
        if child.stdin:
            os.set_blocking(child.stdin.fileno(), False)
        node.children[child.pid] = child
        self._keep(node, child.pid)
        self._note(node, child.pid, command, now)
        if node.kind is Kind.SHARED:
            node.lives[-1].session = _begun_session(child.pid)

    def _begun(self, node: Node, command: str, seconds: float) -> subprocess.Popen[bytes]:
        with self._log(node) as log:
            return subprocess.Popen(
                self._command(node, command),
                env=self._environment(node, seconds),
                stdin=subprocess.PIPE if command == "append" else subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _run(self, node: Node, command: str, seconds: float) -> None:
        with self._log(node) as log:
            arguments = self._command(node, command)
            subprocess.run(arguments, env=self._environment(node, seconds), stdout=log, stderr=log, check=False)

    def _await_measuring(self, node: Node) -> None:
        until = time.monotonic() + _START_PATIENCE
        while not node.alive and time.monotonic() < until:
            self.refresh(node)
            time.sleep(_LOOK)

    def _note(self, node: Node, pid: int, command: str, at: int) -> None:
        node.lives.append(ProcessLife(node.name, command, pid, at, boot=node.boot))

    def _has_ended(self, node: Node, pid: int) -> bool:
        return any(life.pid == pid for life in node.lives)

    def _keep(self, node: Node, group: int) -> None:
        if group not in node.groups:
            node.groups.add(group)
            self._children.end_if_killed(group)

    def _forget(self, node: Node) -> None:
        for group in node.groups:
            self._children.forget(group)
        node.groups.clear()

    def _reap(self, node: Node, pid: int) -> None:
        child = node.children.pop(pid, None)
        if child:
            child.wait()
            with suppress(OSError):
                if child.stdin:
                    child.stdin.close()

    def _log(self, node: Node) -> BinaryIO:
        return (self._logs / f"{node.name}.log").open("ab")

    def _command(self, node: Node, command: str) -> list[str]:
        names = (f"--account={ACCOUNT}", "--pool=pool", f"--node={node.name}", "--imds=http://127.0.0.1:9")
        return [node.python, str(self._archive), command, f"--folder={node.folder}", *self._times, *names]

    def _environment(self, node: Node, seconds: float) -> dict[str, str]:
        found = {
            "PATH": os.environ["PATH"],
            "BATCHSCOPE_STORAGE": f"{self._address}/{node.container}?{signed(node.container, seconds)}",
            BOOT: f"{node.name}-{node.boot}",
        }
        bounds = {Kind.SMALL: {SPOOL: str(SMALL_SPOOL)}, Kind.FULL: {MEMORY: str(SMALL_MEMORY)}}
        return found | bounds.get(node.kind, {})


def _begun_session(pid: int) -> str:
    """Returns the name of a process's session as soon as it has one; empty if it begins none in time."""
    until = time.monotonic() + _START_PATIENCE
    while not (found := session_of(pid)) and time.monotonic() < until:
        time.sleep(_LOOK)
    return found
