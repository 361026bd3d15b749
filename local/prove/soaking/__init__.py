"""The parts of the proof that hosts keep their size: see `local.prove.soak`."""
