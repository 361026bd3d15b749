"""Nodes of VM sizes that the file lacks: their GPUs and disks are unknown, though agents report their memory."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.offers import GIB, advised_nodes
from shared.domain.findings.finding import Finding
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import evidence, run

MAY_HAVE_GPUS, WITHOUT_GPUS = "standard_nc8as_t9_v9", "standard_d8ds_v9"
DISKS = {node.vm_size: node.has_local_disk for node in advised_nodes()}


def only(runs: Sequence[MeasuredAttempt], size: str, memory: int, slots: int = 1) -> Finding:
    """Returns the finding on a job on nodes that reported so many GiB."""
    e = evidence(runs, size=size, slots=slots)
    (one,) = efficiency_findings(replace(e, offer=replace(e.offer, node=e.offer.node.with_memory(memory * GIB))))
    return one


def test_no_size_without_gpus_is_advised_for_more_memory_where_nodes_may_have_some() -> None:
    near = [run(at, cores=1.0, memory=13.5) for at in range(30)]
    found = only(near, MAY_HAVE_GPUS, 56, slots=4)
    assert (found.rule, found.evidence["sufficientSize"]) == ("memoryNearLimit", None)
    assert "A node of" not in found.advice
    other = only(near, WITHOUT_GPUS, 56, slots=4)
    assert DISKS[str(other.evidence["sufficientSize"])]


@pytest.mark.parametrize("size", [MAY_HAVE_GPUS, WITHOUT_GPUS])
def test_nothing_is_said_of_unknown_disks(size: str) -> None:
    waiting = [run(at, cores=0.1, memory=13.0, disk=200.0) for at in range(30)]
    found = only(waiting, size, 64)
    assert (found.rule, found.advice) == (
        "waitsForDisk",
        "Read inputs once, in large blocks; more tasks at once would share the same disks.",
    )


def test_a_smaller_size_than_one_of_unknown_disks_has_a_local_disk() -> None:
    found = only([run(at, cores=3.6, memory=14.0) for at in range(30)], WITHOUT_GPUS, 32)
    assert found.evidence["sufficientSize"] == "standard_e4ds_v6"
