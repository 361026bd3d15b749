"""A session's first records: the agent's own, Batch's variables, and no secret."""

import sys
from pathlib import Path

import pytest

from agent import CONTRACT, VERSION
from agent.machine.machine import Machine
from agent.records.line_protocol import text_of
from agent.startup import session
from agent.startup.session import SessionFacts, startup_records
from agent.startup.task_environment import MAX_VARIABLES, task_environment

SECRET = "9f8e7d6c5b4a"
ENVIRONMENT = {
    "AZ_BATCH_POOL_ID": "render", "AZ_BATCH_NODE_ID": "tvm_1", "AZ_BATCH_JOB_ID": "?sig=" + SECRET,
    "AZ_BATCH_AUTHENTICATION_TOKEN": SECRET, "AZ_BATCH_" + SECRET + "?": SECRET, "HOME": SECRET,
}  # fmt: skip
FACTS = SessionFacts("s1", ["mem", "cpu"], {"gpu": "There is no NVIDIA driver."}, ENVIRONMENT, "x86_64", {})


def test_batchs_variables_have_values_only_where_they_name_something() -> None:
    assert [dict(record.fields) for record in task_environment(ENVIRONMENT)] == [
        {"key": "AZ_BATCH_JOB_ID"},
        {"key": "AZ_BATCH_NODE_ID", "value": "tvm_1"},
        {"key": "AZ_BATCH_POOL_ID", "value": "render"},
        {"key": "AZ_BATCH_AUTHENTICATION_TOKEN"},
    ]


def test_many_variables_are_cut_and_names_of_the_node_stay() -> None:
    found = list(task_environment({"AZ_BATCH_POOL_ID": "p", **{f"AZ_BATCH_A{n}": "x" for n in range(200)}}))
    assert len(found) == MAX_VARIABLES
    assert found[0].fields["value"] == "p"


def test_the_first_record_is_the_agents(tmp_path: Path) -> None:
    found = startup_records(Machine(str(tmp_path)), FACTS, 7)
    assert found[0].measurement == "batchscope_agent"
    assert found[0].tags == {"vm_monitor_collection": "once"}
    assert found[0].fields == {
        "contract": CONTRACT, "version": VERSION, "session": "s1", "collectors": "cpu mem",
        "python": "{}.{}.{}".format(*sys.version_info[:3]), "notes": "gpu: There is no NVIDIA driver.",
    }  # fmt: skip


def test_batchs_variables_keep_their_names_through_redaction(tmp_path: Path) -> None:
    found = [
        record.fields
        for record in startup_records(Machine(str(tmp_path)), FACTS, 7)
        if record.measurement == "task_env"
    ]
    assert {"key": "AZ_BATCH_POOL_ID", "value": "render"} in found


def test_a_long_id_of_a_job_is_no_secret(tmp_path: Path) -> None:
    job = "RenderJob20240101SceneFourShotTwelveVersion7"
    found = startup_records(Machine(str(tmp_path)), FACTS._replace(environment={"AZ_BATCH_JOB_ID": job}), 7)
    assert found[1].fields == {"key": "AZ_BATCH_JOB_ID", "value": job}


def test_no_secret_leaves_the_node(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text(f"PRETTY_NAME=x?sig={SECRET}\n")
    facts = FACTS._replace(instance={"compute": {"vmSize": f"password={SECRET}"}}, notes={"x": f"AccountKey={SECRET}"})
    assert SECRET not in text_of(startup_records(Machine(str(tmp_path)), facts, 7), 7)


def test_a_source_that_fails_costs_only_its_own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> list[object]:
        raise ValueError(SECRET)

    monkeypatch.setattr(session, "disk_records", broken)
    found = startup_records(Machine(str(tmp_path)), FACTS, 7)
    assert "disks: The facts can't be read: ValueError." in str(found[0].fields["notes"])
    assert {"batch_vm_info", "batchscope_kernel"} <= {record.measurement for record in found}
