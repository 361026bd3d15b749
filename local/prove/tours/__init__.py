"""Third-party clients, each run against the emulator as a separate program."""
