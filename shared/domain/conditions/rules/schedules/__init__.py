"""Rules about job schedules."""
