"""Measurements of devices: GPUs, NVMe drives and InfiniBand ports."""
