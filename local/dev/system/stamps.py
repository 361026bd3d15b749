"""Steps that are done once and remembered: a stamp beside a step's product identifies the inputs.

A stamp is inside the product's folder, so that deleting the product forgets the step. It is written last, so that an
interrupted step is repeated.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from local.dev.system.console import step


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of setup: `run` creates `product` from the inputs with this `fingerprint`."""

    title: str
    fingerprint: str
    stamp: Path
    product: Path
    run: Callable[[], None]

    def is_done(self) -> bool:
        try:
            return self.product.exists() and self.stamp.read_text(encoding="utf-8") == self.fingerprint
        except OSError:
            return False

    def do(self) -> None:
        """Creates the product; writes the stamp only if all of it worked."""
        self.stamp.unlink(missing_ok=True)
        with step(self.title):
            self.run()
        self.stamp.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.stamp.with_name(f"{self.stamp.name}.new")
        fresh.write_text(self.fingerprint, encoding="utf-8")
        fresh.replace(self.stamp)


def fingerprint(root: Path, files: Iterable[Path], *extra: str) -> str:
    """Returns one hash over names and contents, and over the product's other inputs."""
    digest = hashlib.sha256("\0".join(extra).encode())
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
