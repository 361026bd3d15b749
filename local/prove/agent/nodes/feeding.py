"""Feeds numbered lines, and events now and then, to agents that take them, as Telegraf would."""

import time
from collections.abc import Iterable

from local.prove.agent.judging.lives import ProcessLife
from local.prove.agent.nodes.node import Node
from local.prove.agent.nodes.spool_watch import SpoolWatch

_EVERY = 0.1  # seconds between lines
_AN_EVENT = 20  # lines


class LineFeeder:
    """Writes a line every tenth of a second to each process that takes lines, once it has begun its session."""

    def __init__(self, nodes: Iterable[Node], watch: SpoolWatch) -> None:
        self._nodes, self._watch = tuple(nodes), watch
        self._due = time.monotonic()

    def step(self) -> None:
        """Writes the lines that are due."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _EVERY
        for node in self._nodes:
            for life in node.alive:
                if life.command == "append" and (life.fed or self._watch.has_session(node.name, life.pid)):
                    _feed(node, life)


def _feed(node: Node, life: ProcessLife) -> None:
    stdin = node.children[life.pid].stdin
    if stdin is None:
        return
    number = len(life.fed)
    life.fed.append(time.time_ns())
    lines = [life.line(number), *([] if number % _AN_EVENT else [life.event(number)])]
    try:
        written = stdin.write("".join(f"{line}\n" for line in lines).encode())
        stdin.flush()
    except OSError:
        written = None
    if not written:
        life.fed.pop()
