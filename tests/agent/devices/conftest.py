"""The stub library, compiled once a run, and a session with it whose settings begin anew for each test."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.devices.nvml import Nvml
from agent.devices.nvml_session import NvmlSession
from tests.agent.devices.nvml_stub import SOURCE


class Stub:
    """A compiled library; the test sets its answers."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._library = ctypes.CDLL(self.path)
        self.reset()

    def reset(self) -> None:
        for gpu in range(8):
            self.fail(gpu, 0)
        for name, value in (("session_code", 0), ("mig_gpu", -1), ("calls", 0), ("gpu_count", 8), ("sessions", 0)):
            self.put(name, value)

    def fail(self, gpu: int, code: int) -> None:
        (ctypes.c_int * 8).in_dll(self._library, "codes")[gpu] = code

    def put(self, name: str, value: int) -> None:
        ctypes.c_int.in_dll(self._library, name).value = value

    def read(self, name: str) -> int:
        return ctypes.c_int.in_dll(self._library, name).value

    def session(self) -> NvmlSession:
        return NvmlSession(Nvml([self.path]))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stub]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler (cc or gcc) builds the stub of NVML here")
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "nvml.c").write_text(SOURCE)
    stubs = {}
    for name, options in (("new", []), ("old", ["-DOLD"])):
        path = folder / f"{name}.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", *options, "-o", path, folder / "nvml.c"], check=True)
        stubs[name] = Stub(path)
    return stubs


@pytest.fixture
def stub(compiled: dict[str, Stub]) -> Iterator[Stub]:
    compiled["new"].reset()
    yield compiled["new"]
    compiled["new"].reset()


@pytest.fixture
def old_stub(compiled: dict[str, Stub]) -> Iterator[Stub]:
    compiled["old"].reset()
    yield compiled["old"]
    compiled["old"].reset()
