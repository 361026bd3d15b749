"""A session with the NVIDIA driver that survives its reload, and the GPUs that it knows."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from agent.devices.nvml import Handle, Nvml
from agent.devices.nvml_codes import NvmlError

MAX_GPUS = 64
_CALLS_BETWEEN_REFRESHES = 30
_CALLS_BETWEEN_ATTEMPTS = 6
_ARCHITECTURES = {
    2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada Lovelace", 9: "Hopper",
    10: "Blackwell", 13: "Rubin",
}  # fmt: skip


class Gpu(NamedTuple):
    """A GPU that answers; `number` is the driver's index of it, `tags` are Telegraf's: index, name, uuid, arch."""

    number: int
    handle: Handle
    tags: dict[str, str]


class NvmlSession:
    """Shares one session among all that ask NVML. `generation` grows whenever handles and abilities are read anew."""

    def __init__(self, nvml: Nvml) -> None:
        self.nvml = nvml
        self.generation = 0
        self.unreachable: dict[int, NvmlError] = {}
        """GPUs that the driver counts but doesn't hand out, by index."""
        self._is_open = False
        self._gpus: tuple[Gpu, ...] = ()
        self._calls_left = 0
        self._error: NvmlError | None = None

    def gpus(self) -> tuple[Gpu, ...]:
        """Returns the GPUs that answer, read anew every 30 calls. Raises NvmlError while the driver is away."""
        if self._calls_left <= 0:
            self._refresh()
        self._calls_left -= 1
        if self._error:
            raise self._error
        return self._gpus

    def report(self, error: NvmlError) -> None:
        """Takes note of an error; one that voids all handles ends the session; the next call begins another."""
        if error.ends_session:
            self.close()

    def close(self) -> None:
        """Ends the session with the driver."""
        if self._is_open:
            with suppress(NvmlError):
                self.nvml.close()
        self._is_open, self._gpus, self._calls_left = False, (), 0

    def _refresh(self) -> None:
        self._error, self._calls_left = None, _CALLS_BETWEEN_REFRESHES
        self.generation += 1
        try:
            if not self._is_open:
                self.nvml.open()
                self._is_open = True
            self._gpus = tuple(self._read())
        except NvmlError as error:
            self.close()
            self._error, self._calls_left = error, _CALLS_BETWEEN_ATTEMPTS

    def _read(self) -> list[Gpu]:
        found, self.unreachable = [], {}
        for index in range(min(self.nvml.count(), MAX_GPUS)):
            try:
                handle = self.nvml.handle(index)
                found.append(Gpu(index, handle, {"index": str(index), **_description(self.nvml, handle)}))
            except NvmlError as error:
                if error.ends_session:
                    raise
                self.unreachable[index] = error
        return found


def _description(nvml: Nvml, handle: Handle) -> dict[str, str]:
    """Returns a GPU's name, UUID and architecture, as far as it has them."""
    found = {}
    for tag, function in (("name", "Name"), ("uuid", "UUID")):
        with suppress(NvmlError):
            found[tag] = nvml.text(function, handle)
    with suppress(NvmlError):
        found["arch"] = _ARCHITECTURES.get(nvml.number("Architecture", handle), "")
    return found
