"""Names that must survive renaming in the code: lists in `tests/data/names`, one name a line, and comparisons.

A list changes in two cases only: a name was added, or a change of a public or stored name was decided and is in
CHANGELOG.md. It is then edited by hand.
"""

from collections.abc import Iterable

from local.dev.system.checkout import HERE

FOLDER = HERE.root / "tests/data/names"


def pinned(name: str) -> list[str]:
    """Returns the lines of a list."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def assert_pinned(name: str, found: Iterable[str], kind: str) -> None:
    """Fails, naming each line, if the names found differ from a list; `kind` is `public` or `stored`."""
    expected, there = pinned(name), sorted(set(found))
    assert expected == sorted(set(expected)), f"tests/data/names/{name}.txt isn't sorted, or has a line twice"
    gone = [f"this name is {kind}: {line} (it is gone)" for line in expected if line not in there]
    new = [
        f"this name is {kind}: {line} (add it to tests/data/names/{name}.txt)" for line in there if line not in expected
    ]
    assert not gone + new, "\n" + "\n".join(gone + new)


def assert_within(name: str, found: Iterable[str], kind: str) -> None:
    """Fails, naming each line, if names found are missing from a list, which may have more."""
    expected = set(pinned(name))
    unknown = [
        f"this name is {kind}: {line} isn't in tests/data/names/{name}.txt" for line in sorted(set(found) - expected)
    ]
    assert not unknown, "\n" + "\n".join(unknown)
