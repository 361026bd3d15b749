"""The state machine again, stored in a directory: the store is complete after every step, and restarts restore it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tests.emulator.keeping.keeping import Kept, everything
from tests.emulator.simulation.test_machine import Machine


class KeptMachine(Machine):
    direct: Kept

    def __init__(self) -> None:
        super().__init__()
        self.directory = TemporaryDirectory()

    @initialize(seed=st.integers(0, 1000), nodes=st.integers(1, 3), spot=st.integers(0, 2))
    def begin(self, seed: int, nodes: int, spot: int) -> None:
        self.direct = Kept(Path(self.directory.name), seed)
        pool = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": nodes, "taskSlotsPerNode": 2}
        side = {"commandLine": "sleep 3"}
        assert self.direct.call("POST", "/pools", {**pool, "targetLowPriorityNodes": spot})[0] == 201
        body = {"id": "one", "poolInfo": {"poolId": "pool"}, "usesTaskDependencies": True}
        body |= {"jobPreparationTask": side, "jobReleaseTask": side}
        assert self.direct.call("POST", "/jobs", body)[0] == 201
        self.made["one"] = set()
        self.direct.advance(100)

    @rule()
    def restart(self) -> None:
        self.direct.flush()
        self.direct.restart()

    @invariant()
    def the_store_holds_all_there_is(self) -> None:
        if not hasattr(self, "direct"):
            return
        self.direct.flush()
        stored = {row for row in self.direct.stored() if row[2] != "satisfied"}
        there = everything(self.direct.emulator)
        assert stored - there == set()
        assert there - stored == set()
        for job in self.direct.emulator.simulations["demo"].account.jobs.values():
            rows = self.direct.store.rows(job.number)
            assert job.dependencies._satisfied == {row.split('"')[1] for _, kind, row in rows if kind == "satisfied"}

    def teardown(self) -> None:
        if hasattr(self, "direct"):
            self.direct.store.close()
        self.directory.cleanup()


TestKeptMachine = KeptMachine.TestCase
TestKeptMachine.settings = settings(
    max_examples=settings().max_examples * 2 // 5, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
