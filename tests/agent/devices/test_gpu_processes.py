"""GPU use by process on a stub of NVML."""

from agent.devices.gpu_processes import GpuProcesses
from agent.devices.gpu_values import GpuUse
from tests.agent.devices.conftest import Stub

MEBI = 1 << 20


def test_use_is_summed_over_gpus_and_samples_are_averaged(stub: Stub) -> None:
    use = GpuProcesses(stub.session())()
    assert len(use) == 300
    assert use[1000] == GpuUse(100 * sum(range(1, 9)) * MEBI, 8 * 30.0)
    assert use[1299] == GpuUse(8 * 300 * MEBI, None)


def test_samples_are_taken_once(stub: Stub) -> None:
    processes = GpuProcesses(stub.session())
    processes()
    assert processes()[1000] == GpuUse(3600 * MEBI, None)


def test_mig_devices_add_up_without_utilization(stub: Stub) -> None:
    stub.put("gpu_count", 1)
    stub.put("mig_gpu", 0)
    assert GpuProcesses(stub.session())()[1000] == GpuUse((101 + 103) * MEBI, None)


def test_an_old_driver_lists_processes_in_its_own_layout(old_stub: Stub) -> None:
    assert GpuProcesses(old_stub.session())() == {77: GpuUse(40, None)}


def test_a_lost_gpu_costs_its_own_share(stub: Stub) -> None:
    processes = GpuProcesses(stub.session())
    processes()
    stub.fail(7, 15)
    assert processes()[1000].memory == 2800 * MEBI


def test_a_driver_that_is_away_means_no_use(stub: Stub) -> None:
    stub.put("session_code", 9)
    assert GpuProcesses(stub.session())() == {}
