"""Prints every skip of a test report and fails on those that the list of allowed reasons does not have."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def main(report: str, allowed: str) -> int:
    if not Path(report).exists():
        print(f"There is no test report at {report}.")
        return 1
    lines = Path(allowed).read_text(encoding="utf-8").splitlines()
    patterns = [re.compile(line) for line in lines if line and not line.startswith("#")]
    unexpected = 0
    for case in ET.parse(report).iter("testcase"):
        for skip in case.iter("skipped"):
            reason = skip.get("message", "")
            is_allowed = any(pattern.search(reason) for pattern in patterns)
            unexpected += not is_allowed
            word = "allowed" if is_allowed else "NOT ALLOWED"
            print(f"{word} skip: {case.get('classname')}::{case.get('name')}: {reason}")
    if unexpected:
        print(f"{unexpected} skips are not allowed by {allowed}.")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
