// A chart's legend: what was in each state at the cursor; each can be left out so that small ones show.

import type { ComponentChildren } from "preact";
import { count } from "../format/numbers.ts";
import { begun } from "../format/text.ts";

export interface Choice<State extends string> {
  state: State;
  words: string;
  swatch: ComponentChildren;
  number: number | null;
  /** Explains the words. */
  title?: string | undefined;
}

interface ChoiceProps<State extends string> {
  choices: Choice<State>[];
  hidden: readonly State[];
  hide: (hidden: State[]) => void;
  /** Beside it: when that was, and what else is to be said of then. */
  children: ComponentChildren;
}

export function StateChoice<State extends string>({ choices, hidden, hide, children }: ChoiceProps<State>) {
  const toggle = (state: State) => {
    const next = hidden.includes(state) ? hidden.filter((each) => each !== state) : [...hidden, state];
    if (choices.some((each) => !next.includes(each.state))) hide(next);
  };
  return (
    <div class="legend">
      <div class="choices" role="group" aria-label="States shown">
        {choices.map(({ state, words, swatch, number, title }) => (
          <button
            key={state}
            type="button"
            title={title}
            aria-pressed={!hidden.includes(state)}
            onClick={() => toggle(state)}
          >
            {swatch}
            {begun(words)} <b>{number === null ? "–" : count(number)}</b>
          </button>
        ))}
      </div>
      <p class="when" data-testid="readout">
        {children}
      </p>
    </div>
  );
}
