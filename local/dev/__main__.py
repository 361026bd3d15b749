"""Lets `python -m local.dev` do what `python3 dev.py` does."""

import sys

from local.dev.commands import main

sys.exit(main(sys.argv[1:]))
