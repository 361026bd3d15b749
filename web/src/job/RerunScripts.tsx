// Scripts that run the tasks of a failure group again, to download or copy; large groups have several of each.

import { useEffect, useRef, useState } from "preact/hooks";
import { requestText } from "../api/client.ts";
import { pathOfJob } from "../api/paths.ts";
import { errorMessage } from "../api/poller.ts";
import { formatCount } from "../format/numbers.ts";
import type { JobView } from "../routing/jobView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { useCopying } from "../ui/text/useCopying.ts";
import type { FailureGroup } from "./model.ts";
import { rerunParts } from "./rerunParts.ts";

const SCRIPTS = [
  { label: "Reactivate them, Python", query: "action=reactivate&language=python" },
  { label: "Reactivate them, Azure CLI", query: "action=reactivate&language=shell" },
  { label: "Submit copies, Python", query: "action=resubmit&language=python" },
] as const;

export function RerunScripts({ view, group: { id, count } }: { view: JobView; group: FailureGroup }) {
  const [chosen, setChosen] = useState(1);
  const parts = rerunParts(count);
  const part = Math.min(chosen, parts);
  const path = pathOfJob(view, "failures", id, "rerun");
  return (
    <details class="rerun">
      <summary>Run again</summary>
      <p>Batchscope changes nothing in Batch: read a script, then start it with rights of your own.</p>
      {parts > 1 && (
        <label>
          {formatCount(count)} tasks are too many for one script: part{" "}
          <select value={part} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {Array.from({ length: parts }, (_, index) => (
              <option key={index}>{index + 1}</option>
            ))}
          </select>{" "}
          of {parts}
        </label>
      )}
      <ul>
        {SCRIPTS.map(({ label, query }) => (
          <Script
            key={query}
            label={label}
            path={`${path}?${query}${parts > 1 ? `&parts=${parts}&part=${part}` : ""}`}
          />
        ))}
      </ul>
    </details>
  );
}

const OUTCOMES = { copied: "Copied.", refused: "The browser refused: download it." };

function Script({ label, path }: { label: string; path: string }) {
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const read = async () => {
    running.current = new AbortController();
    setProblem("");
    try {
      return new Blob([await requestText(path, running.current.signal)], { type: "text/plain" });
    } catch (error) {
      setProblem(errorMessage(error));
      throw error;
    }
  };
  const { outcome, copy } = useCopying(path, read);
  return (
    <li>
      <a href={path} download="">
        {label}
      </a>{" "}
      <button type="button" class="csv" onClick={copy}>
        Copy<span class="unseen"> the script: {label}</span>
      </button>{" "}
      <span role="status">
        <ExternalText text={problem || (outcome ? OUTCOMES[outcome] : "")} />
      </span>
    </li>
  );
}
