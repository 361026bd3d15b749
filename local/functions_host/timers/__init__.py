"""Timer triggers: schedules, the lease of the host that fires them, and the time of the last run."""
