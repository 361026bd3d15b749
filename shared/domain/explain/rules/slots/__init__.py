"""Rules about task slots: all are in use, or will be before the job's tasks get them.

Source: "Jobs and tasks in Azure Batch", and the reference of TaskSchedulingPolicy. Of jobs on the same pool those of a
higher priority come first. Those of the same priority have equal shares, so a job's position is a range; where the
pool's jobDefaultOrder is creationtime, the older one comes first. Running tasks continue unless their job allows
preemption. Slots are free for an instant between two tasks and when a node has just started. Where more tasks compete
than slots are free, the competition is the cause, as in the moments before and after.
"""
