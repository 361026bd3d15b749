"""Benchmarks, each compared with a user's alternative: `python3 dev.py bench NAME` runs `bench/NAME.py`.

It prints rows, and exits with 1 if one misses its bar. Each has the paths that it measures in `MEASURED_PATHS`. Unlike
`local`, benchmarks may import the app; programs whose CPU and memory count are in `measured`.
"""
