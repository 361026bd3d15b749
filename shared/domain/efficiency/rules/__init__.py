"""Rules on efficiency, one a file: functions from the evidence to a finding, or None."""
