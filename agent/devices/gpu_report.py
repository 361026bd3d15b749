"""A table of the answers of a real driver: each query to each GPU with its answer or error, and its duration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent.devices.nvidia_queries import OFTEN, RARELY, Query
from agent.devices.nvml_codes import NvmlError
from agent.devices.nvml_session import Gpu, NvmlSession
from agent.machine.clock import Clock


class Answer(NamedTuple):
    """An answer of a GPU; `seconds` is how long it took."""

    gpu: int
    query: str
    answer: str
    seconds: float


def answers(session: NvmlSession, clock: Clock) -> list[Answer]:
    """Returns the answers of all GPUs to all queries. Raises NvmlError where there is no driver."""
    return [_asked(session, clock, gpu, query) for gpu in session.gpus() for query in (*OFTEN, *RARELY)]


def table(found: list[Answer]) -> str:
    """Returns answers as the rows of a Markdown table."""
    return "\n".join(_rows(found)) + "\n"


def _asked(session: NvmlSession, clock: Clock, gpu: Gpu, query: Query) -> Answer:
    start = clock.monotonic()
    try:
        fields = query.read(session.nvml, gpu.handle)
        answer = ", ".join(f"{name}={value}" for name, value in fields.items())
    except NvmlError as error:
        answer = error.name
    return Answer(gpu.number, query.name, answer, clock.monotonic() - start)


def _rows(found: list[Answer]) -> Iterator[str]:
    yield "| GPU | query | answer | ms |"
    yield "| --- | --- | --- | --- |"
    for one in found:
        yield f"| {one.gpu} | {one.query} | {one.answer} | {one.seconds * 1000:.2f} |"
