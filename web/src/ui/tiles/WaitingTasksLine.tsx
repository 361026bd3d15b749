// The waiting tasks of a pool or account by cause, the most frequent first, with the age of the oldest cause.

import { formatCount } from "../../format/numbers.ts";
import { Age } from "../text/Age.tsx";
import { wordsOfCause } from "../text/causes.ts";

interface Props {
  waiting: Record<string, number> | undefined;
  asOf: string | null | undefined;
}

/** Jobs are explained in turn, so causes may be some minutes old. */
export function WaitingTasksLine({ waiting, asOf }: Props) {
  const causes = Object.entries(waiting ?? {}).filter(([, number]) => number > 0);
  if (!causes.length) return null;
  causes.sort(([, one], [, other]) => other - one);
  return (
    <p class="pools-line" data-testid="waiting-tasks">
      Waiting tasks by cause
      {asOf && (
        <>
          , explained up to <Age at={asOf} />
        </>
      )}
      : {causes.map(([cause, number]) => `${formatCount(number)} ${wordsOfCause(cause)}`).join(", ")}.
    </p>
  );
}
