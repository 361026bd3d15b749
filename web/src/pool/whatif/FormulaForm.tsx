// Asks how the pool would have scaled by another formula, and shows the replays beside what was seen.

import { useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { agreementText, errorTexts, type FormulaWhatIf, queryOf, rowsOf } from "./formulaWhatIf.ts";

const INTERVAL_MS = 300_000;

/** What the form needs of a pool. */
interface ScaledPool {
  account: string;
  id: string;
  autoScale: { formula: string | null } | null;
}

export function FormulaForm({ pool }: { pool: ScaledPool }) {
  const [formula, setFormula] = useState(pool.autoScale?.formula ?? "");
  const [minutes, setMinutes] = useState("");
  const [query, setQuery] = useState<string | null>(null);
  return (
    <div class="what-if">
      <h4>What if</h4>
      <form
        aria-label="What if"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery(queryOf(formula, minutes));
        }}
      >
        <label class="formula">
          Other formula{" "}
          <textarea
            name="formula"
            rows={6}
            spellcheck={false}
            value={formula}
            onInput={(event) => setFormula(event.currentTarget.value)}
          />
        </label>
        <label>
          Minutes between evaluations{" "}
          <input
            type="number"
            name="minutes"
            min={5}
            max={10_080}
            placeholder="as it was"
            value={minutes}
            onInput={(event) => setMinutes(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Replay seven days</button>
      </form>
      {query !== null && <Replays pool={pool} query={query} />}
    </div>
  );
}

function Replays({ pool: { account, id: pool }, query }: { pool: ScaledPool; query: string }) {
  const path = `${pathOfPool({ account, pool }, "whatif")}${query}`;
  const polled = usePolled<FormulaWhatIf>({ path, intervalMs: INTERVAL_MS });
  return (
    <PolledContents polled={polled} name="whatif" title="What if">
      {(found) => <Found found={found} />}
    </PolledContents>
  );
}

function Found({ found }: { found: FormulaWhatIf }) {
  const { asItWas, asked, ownFormula, reason, noPrice, assumptions } = found;
  return (
    <>
      {reason && (
        <p class="nothing">
          <ExternalText text={reason} />
        </p>
      )}
      {ownFormula && <p data-agreement>{agreementText(ownFormula)}</p>}
      {asItWas && asked && (
        <table role="table" data-what-if>
          <thead role="rowgroup">
            <tr role="row">
              <ColumnHeader kind="">Replay</ColumnHeader>
              <ColumnHeader kind="number">Seen</ColumnHeader>
              <ColumnHeader kind="number">As it was</ColumnHeader>
              <ColumnHeader kind="number">As asked</ColumnHeader>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rowsOf(found, asItWas, asked).map(([label, ...cells]) => (
              <tr key={label} role="row" data-row={label}>
                <th role="rowheader" scope="row">{label}</th>
                {cells.map((cell, at) => (
                  <td key={at} role="cell" class="number">{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {[...errorTexts(found), ...(noPrice ? [noPrice] : [])].map((text) => (
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
