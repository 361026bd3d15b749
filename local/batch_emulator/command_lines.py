"""What a command line would do. `sleep N` and `exit N` in it are understood; anything else is invented, seeded."""

import random
import re
from dataclasses import dataclass

_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_EXIT = re.compile(r"\bexit\s+(-?\d+)")
_INVENTED_SECONDS = (5.0, 60.0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How long it runs, in seconds before the speed shortens them, and how it exits."""

    seconds: float
    exit_code: int


def outcome_of(command_line: str, chance: random.Random) -> Outcome:
    sleeps, exits = _SLEEP.findall(command_line), _EXIT.findall(command_line)
    seconds = sum(map(float, sleeps)) if sleeps else chance.uniform(*_INVENTED_SECONDS)
    return Outcome(seconds, int(exits[-1]) if exits else 0)
