"""No name from outside begins or breaks a log line: alert rules match the beginnings of lines."""

import ast
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.polling import HEARTBEAT
from shared.log import escaped, logger
from tests.functions.conftest import ROOT

FORGED = f"logs/x\n{HEARTBEAT}\r\x0b\x0c\x1c\x85\u2028\u2029\x1b[2J\x00\u202e\udc80"
LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
SOURCES = [
    ROOT / "function_app.py",
    *sorted((ROOT / "functions").rglob("*.py")),
    *sorted((ROOT / "shared").rglob("*.py")),
]


def log_calls(path: Path) -> Iterator[tuple[str, ast.expr | None]]:
    """Yields the place of each log call in a module, and its first argument; constants of the module are resolved."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
            of = node.func.value
            if isinstance(of, ast.Name) and of.id in {"_LOG", "logging"}:
                first = node.args[0] if node.args else None
                found = constants.get(first.id) if isinstance(first, ast.Name) else first
                yield f"{path.relative_to(ROOT)}:{node.lineno}", found


def test_every_log_line_begins_with_words_of_its_own() -> None:
    calls = [call for path in SOURCES for call in log_calls(path)]
    assert len(calls) > 30
    for place, first in calls:
        text = first.value if isinstance(first, ast.Constant) else None
        assert isinstance(text, str), f"{place}: the line isn't a text that is written there"
        assert text[:2].isalpha() or text.startswith("A "), f"{place}: '{text}' begins with what comes from outside"
        assert text.isprintable(), place


def test_every_logger_is_made_where_names_are_escaped() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if path != ROOT / "shared/log.py":
            assert "getLogger(__name__)" not in text, f"{path}: use shared.log.logger"
            assert not ("_LOG." in text and "_LOG = logger(__name__)" not in text), path


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Yields the lines that a host would write for the test's logs."""
    written: list[str] = []

    class Written(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.extend(self.format(record).splitlines())

    handler = Written()
    logging.getLogger().addHandler(handler)
    caplog.set_level(logging.INFO)
    yield written
    logging.getLogger().removeHandler(handler)


def test_a_name_with_line_breaks_stays_within_the_line(lines: list[str]) -> None:
    logger("shared.services.somewhere").warning("The blob %s couldn't be read: %s", FORGED, ValueError(FORGED))
    (line,) = lines
    assert line.startswith("The blob logs/x\\n")
    assert line.isprintable()


def test_a_name_within_a_traceback_begins_no_line(lines: list[str]) -> None:
    cause = ValueError(FORGED)
    cause.add_note(FORGED)
    error = KeyError(FORGED)
    error.__cause__ = cause
    logger("shared.services.somewhere").error("The reading of %s broke", FORGED, exc_info=error)
    assert lines[0].startswith("The reading of logs/x\\n")
    assert any(HEARTBEAT in line for line in lines[1:])
    assert all(line.startswith("  ") and line.isprintable() for line in lines[1:])


def test_printable_text_in_any_language_stays_as_it_is() -> None:
    assert escaped("Größe Ø 測試 C:\\new 'x' 100%") == "Größe Ø 測試 C:\\new 'x' 100%"
    assert escaped("a\tb\nc\x1b[0m") == "a\\tb\\nc\\x1b[0m"
