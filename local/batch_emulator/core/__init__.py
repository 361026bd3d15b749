"""Values and settings without any knowledge of Batch accounts: time, durations, ids' order, ranges, errors, faults.

Imports nothing else of the emulator.
"""
