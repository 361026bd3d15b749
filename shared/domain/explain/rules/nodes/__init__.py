"""Rules about nodes that get no tasks, or none of this job."""
