"""Draws for replays: the same ones for the same seed. They decide nothing that must be hard to guess."""

from random import Random


class Draws(Random):
    """What varies between replays."""
