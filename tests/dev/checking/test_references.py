"""References in docs and docstrings: dead ones are found; live ones and other texts are not."""

import re
from pathlib import Path

import pytest

from local.dev.checking.references import EXCEPTIONS, anchors, dead_references
from local.dev.system.checkout import HERE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Creates a checkout with a page, a decision and a module without dead references."""
    write(
        tmp_path,
        "docs/guide.md",
        "# The guide\n\n## How to `poll`, and why\n\n[up](../README.md#top) [here](#the-guide)\n",
    )
    write(tmp_path, "docs/adr/0007-turns.md", "# 7. Turns\n")
    write(tmp_path, "shared/clock.py", '"""The clock (docs/guide.md, ADR 7)."""\n')
    write(tmp_path, "README.md", "# Top\n\n[guide](docs/guide.md#how-to-poll-and-why) `shared/*.py` `shared/`\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_references_that_lead_somewhere_are_not_named(root: Path) -> None:
    assert dead_references(root) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[guide](docs/gone.md)", "there is no file docs/gone.md"),
        ("![chart](docs/chart.svg)", "there is no file docs/chart.svg"),
        ('<img src="docs/chart.svg">', "there is no file docs/chart.svg"),
        ("[guide](docs/guide.md#how-to-pool)", "there is no heading docs/guide.md#how-to-pool"),
        ("[here](#bottom)", "there is no heading #bottom"),
        ("[`poll` and [x]](docs/gone.md)", "there is no file docs/gone.md"),
        ("See `shared/gone.py`.", "there is no shared/gone.py"),
        ("Run `pytest tests/gone.py::test_it -q`.", "there is no tests/gone.py"),
        ("In `shared/gone/` and `shared/*.ts`", "there is no shared/gone/"),
        ("shared/gone.py says so", "there is no shared/gone.py"),
        ("as of ADR 8", "there is no ADR 8"),
        ("docs/adr/0007-other.md", "there is no adr/0007-other"),
    ],
)
def test_a_dead_reference_of_a_page_is_named_with_its_line(root: Path, text: str, words: str) -> None:
    write(root, "README.md", f"# Top\n\nWords.\n{text}\n")
    assert f"README.md:4: {words}" in dead_references(root)


@pytest.mark.parametrize(
    "text",
    [
        "[site](https://example.org/docs/gone.md) [mail](mailto:a@example.org)",
        "```sh\n[guide](docs/gone.md)\n```",
        "`[guide](docs/gone.md)`",
        "a site's https://example.org/docs/gone.md",
        "`GET /docs/x`, `shared.gone`, `x/shared/gone.py`",
        f"`{next(iter(EXCEPTIONS))}`",
    ],
)
def test_addresses_and_examples_are_no_references(root: Path, text: str) -> None:
    write(root, "README.md", f"# Top\n\n{text}\n")
    assert dead_references(root) == []


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ('"""As `shared/gone.py` says."""\n', 1, "there is no shared/gone.py"),
        ('"""A clock.\n\nSource: docs/gone.md."""\n', 3, "there is no docs/gone.md"),
        ('A = 1\n"""By ADR 8."""\n', 2, "there is no ADR 8"),
        ('def a() -> None:\n    """See adr/0009-gone.md."""\n', 2, "there is no adr/0009-gone"),
        ("A = 1  # see shared/gone.py\n", 1, "there is no shared/gone.py"),
    ],
)
def test_a_dead_reference_of_a_docstring_or_comment_is_named_with_its_line(
    root: Path, source: str, line: int, words: str
) -> None:
    write(root, "shared/clock.py", source)
    assert f"shared/clock.py:{line}: {words}" in dead_references(root)


def test_paths_in_code_are_left_to_the_code(root: Path) -> None:
    write(root, "shared/clock.py", 'A = "shared/gone.py"\n')
    assert dead_references(root) == []


def test_anchors_are_those_of_github() -> None:
    page = "# One, two\n## `POLL_SECONDS`: how often?\n## A [link](x.md) & here\n## One two\n```\n# none\n```\n"
    assert anchors(page) == {"one-two", "poll_seconds-how-often", "a-link--here", "one-two-1"}


def test_no_reference_of_this_checkout_is_dead() -> None:
    assert dead_references(HERE.root) == []


def test_numbers_of_decisions_are_there_once_or_named_as_missing() -> None:
    folder = HERE.root / "docs/adr"
    there = [int(path.name[:4]) for path in sorted(folder.glob("0*.md"))]
    (told,) = re.findall(r"Numbers ([\d, and]+) are missing", (folder / "README.md").read_text(encoding="utf-8"))
    missing = [int(number) for number in re.findall(r"\d+", told)]
    assert sorted([*there, *missing]) == list(range(1, max(there) + 1))
