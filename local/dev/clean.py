"""`clean`: removes all products of dev.py and the tests, so that the next command starts as on a fresh clone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from local.dev.system.checkout import Checkout
from local.dev.system.console import say
from local.dev.system.locks import alone

MADE = (
    ".venv",
    "local/node/node_modules",
    "web/node_modules",
    "web/dist",
    "dist",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
    ".import_linter_cache",
)
BUSY = "A `dev.py up` is running in this checkout; stop it before cleaning."


def clean(checkout: Checkout) -> int:
    """Removes the products; sources and files that the user put elsewhere stay."""
    with alone(checkout.state / "up.lock", busy=BUSY):
        for path in _made(checkout.root):
            say(f"  removing {path.relative_to(checkout.root)}")
            shutil.rmtree(path)
    shutil.rmtree(checkout.state, ignore_errors=True)
    return 0


def _made(root: Path) -> Iterator[Path]:
    yield from (root / name for name in MADE if (root / name).is_dir())
    sources = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]
    for top in sources:
        yield from [path for path in top.rglob("__pycache__") if path.is_dir()]
