// Cost classes: what the time of nodes went into, in words.

/** A cost class by the API's name; `fill` names its colour in charts, absent for those that "other" sums up. */
export interface CostClass {
  name: string;
  label: string;
  fill?: string;
  /** Why it is waste, and what to do. */
  waste?: string;
}

/** Waste first: in this order from the bottom of a chart. */
export const CLASSES: readonly CostClass[] = [
  {
    name: "failed",
    label: "failed runs",
    fill: "failed",
    waste: "Tasks held slots and ended with a failure.",
  },
  {
    name: "retried",
    label: "retried runs",
    fill: "retried",
    waste: "Runs that failed before their tasks were retried: the time is spent again. Batch's event log shows them.",
  },
  {
    name: "interrupted",
    label: "interrupted runs",
    fill: "interrupted",
    waste: "Runs that left their nodes without a result, as nodes were preempted or tasks requeued: they run again.",
  },
  {
    name: "idle",
    label: "idle nodes",
    fill: "idle",
    waste: "Nodes could run tasks and ran none. A lower target or an autoscale formula removes them.",
  },
  {
    name: "idleSlots",
    label: "idle slots",
    fill: "idle-slots",
    waste: "Nodes ran tasks that left some of their slots free.",
  },
  {
    name: "startTaskFailed",
    label: "failed start tasks",
    fill: "start-task-failed",
    waste: "Nodes whose start task failed get no tasks, and cost until they are removed.",
  },
  {
    name: "unusable",
    label: "unusable nodes",
    fill: "unusable",
    waste: "Batch can't use these nodes; they cost until they are removed or restarted.",
  },
  { name: "succeeded", label: "succeeded runs", fill: "succeeded" },
  { name: "running", label: "running tasks", fill: "running" },
  { name: "starting", label: "starting nodes", fill: "starting" },
  { name: "startTask", label: "start tasks", fill: "start-task" },
  { name: "unattributed", label: "running, task unknown", fill: "unattributed" },
  { name: "unwatched", label: "not watched" },
  { name: "unknown", label: "nodes in an unknown state" },
  { name: "offline", label: "offline nodes" },
  { name: "rebooting", label: "rebooting nodes" },
  { name: "leaving", label: "nodes being removed" },
  { name: "preempted", label: "preempted nodes (not billed)" },
  { name: "deallocated", label: "deallocated nodes (not billed)" },
];

const BY_NAME = new Map(CLASSES.map((each) => [each.name, each]));
const UNBILLED = ["preempted", "deallocated"];

/** A class that a later version adds is shown by its name. */
export function classNamed(name: string): CostClass {
  return BY_NAME.get(name) ?? { name, label: name };
}

/** Seconds of nodes in all classes that cost. */
export function billedSeconds(nodeSeconds: Record<string, number>): number {
  const parts = Object.entries(nodeSeconds).filter(([name]) => !UNBILLED.includes(name));
  return parts.reduce((sum, [, seconds]) => sum + seconds, 0);
}
