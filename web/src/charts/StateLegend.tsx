// The legend of a history chart: numbers by state at the cursor. Each state can be hidden, so that small ones show.

import type { ComponentChildren } from "preact";
import { formatCount } from "../format/numbers.ts";
import { capitalized } from "../format/text.ts";

export interface LegendEntry<State extends string> {
  state: State;
  label: string;
  swatch: ComponentChildren;
  number: number | null;
  /** Explains the label. */
  title?: string | undefined;
}

interface StateLegendProps<State extends string> {
  entries: LegendEntry<State>[];
  hidden: readonly State[];
  setHidden: (hidden: State[]) => void;
  /** Text beside the states, such as the cursor's time. */
  children: ComponentChildren;
}

export function StateLegend<State extends string>({ entries, hidden, setHidden, children }: StateLegendProps<State>) {
  const toggle = (state: State) => {
    const next = hidden.includes(state) ? hidden.filter((each) => each !== state) : [...hidden, state];
    if (entries.some((each) => !next.includes(each.state))) setHidden(next);
  };
  return (
    <div class="legend">
      <div class="choices" role="group" aria-label="States shown">
        {entries.map(({ state, label, swatch, number, title }) => (
          <button
            key={state}
            type="button"
            title={title}
            aria-pressed={!hidden.includes(state)}
            onClick={() => toggle(state)}
          >
            {swatch}
            {capitalized(label)} <b>{number === null ? "–" : formatCount(number)}</b>
          </button>
        ))}
      </div>
      <p class="when" data-testid="readout">
        {children}
      </p>
    </div>
  );
}
