"""Startup records: what the node is, once a session, without secrets."""
