"""The parts of benchmarks: stages, load, generated telemetry, and the cost model."""
