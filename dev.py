#!/usr/bin/env python3
"""The one entry point for people: `python3 dev.py up`, `python3 dev.py test`, and what `--help` lists.

This file only finds the Python that the project needs and starts `local.dev` with it. It keeps to syntax that old
Pythons read (3.6 and later), because saying what is missing is its job; it installs nothing and imports nothing else.
"""

import glob
import os
import platform
import runpy
import subprocess
import sys
import typing

WANTED = (3, 13)
NAME = "%d.%d" % WANTED
REPORT = "import sys; print('%d.%d|%s' % (sys.version_info[0], sys.version_info[1], sys.executable))"
PLACES = (
    "{pyenv}/versions/{name}*/bin/python",
    "{home}/.local/share/uv/python/cpython-{name}*/bin/python{name}",
    "{home}/.local/share/mise/installs/python/{name}*/bin/python{name}",
    "{home}/.asdf/installs/python/{name}*/bin/python{name}",
    "{home}/.local/bin/python{name}",
    "/usr/local/bin/python{name}",
    "/usr/bin/python{name}",
    "/opt/homebrew/bin/python{name}",
    "/Library/Frameworks/Python.framework/Versions/{name}/bin/python{name}",
    "{programs}/Python/Python{bare}/python.exe",
)
ADVICE = {
    "Darwin": ["brew install python@{name}", "uv python install {name}"],
    "Windows": ["winget install Python.Python.{name}", "uv python install {name}"],
    "Linux": [
        "uv python install {name}",
        "pyenv install {name}",
        "sudo apt install python{name} python{name}-venv   (where the distribution has it)",
    ],
}


def output_of(command: typing.List[str]) -> str:
    """What a command prints, or nothing when it is missing, fails or hangs."""
    try:
        answer = subprocess.check_output(command, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.decode("utf-8", "replace").strip()


def confirmed(command: typing.List[str]) -> str:
    """The interpreter behind a command when it runs and is the wanted version, else an empty string."""
    version, _, executable = output_of([*command, "-c", REPORT]).partition("|")
    return executable if version == NAME else ""


def candidates() -> typing.Iterator[typing.List[str]]:
    """Where a wanted Python is usually found, the likeliest first."""
    yield ["python" + NAME]
    if os.name == "nt":
        yield ["py", "-" + NAME]
    found = output_of(["uv", "python", "find", NAME])
    if found:
        yield [found]
    home = os.path.expanduser("~")
    names = {
        "name": NAME,
        "bare": NAME.replace(".", ""),
        "home": home,
        "pyenv": os.environ.get("PYENV_ROOT", os.path.join(home, ".pyenv")),
        "programs": os.path.join(os.environ.get("LOCALAPPDATA", home), "Programs"),
    }
    for place in PLACES:
        for path in sorted(glob.glob(place.format(**names)), reverse=True):
            yield [path]


def start_again() -> int:
    """Run this file with the wanted Python, or say what to install."""
    for command in candidates():
        executable = confirmed(command)
        if executable:
            arguments = [executable, os.path.abspath(__file__), *sys.argv[1:]]
            if os.name == "nt":
                return subprocess.call(arguments)
            os.execv(executable, arguments)
    sys.stderr.write(
        "Batchscope needs Python %s. This is Python %s, and no Python %s was found in the usual places.\n"
        "Install it with one of these, then run the same command again:\n" % (NAME, platform.python_version(), NAME)
    )
    for line in ADVICE.get(platform.system(), ADVICE["Linux"]):
        sys.stderr.write("    " + line.format(name=NAME) + "\n")
    return 1


if __name__ == "__main__":
    if sys.version_info[:2] != WANTED:
        sys.exit(start_again())
    try:
        runpy.run_module("local.dev", run_name="__main__", alter_sys=True)
    except KeyboardInterrupt:
        sys.exit("Stopped.")
