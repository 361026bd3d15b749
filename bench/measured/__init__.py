"""The measured programs: `python -m bench.measured.NAME` runs one in a separate process and prints JSON.

They import the app, and `parts`.
"""
