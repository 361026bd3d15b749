// The interruptions of spot nodes, in a sentence.

import { formatCount, plural } from "../format/numbers.ts";
import { Age } from "../ui/text/Age.tsx";
import type { Interruptions } from "./model.ts";

export function InterruptionSummary({ interruptions }: { interruptions: Interruptions }) {
  const { total, lastHour, lastDay, latest, since, unexplainedRestarts } = interruptions;
  return (
    <>
      {total
        ? `${plural(lastHour, "interruption")} in the last hour, ${formatCount(lastDay)} in the last day, ${formatCount(total)} in total`
        : "no interruptions"}
      {since && (
        <>
          {" "}
          since the first poll <Age at={since} />
        </>
      )}
      {latest && (
        <>
          ; latest <Age at={latest} />
        </>
      )}
      {unexplainedRestarts > 0 && `; up to ${formatCount(unexplainedRestarts)} more may have been missed`}
    </>
  );
}
