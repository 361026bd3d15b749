"""A workload for the Batch emulator, driven through the official SDK as a customer would; never deployed."""
