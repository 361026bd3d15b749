"""The measured programs: `python -m bench.measured.NAME` runs one in a separate process."""
