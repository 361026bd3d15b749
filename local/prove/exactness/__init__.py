"""The parts of `python3 dev.py prove exact`: its stack, the changes, the faults, and the comparison."""
