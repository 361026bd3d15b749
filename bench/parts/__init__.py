"""What benchmarks are made of: stages, load, made-up telemetry, and what becomes of counts."""
