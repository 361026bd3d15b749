"""What a command line would do: the emulator understands `sleep N` and `exit N` in it, and invents the rest, seeded."""

import random
import re
from dataclasses import dataclass

_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_EXIT = re.compile(r"\bexit\s+(-?\d+)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How long it runs (unshortened seconds), and how it exits."""

    seconds: float
    exit_code: int


def outcome_of(command_line: str, chance: random.Random) -> Outcome:
    sleeps = _SLEEP.findall(command_line)
    found = _EXIT.search(command_line)
    seconds = sum(map(float, sleeps)) if sleeps else chance.uniform(5, 60)
    return Outcome(seconds, int(found[1]) if found else 0)
