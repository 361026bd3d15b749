"""Planted breakages, each one edit of one file: the rules and the checker must notice them.

They are of many kinds on purpose, and no rule is written for one of them. Some say one thing more, so that nothing that
was there looks wrong; some show only with two of something: accounts in a group, environments, writers, roles, hosts.
The table `tests/data/infra/breakages.txt` has one in a line.
"""

from collections.abc import Iterator

from local.dev.system.checkout import HERE
from tests.infra.breakages.planting import Breakage

TABLE = HERE.root / "tests/data/infra/breakages.txt"


def _read(lines: list[str]) -> Iterator[Breakage]:
    file = ""
    for line in lines:
        if line.startswith("["):
            file = line[1:-1]
        elif line and not line.startswith("#"):
            name, old, new = (part.replace("⏎", "\n").replace("␠", " ") for part in line.split(" ¦ "))
            mark, name = (name[0], name[2:]) if name[:2] in {"* ", "! "} else ("", name)
            new = new.replace("∅", "").replace("…", old)
            yield Breakage(name, file, old, new, always=mark == "*", unsafe=mark == "!")


BREAKAGES = tuple(_read(TABLE.read_text(encoding="utf-8").splitlines()))
