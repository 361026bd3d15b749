"""The app in a separate process, with any settings: a process can run one app, and only once.

As a program it runs the app in the current folder: it reads requests from standard input, a JSON list a line, and
writes answers in the same way.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from local.dev.packaging.agent_file import AGENT_FILE, write_agent
from local.dev.system.checkout import HERE
from local.functions_host.in_process import InProcessApp

PAGE = "<!doctype html><script type=module src=/assets/index.js></script>"
SECRET = "what-nobody-may-see"
_TIMER = "TIMER"  # in place of a method: the address is a timer function's name


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; `url` is a whole address."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to a request; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


def copy_app(folder: Path) -> Path:
    """Copies the deployed parts, with a small dashboard in place of the built one, and secrets beside them.

    Bytecode is copied too, with the times of its sources: an app without it takes half a second more to start.
    """
    app = folder / "app"
    for name in ("functions", "shared"):
        shutil.copytree(HERE.root / name, app / name, ignore=shutil.ignore_patterns("*.pyc.*"))  # being written
    for name in ("function_app.py", "host.json"):
        shutil.copy(HERE.root / name, app / name)
    (app / "web/dist/assets").mkdir(parents=True)
    (app / "web/dist/index.html").write_text(PAGE)
    (app / "web/dist/assets/index.js").write_text("1")
    write_agent(HERE.root, app / AGENT_FILE)
    (app / "web/secret.txt").write_text(SECRET)
    (app / "local.settings.json").write_text(SECRET)
    return app


class SeparateApp:
    """Runs the app: `with SeparateApp(folder, settings) as app`; its environment contains only `settings`."""

    def __init__(self, app: Path, settings: Mapping[str, str]) -> None:
        self._app, self._settings = app, settings

    def __enter__(self) -> Self:
        environment = {**self._settings, "PYTHONPATH": str(HERE.root), "PATH": os.environ["PATH"]}
        command = [sys.executable, str(Path(__file__).resolve())]
        self._child = subprocess.Popen(
            command, cwd=self._app, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.functions: dict[str, dict[str, Any]] = json.loads(self._line())
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=30)

    def ask(self, asked: Sequence[Ask]) -> list[Said]:
        assert self._child.stdin is not None
        requests = [[one.method, one.url, dict(one.headers), one.body] for one in asked]
        self._child.stdin.write(json.dumps(requests) + "\n")
        self._child.stdin.flush()
        return [Said(*answer) for answer in json.loads(self._line())]

    def fire(self, timer: str) -> None:
        """Runs a timer function."""
        self.ask([Ask(_TIMER, timer, {})])

    def _line(self) -> str:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        assert line, "the app ended; see what it wrote to its standard error"
        return line


async def _serve() -> None:
    async with InProcessApp(Path.cwd(), os.environ) as app:
        found = {
            name: {"route": function.trigger.options["route"], "methods": function.trigger.options.get("methods") or []}
            for name, function in app.functions.items()
            if function.trigger.kind == "httpTrigger"
        }
        print(json.dumps(found), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            answers = []
            for method, url, headers, body in json.loads(line):
                if method == _TIMER:
                    await app.fire(url)
                    answers.append([200, {}, ""])
                    continue
                reply = await app.request(method, url, headers=headers, body=body.encode())
                shown = {name.lower(): value for name, value in dict(reply.headers).items()}
                answers.append([int(reply.status), shown, (reply.body or b"").decode()])
            print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    sys.path.pop(0)  # this file's own folder
    asyncio.run(_serve())
