"""Timer triggers: schedules, the lease of the host that fires them, and when each ran."""
