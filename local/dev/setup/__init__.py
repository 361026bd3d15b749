"""Installs what a command needs, and nothing else. Imports local.dev.system."""
