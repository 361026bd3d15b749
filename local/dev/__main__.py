"""Makes `python -m local.dev` equivalent to `python3 dev.py`."""

import sys

from local.dev.commands import main

sys.exit(main(sys.argv[1:]))
