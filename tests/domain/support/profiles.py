"""The search effort of property tests, set by `HYPOTHESIS_PROFILE`.

It is `quick` (the default, the same examples every time), `fast` (fewer of them, for `dev.py test --fast`), `ci` or
`long`.
"""

import os

from hypothesis import HealthCheck, settings


def load_profile() -> None:
    patience = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    for name, examples in (("fast", 20), ("quick", 100)):
        settings.register_profile(
            name, max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=patience
        )
    settings.register_profile("ci", max_examples=500, deadline=None, print_blob=True, suppress_health_check=patience)
    settings.register_profile("long", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=patience)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
