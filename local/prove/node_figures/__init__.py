"""The parts of the proof that the agent's figures are true: see `local.prove.agent_figures`."""
