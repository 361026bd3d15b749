"""Rules about pools and their nodes."""
