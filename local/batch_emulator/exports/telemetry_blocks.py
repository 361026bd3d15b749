"""Packs samples into blocks as a TES node appends them: one flush, one zstd frame, at most a thousand records.

A session begins with its startup records and first samples, flushed immediately; then every four samples make a block.
A preempted or broken node loses unflushed samples; any other flushes at its end. Pure, for use on a separate thread.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeGuard

import orjson
import zstandard

from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import AgentSession
from local.batch_emulator.telemetry.node_meter import Meter, records_of
from local.batch_emulator.telemetry.samplers import EndedSession, NodeSample
from local.batch_emulator.telemetry.startup_records import startup_records
from local.batch_emulator.telemetry.task_meter import TaskMeter

_SAMPLES_PER_BLOCK = 4
_MAX_RECORDS = 1_000
_MAX_ENDED_RUNS = 600  # in a blob, as of the node agent: readers keep so many apart
_MIN_EXPONENT_VALUE = 1 << 53
_ESCAPED = ((b"&", rb"\u0026"), (b"<", rb"\u003c"), (b">", rb"\u003e"))


@dataclass(frozen=True, slots=True)
class Block:
    """One flush of a session, with its records; with `begins_blob` it is the first of another blob."""

    session: AgentSession
    folder: str
    frame: bytes
    records: tuple[Json, ...]
    begins_blob: bool = False


@dataclass(slots=True)
class _Agent:
    session: AgentSession
    meter: Meter
    tasks: TaskMeter
    unsent: list[Json] = field(default_factory=list)
    samples: int = 0
    ended_runs: int = 0


class BlockBuilder:
    """Builds the blocks of one account's agents."""

    def __init__(self, account: str, seed: str, period: float) -> None:
        self._account = account
        self._seed = f"{seed}/{account}/telemetry"
        self._period = period
        self._agents: dict[str, _Agent] = {}
        self._compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)

    def build(self, samples: Iterable[NodeSample | EndedSession]) -> list[Block]:
        """Returns the blocks that are due, in the order of each node's time."""
        return [block for sample in samples for block in self._blocks(sample)]

    def close(self) -> list[Block]:
        """Stops all agents and returns their last blocks."""
        blocks = [block for agent in self._agents.values() for block in self._flush(agent)]
        self._agents.clear()
        return blocks

    def _blocks(self, sample: NodeSample | EndedSession) -> Iterator[Block]:
        if isinstance(sample, EndedSession):
            agent = self._agents.pop(sample.session.node, None)
            if agent and not sample.is_abrupt:
                yield from self._flush(agent)
            return
        session = sample.session
        agent = self._agents.get(session.node)
        if agent is None or agent.session is not session:
            agent = self._agents[session.node] = _Agent(
                session, Meter(self._seed, self._period), TaskMeter(self._seed, self._period)
            )
            yield self._startup_block(sample)
        ended = records_of(agent.tasks.read(sample), sample)
        agent.ended_runs += len(ended)
        if agent.ended_runs > _MAX_ENDED_RUNS:
            yield from self._flush(agent)
            yield replace(self._startup_block(sample), begins_blob=True)
            agent.ended_runs = len(ended)
        agent.unsent += [*agent.meter.read(sample), *ended]
        agent.samples += 1
        if agent.samples % _SAMPLES_PER_BLOCK == 1 or len(agent.unsent) >= _MAX_RECORDS:
            yield from self._flush(agent)

    def _flush(self, agent: _Agent) -> Iterator[Block]:
        while agent.unsent:
            yield self._block(agent.session, agent.unsent[:_MAX_RECORDS])
            del agent.unsent[:_MAX_RECORDS]

    def _startup_block(self, sample: NodeSample) -> Block:
        session = sample.session
        return self._block(session, startup_records(self._account, sample, self._seed, self._folder(session)))

    def _block(self, session: AgentSession, records: list[Json]) -> Block:
        return Block(session, self._folder(session), self._compressor.compress(encode_batch(records)), tuple(records))

    def _folder(self, session: AgentSession) -> str:
        return f"accounts/{self._account}/pools/{session.pool}/nodes/{session.node}"


def encode_batch(records: Iterable[Json]) -> bytes:
    """Returns a batch as TES's Telegraf writes it: sorted names, whole numbers without a point, a line end."""
    converted = [{**record, "fields": _whole(record["fields"])} for record in records]
    text = orjson.dumps({"metrics": converted}, option=orjson.OPT_SORT_KEYS)
    for character, escaped in _ESCAPED:
        text = text.replace(character, escaped)
    return text + b"\n"


def _whole(fields: Mapping[str, object]) -> Json:
    return {name: int(value) if _is_whole(value) else value for name, value in fields.items()}


def _is_whole(value: object) -> TypeGuard[float]:
    """Returns whether a number is written without a point; larger ones have an exponent."""
    return isinstance(value, float) and value.is_integer() and abs(value) < _MIN_EXPONENT_VALUE
