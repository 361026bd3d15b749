"""Rules on nodes and slots that are idle, and on pools with too many nodes. Imports the evidence of rules on waste."""
