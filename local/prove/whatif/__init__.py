"""What-if answers against the truth: the same workload run again on the emulator under the other settings."""
