// Nodes by kind of state: as lengths, and as a legend with the numbers and the states behind them.

import type { NodeCounts } from "../api/model.ts";
import { count } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { byKind, KIND_WORDS, kindOf, NODE_KINDS, type NodeKind, statesOf, stateWords } from "./kinds.ts";

/** Lengths only, for the eyes: the numbers stand in text nearby. */
export function NodeBar({ counts }: { counts: NodeCounts | null }) {
  const kinds = byKind(counts ?? {});
  return (
    <div class="bar of-nodes" aria-hidden="true">
      {NODE_KINDS.map((kind) => (
        <span
          key={kind}
          class="part"
          data-kind={kind}
          style={{ flexGrow: String(kinds[kind]) }}
          hidden={!kinds[kind]}
        />
      ))}
    </div>
  );
}

export function KindSwatch({ kind }: { kind: NodeKind }) {
  return <span class="swatch" data-kind={kind} aria-hidden="true" />;
}

/** Every kind there is, what it looks like, how many nodes that is and in which states they are. */
export function NodeLegend({ counts }: { counts: NodeCounts }) {
  const kinds = byKind(counts);
  const shown = NODE_KINDS.filter((kind) => kinds[kind]);
  return (
    <ul class="node-legend" data-testid="node-legend">
      {shown.map((kind) => (
        <li key={kind} data-legend={kind}>
          <KindSwatch kind={kind} /> <b>{count(kinds[kind])}</b> {KIND_WORDS[kind]}
          <Behind counts={counts} kind={kind} />
        </li>
      ))}
    </ul>
  );
}

/** The states of a kind, where they say more than its name. */
function Behind({ counts, kind }: { counts: NodeCounts; kind: NodeKind }) {
  const states = statesOf(counts).filter(([state, number]) => number && kindOf(state) === kind);
  const [only] = states;
  if (states.length === 1 && (only?.[0] === kind || kind === "running")) return null;
  const words = states.map(([state, number]) =>
    states.length > 1 ? `${count(number)} ${stateWords(state)}` : stateWords(state),
  );
  return <small>: {visible(words.join(", "))}</small>;
}

/** Fills of kinds in charts, told apart by more than their hue. */
export function NodePatterns() {
  const size = { width: 5, height: 5, patternUnits: "userSpaceOnUse" } as const;
  return (
    <>
      <pattern id="nodes-trouble" {...size} patternTransform="rotate(45)">
        <rect class="trouble" width="5" height="5" />
        <rect class="stripe" width="2" height="5" />
      </pattern>
      <pattern id="nodes-starting" {...size}>
        <rect class="starting" width="5" height="5" />
        <rect class="stripe" width="5" height="2" />
      </pattern>
      <pattern id="nodes-preempted" {...size}>
        <rect class="preempted" width="5" height="5" />
        <rect class="stripe" width="2" height="5" />
      </pattern>
    </>
  );
}
