"""Plays one node of the emulated pool `this-machine` with this machine: the real agent, and real processes as tasks.

It imports neither the app nor the emulator, and speaks to the latter through the official SDK.
"""
