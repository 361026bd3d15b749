"""Events of the node: OOM kills, device errors, full disks, reboots, clock jumps, interruptions."""
