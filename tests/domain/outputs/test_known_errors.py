"""Well-known last words: each entry is complete, found by its pattern, and gives way to what the output says."""

import re

import pytest

from shared.domain.outputs.excerpts import ErrorExcerpt, error_excerpt
from shared.domain.outputs.exit_codes import exit_code_words, signal_of
from shared.domain.outputs.known_errors import known_error, known_error_of, known_errors
from shared.domain.tasks.failure_categories import CATEGORIES

NOTHING = ErrorExcerpt("done", "done", ("done",))


def test_entries_are_complete_and_their_ids_unique() -> None:
    assert len({one.id for one in known_errors()}) == len(known_errors()) >= 30
    for one in known_errors():
        assert one.category in CATEGORIES
        assert re.fullmatch(r"https://\S+", one.source), one.id
        assert one.sentence.endswith("."), one.id
        assert one.advice.endswith("."), one.id
        assert known_error_of(one.id) == one
    assert known_error_of("none") is None


@pytest.mark.parametrize(
    ("code", "id_"),
    [(137, "killed"), (-9, "killed"), (139, "segmentation-fault"), (-1073741819, "segmentation-fault"),
     (143, "terminated"), (-1073741515, "dll-missing"), (127, "command-missing"), (126, "permission-denied"),
     (124, "time-limit")],
)  # fmt: skip
def test_exit_codes_decide_where_the_output_says_nothing(code: int, id_: str) -> None:
    found = known_error(NOTHING, code)
    assert found is not None
    assert found.id == id_


def test_the_output_decides_before_the_exit_code() -> None:
    found = known_error(error_excerpt("cp: error writing 'x': No space left on device\n"), 137)
    assert found is not None
    assert found.id == "disk-full"


def test_unknown_words_and_codes_have_no_advice() -> None:
    assert known_error(NOTHING, 3) is None
    assert known_error(NOTHING) is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0: success"),
        (1, "exit code 1: a general error"),
        (3, "exit code 3"),
        (127, "exit code 127: a command that wasn't found"),
        (137, "exit code 137: SIGKILL, killed, often for lack of memory"),
        (-15, "exit code -15: SIGTERM, asked to end"),
        (172, "exit code 172: signal 44"),
        (255, "exit code 255: an error (-1), often of ssh or a script"),
        (
            -1073741819,
            "exit code -1073741819 (0xC0000005): an access to memory that isn't its own (STATUS_ACCESS_VIOLATION)",
        ),
        (3221225781, "exit code 3221225781 (0xC0000135): a missing DLL (STATUS_DLL_NOT_FOUND)"),
        (-1073700000, "exit code -1073700000 (0xC000A360)"),
    ],
)
def test_exit_codes_have_words(code: int, words: str) -> None:
    assert exit_code_words(code) == words


def test_signals_are_those_of_shells_and_of_negative_codes() -> None:
    assert [signal_of(code) for code in (137, -11, 0, 128, 200, -1073741819)] == [9, 11, None, None, None, None]
