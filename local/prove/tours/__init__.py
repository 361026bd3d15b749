"""Clients that nobody here wrote, each against the emulator, run as programs of their own."""
