"""Odd ids: mixed case, digits that don't sort as numbers, and two characters that cultures sort differently."""

import random

JOBS = (
    "a",
    "0",
    "Render-Frames",
    "render_frames",
    "RENDERFRAMES",
    "_underscore-first",
    "-Hyphen_first",
    "9-Lives",
    "10-lives",
    "zZ-zz_09",
    "job-with-a-name-of-sixty-four-letters-as-long-as-it-may-ever-be_",
    "Job2",
    "job10",
)
_MARKS = ("", "-", "_", "--", "_-")
_STEMS = ("t", "Task", "TASK", "0", "z9", "x_Y", "-", "_")


def odd_case(name: str, chance: random.Random) -> str:
    """Returns the same id to Batch, sometimes in other letter case."""
    if chance.random() < 0.7:  # noqa: PLR2004 - a share
        return name
    return "".join(chance.choice((letter.lower(), letter.upper())) for letter in name)


def task_id(style: int, number: int, chance: random.Random) -> str:
    """Returns a task id; ids of one style (any whole number) differ by their number, regardless of case."""
    stem, mark = _STEMS[style % len(_STEMS)], _MARKS[style // len(_STEMS) % len(_MARKS)]
    digits = f"{number:06}" if style % 3 == 0 else str(number)
    return odd_case(f"{stem}{mark}{digits}", chance)
