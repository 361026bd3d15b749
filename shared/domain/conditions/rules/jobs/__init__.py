"""Rules about jobs."""
