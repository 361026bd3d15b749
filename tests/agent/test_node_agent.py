"""The agent's one sample without any upload."""

from pathlib import Path

from agent.node_agent import NodeAgent
from agent.settings import settings_of
from tests.agent.fake_node import SteppedClock, fake_node


def test_a_collector_that_fails_costs_a_sample_only_its_own_records(tmp_path: Path) -> None:
    options = {"storage": "http://127.0.0.1:9/x", "account": "a", "pool": "p", "node": "n", "folder": str(tmp_path)}
    log: list[str] = []
    machine = fake_node(tmp_path)
    agent = NodeAgent(
        settings_of({**options, "imds": "http://127.0.0.1:9"}, {}), {}, machine, SteppedClock(), log.append
    )
    (tmp_path / "proc/meminfo").unlink()
    lines = agent.sample(10.0)
    agent.close()
    assert "\nsystem load1=0.5" in lines
    assert [message.partition(":")[0] for message in log] == ["The collector memory failed"] * 2
