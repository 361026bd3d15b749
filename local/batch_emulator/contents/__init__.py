"""Contents of files that tasks write: computed from the command line, a seed and the time, never stored.

A file may have any size: only the requested range is computed.
"""
