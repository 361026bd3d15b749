"""Rules about the job itself: its state, limits, dependencies, and the slots and retries of its tasks."""
