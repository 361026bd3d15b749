// The history of a pool: its nodes by state, or its cores, busy ones and others.

import { useState } from "preact/hooks";
import { HistorySection } from "../charts/HistorySection.tsx";
import type { Range } from "../time/ranges.ts";
import { CORE_HISTORY } from "./coreHistory.tsx";
import { poolHistory } from "./historyKind.tsx";
import type { SettingChange } from "./model.ts";

interface PoolHistoryProps {
  path: string;
  id: string;
  created: number;
  range: Range | null;
  addressOf: (range: Range) => string;
  changes: readonly SettingChange[];
  gone?: boolean;
}

export function PoolHistorySection({ changes, ...section }: PoolHistoryProps) {
  const [shown, setShown] = useState("nodes");
  const choices = (
    <label>
      Show{" "}
      <select value={shown} onChange={(event) => setShown(event.currentTarget.value)}>
        <option value="nodes">nodes by state</option>
        <option value="cores">busy and all cores</option>
      </select>
    </label>
  );
  if (shown === "cores") return <HistorySection {...section} kind={CORE_HISTORY} choices={choices} />;
  return <HistorySection {...section} kind={poolHistory(changes)} choices={choices} />;
}
