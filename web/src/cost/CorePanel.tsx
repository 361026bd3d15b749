// Busy cores against all cores of an account's nodes, by day.

import { HistoryPanel } from "../charts/HistoryPanel.tsx";
import type { HistoryKind } from "../charts/history.ts";
import { formatRate, formatShare } from "../format/numbers.ts";
import { GroupSwatch } from "../nodes/NodeBar.tsx";
import { type CorePoint, coresOf, coresText, dayOf } from "./amounts/cores.ts";
import type { AccountCost } from "./amounts/model.ts";

/** Named by the groups of nodes whose colours they have. */
type CoreGroup = "running" | "idle";
const GROUPS: readonly CoreGroup[] = ["running", "idle"];

const CORES: HistoryKind<CorePoint, CoreGroup> = {
  noun: "account",
  caption: "Mean cores of a day (UTC), by the time of nodes and slots",
  means: { gap: "no usage stored", heading: "Day", stepOf: dayOf },
  countsOf: ({ cores }) => cores && { running: rounded(cores.busy), idle: rounded(Math.max(0, cores.total - cores.busy)) },
  statesOf: () => GROUPS,
  layerPrefix: "node-",
  entryOf: (group) => ({ label: group === "running" ? "busy cores" : "other cores", swatch: <GroupSwatch group={group} /> }),
  details: coresText,
  textOf: coresText,
  columns: {
    numbers: [
      { key: "busy", heading: "Busy cores", value: ({ cores }) => cores && formatRate(cores.busy) },
      { key: "all", heading: "All cores", value: ({ cores }) => cores && formatRate(cores.total) },
      {
        key: "share",
        heading: "Busy share",
        value: ({ cores }) => (cores?.total ? formatShare(cores.busy, cores.total) : "–"),
      },
    ],
  },
};

export function CorePanel({ cost }: { cost: AccountCost }) {
  return <HistoryPanel kind={CORES} history={coresOf(cost)} created={-Infinity} />;
}

function rounded(cores: number): number {
  return Math.round(cores * 10) / 10;
}
