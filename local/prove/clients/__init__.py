"""`prove clients`: third-party clients, each run against the emulator as a separate program.

`*_tour` are scripts that run in a client's own environment. They import nothing of this repository.
"""
