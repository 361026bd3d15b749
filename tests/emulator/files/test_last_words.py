"""Last words of failures: every kind differs from run to run in details, and from all other kinds."""

import re

import pytest

from local.batch_emulator.contents.last_words import RunIdentity, failure_kinds, last_words
from local.batch_emulator.contents.scripts import Literal, parse_script
from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.state.command_lines import exit_code

_MOMENT = 1_767_600_000 * SECOND
_KINDS = tuple(failure_kinds())


def run(number: int, job: str = "job") -> RunIdentity:
    directory = f"workitems/{job}/job-1/task-{number}"
    return RunIdentity(f"1/demo/{directory}", f"1/demo/{job}", directory, "tvm-1")


def words(kind: str, number: int, job: str = "job") -> str:
    return "".join(last_words(kind, run(number, job), _MOMENT))


def test_there_are_kinds_for_many_sorts_of_programs() -> None:
    assert len(_KINDS) >= 30
    begun = {"python", "java", "r", "mpi", "cuda", "cpp", "fortran", "windows", "powershell", "dotnet", "shell"}
    assert begun <= {kind.partition("-")[0] for kind in _KINDS}


@pytest.mark.parametrize("kind", _KINDS)
def test_runs_of_one_cause_differ_and_the_same_run_says_the_same(kind: str) -> None:
    assert words(kind, 1) == words(kind, 1)
    assert len({words(kind, number) for number in range(20)}) > 5


@pytest.mark.parametrize("kind", _KINDS)
def test_no_placeholder_is_left(kind: str) -> None:
    assert not re.search(r"\{\w+[ }]", words(kind, 1))


@pytest.mark.parametrize("kind", _KINDS)
def test_runs_of_one_cause_are_alike_but_for_numbers_and_paths(kind: str) -> None:
    def shape(number: int) -> str:
        return re.sub(r"[\w.+:-]*\d[\w.+:-]*|_[a-f]{4,6}\b|\b[a-f]{3,12}\b", "#", words(kind, number))

    assert len({shape(number) for number in range(12)}) <= 4


def test_all_runs_of_a_job_miss_the_same_module_and_other_jobs_another() -> None:
    def module(number: int, job: str) -> str:
        return words("python-module-not-found", number, job).rpartition("named ")[2]

    assert len({module(number, "job") for number in range(20)}) == 1
    assert len({module(1, f"job{number}") for number in range(20)}) > 1


@pytest.mark.parametrize("kind", _KINDS)
def test_a_command_line_that_fails_so_has_the_exit_code_of_the_kind(kind: str) -> None:
    code = failure_kinds()[kind].exit_code
    assert code != 0
    assert exit_code(f"/bin/sh -c 'solve --all; sleep 3; emulate failure {kind}'") == code


def test_an_exit_code_of_the_command_line_goes_before_that_of_the_kind() -> None:
    assert exit_code("sh -c 'sleep 1; emulate failure killed; exit 9'") == 9
    assert exit_code("sh -c 'true || emulate failure killed'") == 0


def test_an_unknown_kind_fails_and_says_so() -> None:
    line = "sh -c 'emulate failure typo; echo never'"
    assert exit_code(line) == 2
    said = b"emulate: there is no 'failure typo'; see docs/emulator.md\n"
    assert [step.output for step in parse_script(line).steps] == [Literal(said)]


@pytest.mark.parametrize(
    "wrong", ["emulate", "emulate text", "emulate text many", "emulate log 0", "emulate base64 a", "emulate log 1 x 2"]
)
def test_a_wrong_use_of_the_program_is_reported_on_stderr(wrong: str) -> None:
    (step,) = parse_script(f"sh -c '{wrong}'").steps
    said = f"emulate: there is no '{wrong.removeprefix('emulate').strip()}'; see docs/emulator.md\n"
    assert (step.file, step.output) == ("stderr.txt", Literal(said.encode()))
