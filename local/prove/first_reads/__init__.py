"""The requests and stored state of first reads, and their verdict."""
