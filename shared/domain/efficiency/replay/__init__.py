"""Replays of a job's runs by a scheduler model: on other nodes, slots and VM sizes. Pure, and the same for a seed."""
