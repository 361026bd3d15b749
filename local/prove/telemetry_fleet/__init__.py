"""`prove telemetry-fleet`: hosts share the telemetry of a large fleet. Its nodes, slow storage, and judging."""
