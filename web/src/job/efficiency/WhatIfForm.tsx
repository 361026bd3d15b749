// Asks how the job would have ended under other settings, and shows the replays as it was and as asked.

import { useState } from "preact/hooks";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import type { JobView } from "../../routing/jobView.ts";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { NO_DRAFT, noPriceTexts, queryOf, replayedText, rowsOf, scenarioText, type WhatIf, type WhatIfDraft } from "./whatIf.ts";

const INTERVAL_MS = 300_000;

export function WhatIfForm({ view }: { view: JobView }) {
  const [draft, setDraft] = useState(NO_DRAFT);
  const [query, setQuery] = useState<string | null>(null);
  const field = (name: keyof WhatIfDraft) => ({
    name,
    value: draft[name],
    onInput: (event: Event) => setDraft({ ...draft, [name]: (event.target as HTMLInputElement).value }),
  });
  return (
    <div class="what-if">
      <h4>What if</h4>
      <form
        aria-label="What if"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery(queryOf(draft));
        }}
      >
        <label>
          Slots per node <input type="number" min={1} max={256} {...field("slots")} />
        </label>
        <label>
          Nodes <input type="number" min={1} max={5000} {...field("nodes")} />
        </label>
        <label>
          VM size <input type="text" maxLength={100} placeholder="as it was" {...field("vmSize")} />
        </label>
        <label>
          Priority{" "}
          <select {...field("spot")}>
            <option value="">as it was</option>
            <option value="false">dedicated</option>
            <option value="true">spot</option>
          </select>
        </label>
        <button type="submit">Replay</button>
      </form>
      {query !== null && <Replays view={view} query={query} />}
    </div>
  );
}

function Replays({ view, query }: { view: JobView; query: string }) {
  const polled = usePolled<WhatIf>({ path: `${pathOfJob(view, "whatif")}${query}`, intervalMs: INTERVAL_MS });
  return (
    <PolledContents polled={polled} name="whatif" title="What if">
      {(found) => <Found found={found} />}
    </PolledContents>
  );
}

function Found({ found }: { found: WhatIf }) {
  const { asItWas, asked, currency, reason, assumptions } = found;
  return (
    <>
      {reason && (
        <p class="nothing">
          <ExternalText text={reason} />
        </p>
      )}
      {asItWas && asked && (
        <table role="table" data-what-if>
          <caption>{replayedText(found)}</caption>
          <thead role="rowgroup">
            <tr role="row">
              <ColumnHeader kind="">Replay</ColumnHeader>
              <ColumnHeader kind="number">
                As it was: <ExternalText text={scenarioText(asItWas)} />
              </ColumnHeader>
              <ColumnHeader kind="number">
                As asked: <ExternalText text={scenarioText(asked)} />
              </ColumnHeader>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rowsOf(asItWas, asked, currency).map(([label, was, will]) => (
              <tr key={label} role="row" data-row={label}>
                <th role="rowheader" scope="row">{label}</th>
                <td role="cell" class="number">{was}</td>
                <td role="cell" class="number">{will}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {noPriceTexts(asItWas, asked).map((text) => (
        <p key={text} class="nothing">
          <ExternalText text={text} />
        </p>
      ))}
      {assumptions.length > 0 && (
        <ul class="assumptions" aria-label="Assumptions">
          {assumptions.map((text) => (
            <li key={text}>
              <ExternalText text={text} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
