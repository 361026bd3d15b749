"""The prerequisites of tests beside the Python packages of `.venv`: the table that `dev.py test PATH` uses.

Paths are relative to the checkout, with `/`. A path needs the prerequisites of all entries above and below it. Without
entries, or as one of PURE_TESTS, it needs nothing. The hook in tests/conftest.py refuses tests whose fixtures need
more. A browser is never installed: tests that need one skip without it.
"""

import enum
from collections.abc import Collection, Iterable, Mapping


class Prerequisite(enum.Enum):
    """A prerequisite that a test starts or reads and that pip doesn't install."""

    AZURITE = "Azurite"
    DASHBOARD = "the built dashboard"
    BROWSER = "a browser"


type Needs = frozenset[Prerequisite]

NOTHING: Needs = frozenset()
EVERYTHING: Needs = frozenset(Prerequisite)
STORAGE: Needs = frozenset({Prerequisite.AZURITE})
DASHBOARD: Needs = frozenset({Prerequisite.DASHBOARD})

NEEDS: Mapping[str, Needs] = {
    "tests/agent/test_command.py": STORAGE,
    "tests/agent/upload/test_azurite.py": STORAGE,
    "tests/backup": STORAGE,
    "tests/dev/packaging/test_build.py": DASHBOARD,
    "tests/dev/running/test_azurite.py": STORAGE,
    "tests/dev/running/test_up.py": STORAGE,
    "tests/dev/scripts/test_bench_delta.py": STORAGE,
    "tests/dev/scripts/test_cut_off_writes.py": STORAGE,
    "tests/e2e": EVERYTHING,
    "tests/emulator/storage/test_event_log.py": STORAGE,
    "tests/emulator/storage/test_telemetry.py": STORAGE,
    "tests/functions": STORAGE,
    "tests/functions/api/test_api.py": DASHBOARD,
    "tests/functions_host": STORAGE,
    "tests/infra/scripts/test_smoke_test.py": STORAGE,
    "tests/ingestion": STORAGE,
    "tests/stores": STORAGE,
}
PURE_TESTS = (
    "tests/functions/test_cold_start.py",
    "tests/functions/access/test_route_roles.py",
    "tests/functions/access/test_security.py",
    "tests/functions/api/test_untrusted_text.py",
    *(f"tests/functions/http/test_{name}.py" for name in ("csv_table", "encodings", "recent_answers")),
    "tests/functions/logs/test_log_lines.py",
    "tests/functions/metrics/test_metrics_page.py",
    "tests/functions/metrics/test_metrics_text.py",
    "tests/functions/pools/test_node_past.py",
    "tests/functions/storage/test_opening.py",
    *(
        f"tests/stores/batch/test_batch_{name}.py"
        for name in ("evidence", "pools", "requests", "rows", "schedules", "tokens")
    ),
    *(
        f"tests/stores/batch/test_{name}.py"
        for name in ("call_cap", "failing_batch", "missing_things", "repeating_links", "secrets_of_jobs")
    ),
)
"""Files without prerequisites in folders whose other files have some."""

FIXTURES: Mapping[str, Needs] = {
    "azurite": STORAGE,
    "azurite_folder": STORAGE,
    "miniature": STORAGE,
    "dashboard": DASHBOARD,
    "browser": DASHBOARD | {Prerequisite.BROWSER},
}
"""Fixtures that require a prerequisite, directly or through other fixtures."""

FAST_PATHS = (
    "tests/domain",
    "tests/prove",
    "tests/web",
    *PURE_TESTS,
    *(f"tests/dev/checking/test_{name}.py" for name in ("commit_subjects", "doors", "pins", "version")),
    "tests/dev/setup/test_prerequisites.py",
)
"""The paths of `dev.py test --fast`: tests that need nothing and compute only."""
SLOW_TESTS = (
    "tests/domain/telemetry/sessions/test_large_inputs.py",
    "tests/domain/events/test_large_records.py",
    "tests/domain/redaction/test_redaction.py::test_long_text_takes_no_longer_than_its_length_warrants",
)
"""The tests that it leaves out: inputs of megabytes, and time measurements."""


def needs_of(paths: Iterable[str]) -> Needs:
    """Returns the prerequisites of the tests under these files or folders."""
    impure = [path for path in paths if path not in PURE_TESTS]
    found = [needs for path in impure for entry, needs in NEEDS.items() if _touch(path, entry)]
    return NOTHING.union(*found)


def undeclared_needs(path: str, fixtures: Collection[str]) -> list[str]:
    """Returns names of prerequisites that a test file's fixtures have and the table lacks, sorted."""
    needs = NOTHING.union(*(FIXTURES[name] for name in fixtures if name in FIXTURES))
    return sorted(need.value for need in needs - needs_of([path]))


def _touch(path: str, entry: str) -> bool:
    """Returns whether one path equals the other, or is below it."""
    return path == entry or path.startswith(f"{entry}/") or entry.startswith(f"{path}/")
