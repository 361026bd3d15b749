"""The user who isn't root, as whom Batch runs most tasks."""

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.dev.system.console import Failure

_CHECK = "import sys; sys.exit(sys.version_info < (3, 8))"


@dataclass(frozen=True, slots=True)
class User:
    """A user and a Python that this user can start; `is_other` says that it isn't this process's own user."""

    uid: int
    gid: int
    is_other: bool
    python: str = sys.executable

    def popen_options(self) -> dict[str, Any]:
        """Returns the options with which subprocess starts a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": ()} if self.is_other else {}

    def give(self, folder: Path) -> None:
        """Gives a folder to this user."""
        os.chown(folder, self.uid, self.gid)


def plain_user() -> User:
    """Returns nobody where this process is root's, else this process's own user. Raises Failure without a Python."""
    if os.geteuid() != 0:
        return User(os.geteuid(), os.getegid(), is_other=False)
    nobody = pwd.getpwnam("nobody")
    user = User(nobody.pw_uid, nobody.pw_gid, is_other=True)
    for python in (os.path.realpath(sys.executable), *_pythons()):
        if _can_start(user, python):
            return User(user.uid, user.gid, is_other=True, python=python)
    raise Failure("No Python from 3.8 on can be started by the user nobody: install the system's python3.")


def _pythons() -> list[str]:
    names = ("python3", *(f"python3.{minor}" for minor in range(14, 7, -1)))
    found = [shutil.which(name, path="/usr/local/bin:/usr/bin") for name in names]
    return [path for path in found if path]


def _can_start(user: User, python: str) -> bool:
    try:
        done = subprocess.run(
            (python, "-c", _CHECK), cwd="/", check=False, stderr=subprocess.DEVNULL, **user.popen_options()
        )
    except OSError:
        return False
    return done.returncode == 0
