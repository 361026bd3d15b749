// Histories of a pool's cores: busy ones, and others that are there, too.

import type { HistoryKind } from "../charts/history.ts";
import { formatCount, formatRate, formatShare } from "../format/numbers.ts";
import { GroupSwatch } from "../nodes/NodeBar.tsx";
import { type CoreGroup, coresOf, pointDetails } from "./history.ts";
import type { PoolPoint } from "./model.ts";

const GROUPS: readonly CoreGroup[] = ["running", "idle"];
const LABELS: Record<CoreGroup, string> = { running: "busy cores", idle: "other cores" };

export const CORE_HISTORY: HistoryKind<PoolPoint, CoreGroup> = {
  noun: "pool",
  caption: "Cores of nodes, busy in the share of their used slots",
  countsOf: coresOf,
  statesOf: () => GROUPS,
  layerPrefix: "node-",
  entryOf: (group) => ({ label: LABELS[group], swatch: <GroupSwatch group={group} /> }),
  details: pointDetails,
  textOf: pointDetails,
  columns: {
    numbers: [
      { key: "busy", heading: "Busy cores", value: ({ cores }) => cores && formatRate(cores.busy) },
      { key: "all", heading: "All cores", value: ({ cores }) => cores && formatCount(cores.total) },
      {
        key: "share",
        heading: "Busy share",
        value: ({ cores }) => (cores?.total ? formatShare(cores.busy, cores.total) : "–"),
      },
    ],
  },
};
