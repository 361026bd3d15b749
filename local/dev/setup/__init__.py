"""Installs the prerequisites of a command, and nothing else. Imports local.dev.system."""
