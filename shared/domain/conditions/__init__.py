"""Conditions: findings with a state over time, as Alertmanager has it. Imports any subject; no subject imports it."""
