"""Measurements of the whole node: one module for each measurement."""
