// The failed tasks of a job, pool or account by category, the most frequent first.

import { formatCount } from "../../format/numbers.ts";

const NAMES: Record<string, string> = {
  userCode: "user code",
  outOfMemory: "out of memory",
  diskFull: "disk full",
  timeLimit: "time limit",
  imagePull: "image pull",
  dataAccess: "data access",
  identity: "identity",
  nodeLost: "node lost",
  preempted: "preempted",
  dependency: "dependency",
  configuration: "configuration",
  service: "service",
  terminated: "terminated",
  other: "other",
};

export function FailedTasksLine({ failed }: { failed: Record<string, number> | null | undefined }) {
  const categories = Object.entries(failed ?? {}).filter(([, number]) => number > 0);
  if (!categories.length) return null;
  categories.sort(([, one], [, other]) => other - one);
  return (
    <p class="pools-line" data-testid="failed-tasks">
      Failed tasks: {categories.map(([category, number]) => `${formatCount(number)} ${NAMES[category] ?? category}`).join(", ")}.
    </p>
  );
}
