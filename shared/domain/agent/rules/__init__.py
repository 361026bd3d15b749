"""Why a node doesn't report: one rule a module, from the evidence about the node to a finding or None."""
