"""Unit tests of the dashboard's pure modules, in web/tests: Node runs both as they are, without a build or a package."""

import re
import subprocess

from local.dev.system.checkout import HERE

TESTS = "tests/**/*.test.ts"
MIN = 200
"""Fewer tests than this would mean that Node didn't find all of them."""


def test_the_unit_tests_of_the_dashboard_pass() -> None:
    command = (str(HERE.node), "--test", "--test-reporter=spec", TESTS)
    done = subprocess.run(command, cwd=HERE.web, capture_output=True, check=False)
    report = done.stdout.decode()
    assert done.returncode == 0, report.partition("failing tests:")[2] or report + done.stderr.decode()
    passed = re.search(r"^\S+ pass (\d+)$", report, re.MULTILINE)
    assert passed, report
    assert int(passed[1]) >= MIN
