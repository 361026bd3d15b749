// Marks of the moments at which settings changed, in charts of what they may have changed.

import { type ChangeMark, within } from "./changes.ts";
import type { Scale } from "./scales.ts";

interface MarksProps {
  marks: readonly ChangeMark[];
  /** The range of the chart, in milliseconds since 1970; other moments have no mark. */
  from: number;
  to: number;
  x: Scale;
  top: number;
  bottom: number;
}

/** A line with a head at each moment; the text shows on hover. */
export function ChangeMarks({ marks, from, to, x, top, bottom }: MarksProps) {
  return (
    <>
      {within(marks, from, to).map(({ at, text }) => (
        <g key={at} class="setting-change" data-testid="setting-change">
          <title>{text}</title>
          <line x1={x(at)} x2={x(at)} y1={top} y2={bottom} />
          <path d={`M${x(at) - 4},${top}h8l-4,7z`} />
        </g>
      ))}
    </>
  );
}

/** The explanation of the marks in a legend. */
export function ChangeSign() {
  return (
    <span>
      <i class="swatch setting-line" aria-hidden="true" /> settings changed
    </span>
  );
}
