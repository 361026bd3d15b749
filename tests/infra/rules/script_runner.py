"""Runs tests of scripts for each line of its input: a list of the scripts' checkout and modules of tests, as JSON.

It answers with the exit code of pytest and what it said last. Scripts and their tests are imported anew each time.
"""

import io
import json
import os
import sys
from contextlib import redirect_stdout

import pytest

from local.dev.system.checkout import HERE
from tests.infra.rules.scripts import SCRIPTS_FOLDER

_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-k", "not local_stack")


def main() -> None:
    # A copy of the scripts changes within a second, which the age of bytecode doesn't show.
    sys.dont_write_bytecode = True
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            root, *tests = json.loads(line)
            for name in [name for name in sys.modules if f"{name}.".startswith(("infra.", "tests.infra.scripts."))]:
                del sys.modules[name]
            os.environ[SCRIPTS_FOLDER] = root
            with redirect_stdout(io.StringIO()) as said:
                exit_code = pytest.main([*_OPTIONS, "-o", f"pythonpath={root} {HERE.root}", *tests])
            print(json.dumps([int(exit_code), said.getvalue()[-600:]]), file=answers, flush=True)


if __name__ == "__main__":
    main()
