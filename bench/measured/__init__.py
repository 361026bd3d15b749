"""What is measured, each a program: `python -m bench.measured.NAME` runs in a process of its own."""
