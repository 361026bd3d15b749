"""The next data of an agent and its units: ways of writing, independent of blobs."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from local.prove.ingest import forms
from local.prove.ingest.book import BlobLife, Unit
from local.prove.ingest.forms import Form, Packed
from local.prove.ingest.samples import SECOND, Agent, Sample

POOL = "pool"
_INTERVALS = (1, 25)  # of five seconds, per batch
_BATCHES = (1, 3)  # per append
_BAD = 0.06  # share of units
_MAX_BAD = 60  # per blob, as at most a hundred rejects are kept
_TASKS = tuple({"job_id": "job", "task_id": task} for task in ("a", "b"))
_ATTEMPTS = tuple({"job_id": "job", "task_id": "c", "task_attempt": attempt} for attempt in ("1", "2"))
_ONCE = {"vm_monitor_collection": "once"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An agent's way of writing: its formats and its other behaviour.

    It `rolls` from a sealed blob to the next, re-creates its blob (`is_remade`), restarts on the next of its `nodes`
    (`is_retried`), or writes for all of them together (`is_shared`); it has long pauses (`is_quiet`). With `nodes`,
    records name their node; otherwise the blob's name does.
    """

    name: str
    forms: tuple[Form, ...]
    nodes: tuple[str, ...] = ()
    bad: bool = False
    rolls: bool = False
    is_remade: bool = False
    is_retried: bool = False
    is_shared: bool = False
    is_quiet: bool = False
    runs: tuple[Mapping[str, str], ...] = ({},)

    def blob(self, number: int) -> str:
        """Returns the blob's name, which reveals nothing about the content's format."""
        folder = f"runs/{self.name}" if self.nodes else f"accounts/demo/pools/{POOL}/nodes/{self.name}"
        return f"{folder}/1/vm_perf_metrics.{number if self.rolls else 0}.json"


PLANS = (
    Plan(name="tes", forms=(forms.tes,), bad=True, rolls=True),
    Plan(name="tes-remade", forms=(forms.tes,), is_remade=True),
    Plan(name="tes-retried", forms=(forms.tes,), nodes=("tried-1", "tried-2", "tried-3"), is_retried=True),
    Plan(name="gzip", forms=(forms.gzipped,), bad=True, rolls=True),
    Plan(name="zlib", forms=(forms.deflated,), bad=True, is_quiet=True),
    Plan(name="json", forms=(forms.batches,), bad=True),
    Plan(name="json-remade", forms=(forms.batches,), is_remade=True),
    Plan(name="json-lines", forms=(forms.records,), bad=True, rolls=True),
    Plan(name="influx", forms=(forms.influx,), bad=True, rolls=True),
    Plan(name="influx-quiet", forms=(forms.influx,), is_quiet=True),
    Plan(name="influx-shared", forms=(forms.influx,), nodes=("shared-1", "shared-2", "shared-3"), is_shared=True),
    Plan(name="mixed", forms=(forms.tes, forms.influx, forms.batches), bad=True),
    Plan(name="two-tasks", forms=(forms.tes, forms.influx), runs=_TASKS),
    Plan(name="two-attempts", forms=(forms.batches,), runs=_ATTEMPTS),
)


class SimulatedAgent:
    """The agent: measures from `begin` (nanoseconds since 1970) and writes into one life after another."""

    def __init__(self, plan: Plan, chance: random.Random, begin: int) -> None:
        self.plan, self._chance = plan, chance
        self._session = 0
        is_whole, agents = forms.records in plan.forms, len(plan.nodes) if plan.is_shared else len(plan.runs)
        self._agents = [Agent(chance, begin + each * SECOND, whole_seconds=is_whole) for each in range(agents)]
        self._opens = plan.is_retried

    @property
    def _node(self) -> str:
        nodes = self.plan.nodes
        return nodes[self._session % len(nodes)] if nodes else self.plan.name

    def start_anew(self) -> None:
        """Restarts the agent, on the next node."""
        self._session += 1
        self._opens = True

    def written(self, life: BlobLife, at: int) -> bytes:
        """Returns some units that begin at offset `at` of a life; the last one is readable."""
        content = b""
        for _ in range(self._chance.randint(*_BATCHES)):
            form = self._chance.choice(self.plan.forms)
            for packed, samples in self._packed(form, life):
                if self.plan.bad and self._is_bad(life):
                    content += self._noted(
                        life, at + len(content), (forms.damaged(form, packed, self._chance), ()), is_bad=True
                    )
                content += self._noted(life, at + len(content), (packed, samples))
        return content

    def end(self, life: BlobLife, at: int) -> bytes:
        """Returns the end of a blob before it is sealed: a line without line end, or half a unit."""
        form = self.plan.forms[0]
        packed, samples = self._packed(form, life)[-1]
        if form in (forms.tes, forms.gzipped):
            return self._noted(life, at, (packed[: len(packed) // 2], ()), is_bad=True)
        return self._noted(life, at, (packed.rstrip(b"\n"), samples))

    def _packed(self, form: Form, life: BlobLife) -> list[Packed]:
        samples = [one for _ in range(self._chance.randint(*_INTERVALS)) for one in self._measured(life)]
        found = form(samples)
        if self._opens:
            self._opens = False
            return [*form(self._environment(samples[0].at)), *found]
        return found

    def _measured(self, life: BlobLife) -> Iterator[Sample]:
        number = life.number if self.plan.is_remade else None
        nodes = self.plan.nodes if self.plan.is_shared else ()
        runs = [{"node_id": node, "pool_id": POOL} for node in nodes] or self.plan.runs
        together = zip(runs, self._agents, strict=True)
        return (one for tags, agent in together for one in agent.interval(tags, life=number))

    def _environment(self, at: int) -> Sequence[Sample]:
        environment = {"AZ_BATCH_POOL_ID": POOL, "AZ_BATCH_NODE_ID": self._node}
        return [Sample("task_env", _ONCE, {"key": name, "value": value}, at) for name, value in environment.items()]

    def _is_bad(self, life: BlobLife) -> bool:
        share = _BAD / 10 if forms.records in self.plan.forms or forms.influx in self.plan.forms else _BAD
        return self._chance.random() < share and sum(unit.is_bad for unit in life.units) < _MAX_BAD

    def _noted(self, life: BlobLife, at: int, packed: Packed, *, is_bad: bool = False) -> bytes:
        content, samples = packed
        life.units.append(Unit(at, self._node, self._session, samples, is_bad))
        return content
