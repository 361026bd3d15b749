"""The glossary and the code: faulty entries fail the check, and classes with unknown head nouns are listed."""

from pathlib import Path

import pytest

from local.dev.checking import checks
from local.dev.checking.glossary import MAX_TERMS, PAGE, entries, glossary_faults, head_noun, unknown_nouns
from local.dev.checking.standard_nouns import STANDARD_NOUNS
from local.dev.system.checkout import HERE, Checkout

LEAF = "- **leaf**: some thousand cached tasks.\n  `shared/leaves.py`\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Creates a checkout with two modules and a glossary of one term."""
    write(tmp_path, PAGE, f"# Glossary\n\nWords.\n\n{LEAF}")
    write(tmp_path, "shared/leaves.py", "class Leaf:\n    pass\n")
    write(tmp_path, "functions/jobs.py", "class JobQuery:\n    pass\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add(root: Path, text: str) -> None:
    write(root, PAGE, (root / PAGE).read_text(encoding="utf-8") + text)


def test_a_glossary_whose_owners_exist_has_no_faults(root: Path) -> None:
    assert glossary_faults(root) == []


def test_a_term_whose_module_is_gone_is_a_fault(root: Path) -> None:
    (root / "shared/leaves.py").unlink()
    assert glossary_faults(root) == ["docs/glossary.md:5: leaf belongs to shared/leaves.py, which is gone"]


@pytest.mark.parametrize("text", ["- **head**: totals.\n", "- **head**: totals of `shared/leaves.py` and more.\n"])
def test_an_entry_without_an_owner_is_a_fault(root: Path, text: str) -> None:
    add(root, text)
    assert glossary_faults(root) == [
        "docs/glossary.md:7: head doesn't end with the path of its module, such as `shared/clock.py`"
    ]


def test_an_entry_of_three_lines_is_a_fault(root: Path) -> None:
    add(root, "- **head**: totals,\n  written last.\n  `shared/leaves.py`\n")
    assert glossary_faults(root) == ["docs/glossary.md:7: head takes 3 lines, more than 2"]


def test_a_term_with_two_entries_is_a_fault(root: Path) -> None:
    add(root, LEAF)
    assert glossary_faults(root) == ["docs/glossary.md: leaf has several entries"]


def test_sixty_terms_are_allowed_and_one_more_is_a_fault(root: Path) -> None:
    assert MAX_TERMS == 60
    add(root, "".join(LEAF.replace("leaf", f"leaf {number}") for number in range(59)))
    assert glossary_faults(root) == []
    add(root, LEAF.replace("leaf", "leaf too many"))
    assert glossary_faults(root) == ["docs/glossary.md: 61 terms, more than 60; use standard terms instead of some"]


def test_a_missing_glossary_is_a_fault(root: Path) -> None:
    (root / PAGE).unlink()
    assert glossary_faults(root) == ["docs/glossary.md has no entries"]


def test_a_class_is_listed_if_its_last_word_is_neither_standard_nor_a_term(root: Path) -> None:
    write(root, "shared/stores/held.py", "import os\n\n\nclass Held:\n    pass\n\n\nclass HeldLeaf(Held):\n    pass\n")
    assert unknown_nouns(root) == ["shared/stores/held.py:4: Held"]


@pytest.mark.parametrize("name", ["Leaves", "LeafEntries", "TaskQueries", "JobSeries", "NodeIndices", "_Held"])
def test_plurals_and_private_classes_are_not_listed(root: Path, name: str) -> None:
    add(root, LEAF.replace("**leaf**", "**packed leave**"))  # the last word of a term counts
    write(root, "shared/held.py", f"class {name}:\n    pass\n")
    assert unknown_nouns(root) == []


def test_classes_outside_the_app_and_inside_others_are_not_listed(root: Path) -> None:
    write(root, "local/held.py", "class Held:\n    pass\n")
    write(root, "shared/held.py", "class Job:\n    class Held:\n        pass\n")
    assert unknown_nouns(root) == []


def test_older_words_in_parentheses_are_no_terms(root: Path) -> None:
    add(root, "- **snapshot** (picture): counts.\n  `shared/leaves.py`\n")
    write(root, "shared/pictures.py", "class Picture:\n    pass\n\n\nclass JobSnapshot:\n    pass\n")
    assert unknown_nouns(root) == ["shared/pictures.py:1: Picture"]


@pytest.mark.parametrize(
    ("name", "noun"),
    [("Leaf", "leaf"), ("CsvTable", "table"), ("RequestURL", "url"), ("HTTPError", "error"), ("Sha256Hash", "hash")],
)
def test_the_head_noun_is_the_last_word_of_a_name(name: str, noun: str) -> None:
    assert head_noun(name) == noun


def test_check_fails_for_a_faulty_glossary_and_only_lists_unknown_nouns(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checks, "prepare", lambda *_, **__: None)
    monkeypatch.setattr(checks, "fast_checks", lambda _: [])  # these and the next skip the tools themselves
    monkeypatch.setattr(checks, "_tool", lambda _, title, *__: checks.Check(title, lambda: ""))
    monkeypatch.setattr(checks, "stale_locks", lambda _: [])
    write(root, "shared/held.py", "class Held:\n    pass\n")
    assert checks.check(Checkout(root)) == 0
    assert "\n  shared/held.py:1: Held\n" in capsys.readouterr().out
    (root / "shared/leaves.py").unlink()
    assert checks.check(Checkout(root)) == 1
    assert "leaf belongs to shared/leaves.py, which is gone" in capsys.readouterr().out


def test_standard_nouns_are_in_lower_case_and_each_is_needed_once() -> None:
    assert all(noun.isalpha() and noun.islower() for noun in STANDARD_NOUNS)
    terms = {entry.term for entry in entries((HERE.root / PAGE).read_text(encoding="utf-8"))}
    assert STANDARD_NOUNS.isdisjoint(terms)


def test_the_glossary_of_this_checkout_has_no_faults() -> None:
    assert glossary_faults(HERE.root) == []
    terms = [entry.term.lower() for entry in entries((HERE.root / PAGE).read_text(encoding="utf-8"))]
    assert terms == sorted(terms)
