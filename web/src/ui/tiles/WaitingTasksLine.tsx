// The waiting tasks of a pool or account by cause, the most frequent first. Each job is explained every few minutes.

import { formatCount } from "../../format/numbers.ts";
import { wordsOfCause } from "../text/causes.ts";

export function WaitingTasksLine({ waiting }: { waiting: Record<string, number> | undefined }) {
  const causes = Object.entries(waiting ?? {}).filter(([, number]) => number > 0);
  if (!causes.length) return null;
  causes.sort(([, one], [, other]) => other - one);
  return (
    <p class="pools-line" data-testid="waiting-tasks">
      Waiting tasks by cause, as last explained:{" "}
      {causes.map(([cause, number]) => `${formatCount(number)} ${wordsOfCause(cause)}`).join(", ")}.
    </p>
  );
}
