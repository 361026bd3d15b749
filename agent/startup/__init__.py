"""Startup records: facts of the node, once a session, without secrets."""
