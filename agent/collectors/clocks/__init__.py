"""The state of the kernel's clock."""
