"""Outputs that are meant to cost: the work grows no faster than the output."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import shake_256
from itertools import pairwise
from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.outputs import (
    cleaned_lines,
    exit_codes,
    frames,
    key_lines,
    key_texts,
    line_strengths,
    log_prefixes,
    masking,
)
from shared.domain.outputs.cleaned_lines import MAX_CHARACTERS, MAX_LINE
from shared.domain.outputs.excerpts import MAX_EXCERPT_LINE, MAX_EXCERPT_LINES, MAX_TITLE, error_excerpt
from shared.domain.outputs.known_errors import known_errors
from shared.domain.outputs.masking import MAX_SIGNATURE

MODULES = (cleaned_lines, exit_codes, frames, key_lines, key_texts, line_strengths, log_prefixes, masking)
TRACEBACK = 'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n    g()\nKeyError: 1\n'
HOSTILE = {
    "one line": "a",
    "a line of words": "error ",
    "digits": "1",
    "paths": "/a",
    "names with dots": "a.",
    "open quotes": "'/",
    "escapes": "\x1b[",
    "progress bars": "50% |\r",
    "lines of errors": "error\n",
    "tracebacks": TRACEBACK,
    "empty lines": "\n",
    "all bytes": bytes(range(256)).decode("latin-1"),
    "headers": "Error in:\n",
    "causes": "Caused by:\n x\n",
    "dashes": "-1",
}
_TOOL = 4


def steps(work: Callable[[], object]) -> int:
    """Returns how many lines of the package's code a piece of work runs."""
    count = 0

    def line(code: CodeType, number: int) -> Any:
        nonlocal count
        if "outputs" not in code.co_filename:
            return sys.monitoring.DISABLE
        count += 1
        return None

    sys.monitoring.use_tool_id(_TOOL, "steps")
    try:
        sys.monitoring.register_callback(_TOOL, sys.monitoring.events.LINE, line)
        sys.monitoring.set_events(_TOOL, sys.monitoring.events.LINE)
        work()
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)
    return count


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_twice_the_output_takes_at_most_twice_the_steps(part: str) -> None:
    texts = [(part * size)[:size] for size in (8_000, 16_000, 32_000)]
    counts = [steps(partial(error_excerpt, text)) for text in texts]
    for smaller, larger in pairwise(counts):
        assert larger <= 2.2 * smaller + 200, counts


def test_more_than_the_last_characters_of_an_output_cost_nothing() -> None:
    text = "error: x\n" * (MAX_CHARACTERS // 3)
    assert steps(lambda: error_excerpt(text)) == steps(lambda: error_excerpt(text[-MAX_CHARACTERS:]))


def test_each_pattern_is_tried_on_lines_of_bounded_length() -> None:
    assert max(map(len, cleaned_lines.cleaned_lines("x" * MAX_CHARACTERS))) <= MAX_LINE + 3


def test_no_pattern_repeats_without_bound_within_a_repetition() -> None:
    """So the steps of a pattern on a line have a bound; lines are of bounded length."""
    patterns = [one for module in MODULES for one in vars(module).values() if isinstance(one, re.Pattern)]
    assert len(patterns) > 30
    texts = [one.pattern for one in patterns] + [one.pattern for one in known_errors()]
    assert [text for text in texts if any(depth > 1 for depth in unbounded_depths(text))] == []


def unbounded_depths(pattern: str) -> Iterator[int]:
    parser: Any = importlib.import_module("re._parser")
    yield from _depths(parser.parse(pattern, 0), parser.MAXREPEAT, 0)


def _depths(parsed: Any, unbounded: Any, depth: int) -> Iterator[int]:
    yield depth
    for part in parsed if hasattr(parsed, "data") or isinstance(parsed, (list, tuple)) else ():
        if isinstance(part, tuple) and len(part) == 2 and str(part[0]) in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, inner = part[1]
            repeats = depth + 1 if most == unbounded or (depth and most > 1) else depth
            yield from _depths(inner, unbounded, repeats)
        elif hasattr(part, "data") or isinstance(part, (list, tuple)):
            yield from _depths(part, unbounded, depth)


@given(st.text(max_size=3000), st.text(max_size=300))
def test_any_text_has_an_excerpt_within_bounds(stderr: str, stdout: str) -> None:
    excerpt = error_excerpt(stderr, stdout)
    assert excerpt == error_excerpt(stderr, stdout)
    assert len(excerpt.title) <= MAX_TITLE
    assert len(excerpt.signature) <= MAX_SIGNATURE
    assert len(excerpt.lines) <= MAX_EXCERPT_LINES
    assert all(len(line) <= MAX_EXCERPT_LINE for line in excerpt.lines)


def test_random_bytes_have_an_excerpt() -> None:
    for seed in range(6):
        content = shake_256(bytes([seed])).digest(MAX_CHARACTERS)
        assert len(error_excerpt(content.decode("utf-8", "surrogateescape")).id) == 12


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.uuids())
def test_values_never_change_a_signature(pid: int, size: int, unique: object) -> None:
    text = f"[{pid}] worker {pid}: ERROR: cannot map {size} bytes of /tmp/{unique}/x_{size}.dat at 0x{size:012x}\n"
    assert (
        error_excerpt(text).signature
        == error_excerpt("[1] worker 1: ERROR: cannot map 2 bytes of /tmp/a/x.dat at 0x00000000000a\n").signature
    )
