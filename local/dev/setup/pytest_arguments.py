"""Finds paths of tests among pytest's arguments. The other arguments belong to pytest; none is changed here.

An option unknown to this module counts as one with a value, so a path behind it may be taken for that value. That is
the safe case: without a path everything is set up, and pytest is expected to run the whole suite.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

SHORT_WITH_VALUE = frozenset("Wckmnopr")
LONG_WITHOUT_VALUE = frozenset(
    {
        *("--cache-clear", "--co", "--collect-only", "--disable-warnings", "--exitfirst", "--failed-first", "--ff"),
        *("--fixtures", "--full-trace", "--last-failed", "--lf", "--markers", "--new-first", "--nf", "--no-header"),
        *("--no-showlocals", "--no-summary", "--pdb", "--quiet", "--runxfail", "--setup-only", "--setup-plan"),
        *("--setup-show", "--showlocals", "--stepwise", "--stepwise-skip", "--strict-markers", "--sw", "--sw-skip"),
        *("--trace", "--verbose"),
    }
)


def named_paths(root: Path, arguments: Sequence[str]) -> list[str]:
    """Returns existing files and folders in or above `tests` named in arguments or node ids, relative to `root`.

    Returns nothing if an argument that is no option is missing, or outside tests: pytest judges it.
    """
    found = []
    for argument in _positional(arguments):
        path = (root / argument.partition("::")[0]).resolve()
        tests = root.resolve() / "tests"
        if not path.exists() or not (path.is_relative_to(tests) or tests.is_relative_to(path)):
            return []
        found.append((path if path.is_relative_to(tests) else tests).relative_to(root.resolve()).as_posix())
    return found


def _positional(arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            yield argument
        elif _takes_next(argument):
            next(rest, None)


def _takes_next(option: str) -> bool:
    """Returns whether the value of an option is the next argument."""
    if option.startswith("--"):
        return "=" not in option and option not in LONG_WITHOUT_VALUE
    letters = option[1:]
    at = next((index for index, letter in enumerate(letters) if letter in SHORT_WITH_VALUE), None)
    return at == len(letters) - 1
