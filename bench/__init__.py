"""Benchmarks, each compared with a user's alternative: `python3 dev.py bench NAME` runs `bench/NAME.py`."""
