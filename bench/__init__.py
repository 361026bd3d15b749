"""Measurements, each beside what a user would do instead: `python3 dev.py bench NAME` runs `bench/NAME.py`."""
