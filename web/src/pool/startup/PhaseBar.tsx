// The medians of a start-up's phases as parts of one bar.

import type { Phase } from "./model.ts";
import { PARTS } from "./texts.ts";

/** Hidden from screen readers, as the table beside it has the numbers. */
export function PhaseBar({ phases }: { phases: readonly Phase[] }) {
  const spans = new Map(phases.map(({ phase, p50Seconds }) => [phase, p50Seconds]));
  return (
    <div class="startup-bar" aria-hidden="true">
      {PARTS.map(([phase]) => (
        <span
          key={phase}
          data-phase={phase}
          style={{ flexGrow: String(spans.get(phase) ?? 0) }}
          hidden={!spans.get(phase)}
        />
      ))}
    </div>
  );
}

export function Swatch({ phase }: { phase: string }) {
  return <span class="startup-swatch" data-phase={phase} aria-hidden="true" />;
}
