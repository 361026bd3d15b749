// Links to scripts that run the tasks of a failure group again.

import { pathOfJob } from "../api/paths.ts";
import type { JobView } from "../routing/jobView.ts";

const SCRIPTS = [
  { label: "Reactivate them, Python", query: "action=reactivate&language=python" },
  { label: "Reactivate them, Azure CLI", query: "action=reactivate&language=shell" },
  { label: "Submit copies, Python", query: "action=resubmit&language=python" },
] as const;

export function RerunScripts({ view, group }: { view: JobView; group: string }) {
  const path = pathOfJob(view, "failures", group, "rerun");
  return (
    <details class="rerun">
      <summary>Run again</summary>
      <p>Batchscope changes nothing in Batch: read a script, then start it with rights of your own.</p>
      <ul>
        {SCRIPTS.map(({ label, query }) => (
          <li key={query}>
            <a href={`${path}?${query}`} download="">
              {label}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
