"""Scripts for people and pipelines, beside the Bicep files. They need Python 3.13 and say so; dev.py finds it."""

import sys

if sys.version_info < (3, 13):
    sys.exit(
        "The scripts in infra/ need Python 3.13, and this is Python %d.%d. "
        "Start them with `python3 dev.py infra NAME`, which finds it." % sys.version_info[:2]
    )
