// Whether the kernel killed the tasks of a message for lack of memory, as events of their nodes say.

import { ApiClient } from "../api/client.ts";
import { useRead } from "../api/useRead.ts";
import { addressOfEvents, pathOfEvents, ROWS_OF_CSV } from "../events/filters.ts";
import type { BatchEvent } from "../events/model.ts";
import type { JobView } from "../routing/jobView.ts";
import { Link } from "../routing/Link.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { killsText, timesOfKills } from "./keptOutputs.ts";
import type { OutputGroup } from "./model.ts";

export function OomKills({ output, view: { account, job } }: { output: OutputGroup; view: JobView }) {
  const filters = { account, job, kind: "node.oom_kill", ...timesOfKills(output) };
  const { value, error } = useRead(pathOfEvents(filters, { rows: ROWS_OF_CSV }), fetchKills);
  return (
    <p class="soft" data-testid="oom-kills">
      <ExternalText text={error ?? (value ? killsText(output, value.values, value.truncated) : "Looking for OOM kills…")} />{" "}
      <Link to={addressOfEvents(filters)}>OOM kills of the job</Link>
    </p>
  );
}

async function fetchKills(path: string, signal: AbortSignal) {
  return new ApiClient().list<BatchEvent>(path, signal);
}
