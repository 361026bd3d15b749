"""The judge beside the agent: the driver's own tool `nvidia-smi`, asked again and again in a thread."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from typing import Any, Callable, Dict, Iterable, Sequence

from local.prove.gpu.smi_fields import FIELDS

Raw = Dict[str, Any]
_FOLDERS = ("/usr/bin", "/usr/local/nvidia/bin", "/usr/lib/wsl/lib", "/run/nvidia/driver/usr/bin")
_SECONDS = 20.0
_FORMAT = "--format=csv,noheader,nounits"
_APPS = ("gpu_uuid", "pid", "used_memory")
_NOT_VALID = re.compile(r'"([^"]+)" is not a valid field')
_PAUSE, _LONG_PAUSE = 1.0, 2.0


class Smi:
    """Records answers of nvidia-smi; each is kept as text too, with the time in seconds since 1970 at which it came."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fields = list(FIELDS)
        self._stop = threading.Event()
        parts = ((_PAUSE, (self._ask_gpus, self._ask_apps)), (_LONG_PAUSE, (self._list, self._ask_processes)))
        self._threads = [threading.Thread(target=self._record, args=part, daemon=True) for part in parts]
        self.found: Raw = {"path": path, "gpus": [], "apps": [], "processes": [], "listings": [], "errors": []}

    def start(self) -> None:
        """Begins to ask, in one thread for figures and one for slow queries."""
        offered = self._answer("--help-query-gpu") or ""
        self._fields = [name for name in FIELDS if not offered or f'"{name}"' in offered]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends after a last listing of everything."""
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * _SECONDS)
        self._list()
        self.found["fields"] = self._fields
        self.found["nvlink"] = [self._answer("nvlink", "-gt", "d"), self._answer("nvlink", "-e")]

    def _record(self, pause: float, questions: Sequence[Callable[[], None]]) -> None:
        while not self._stop.is_set():
            for ask in questions:
                ask()
            self._stop.wait(pause)

    def _ask_gpus(self) -> None:
        begin = time.time()
        text = self._answer(f"--query-gpu={','.join(self._fields)}", _FORMAT) or ""
        unknown = _NOT_VALID.findall(text)
        if unknown:
            self._fields = [field for field in self._fields if field not in unknown]
            self._ask_gpus()
            return
        for values in rows(text, len(self._fields)):
            self.found["gpus"].append({"begin": begin, "time": time.time(), **dict(zip(self._fields, values))})

    def _ask_apps(self) -> None:
        text = self._answer(f"--query-compute-apps={','.join(_APPS)}", _FORMAT)
        if text is not None:
            found = [dict(zip(_APPS, values)) for values in rows(text, len(_APPS))]
            self.found["apps"].append({"time": time.time(), "rows": found})

    def _ask_processes(self) -> None:
        text = self._answer("pmon", "-c", "1", "-s", "um")
        if text is not None:
            self.found["processes"].append({"time": time.time(), "rows": table(text), "text": text})

    def _list(self) -> None:
        text = self._answer("-q", "-x")
        if text is not None:
            self.found["listings"].append({"time": time.time(), "text": text})

    def _answer(self, *arguments: str) -> str | None:
        """Returns the output of nvidia-smi, None where it fails; its complaints are kept."""
        try:
            done = subprocess.run(
                [self._path, *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_SECONDS,
                check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            self._complain(arguments, str(error))
            return None
        if done.returncode:
            self._complain(arguments, done.stdout.strip()[:500])
            return done.stdout if _NOT_VALID.search(done.stdout) else None
        return done.stdout

    def _complain(self, arguments: Sequence[str], text: str) -> None:
        complaint = {"arguments": " ".join(arguments)[:200], "text": text}
        if complaint not in self.found["errors"]:
            self.found["errors"].append(complaint)


def find_smi() -> str | None:
    """Returns the path of nvidia-smi, None where there is none."""
    return shutil.which("nvidia-smi") or shutil.which("nvidia-smi", path=":".join(_FOLDERS))


def rows(text: str, columns: int) -> list[list[str]]:
    """Returns the rows of comma-separated values that have so many columns."""
    found = ([value.strip() for value in line.split(",")] for line in text.splitlines())
    return [values for values in found if len(values) == columns]


def table(text: str) -> list[dict[str, str]]:
    """Returns the rows of a table whose first comment names its columns, as `nvidia-smi pmon` prints it."""
    lines = text.splitlines()
    names = next((line[1:].split() for line in lines if line.startswith("#")), [])
    return [dict(zip(names, line.split())) for line in _data(lines) if names]


def _data(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.strip() and not line.startswith("#")]
