import pytest

from shared.domain.tasks.failure_advice import advice_on

EXITED = ("usererror", "FailureExitCode")


@pytest.mark.parametrize(
    ("failure", "exit_code", "words"),
    [
        (EXITED, 137, "out of memory"),
        (EXITED, -9, "out of memory"),
        (EXITED, 127, "didn't find"),
        (EXITED, 126, "chmod"),
        (EXITED, -1073741819, "STATUS_ACCESS_VIOLATION"),
        (EXITED, 0xC0000005, "STATUS_ACCESS_VIOLATION"),
        (EXITED, -1073741801, "STATUS_NO_MEMORY"),
        (EXITED, -1073741510, "maxWallClockTime"),
        (("", ""), 139, "SIGSEGV"),
        (("usererror", "BlobNotFound"), None, "resource file isn't there"),
        (("usererror", "ContainerInvalidImage"), None, "container image"),
        (("usererror", "TaskEnded"), 137, "maxWallClockTime"),
        (("servererror", "DiskFull"), 1, "no room"),
    ],
)
def test_well_known_causes_come_with_advice(failure: tuple[str, str], exit_code: int | None, words: str) -> None:
    assert words in (advice_on(failure, exit_code) or "")


@pytest.mark.parametrize(
    ("failure", "exit_code"), [(EXITED, 42), (EXITED, None), (EXITED, -1), (("", ""), None), (("", "Unknown"), 137)]
)
def test_nothing_is_said_of_causes_that_are_not_well_known(failure: tuple[str, str], exit_code: int | None) -> None:
    assert advice_on(failure, exit_code) is None
