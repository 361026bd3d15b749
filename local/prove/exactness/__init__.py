"""The parts of `python3 dev.py prove exact`: a stack of its own, what changes on it, what goes wrong, and the judge."""
