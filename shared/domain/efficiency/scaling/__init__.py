"""Replays of pools that scale by a formula: what another formula would have asked for, and how tasks had waited."""
