// The length of the charts' steps: the server's choice, or hours if it has no minutes for a part of the time.

import { useEffect, useState } from "preact/hooks";
import { parseDuration } from "../format/durations.ts";
import type { Telemetry } from "./series/model.ts";

const HOUR = "PT1H";

/** The step to request, "" for the server's choice. All steps of a `key` have the same length. */
export function useStep(key: string, telemetry: Telemetry | null | undefined): string {
  const [inHours, setInHours] = useState("");
  const isMixed = Boolean(telemetry?.hourly.length) && parseDuration(telemetry?.step ?? "") < parseDuration(HOUR);
  useEffect(() => {
    if (isMixed) setInHours(key);
  }, [isMixed, key]);
  return inHours === key ? HOUR : "";
}
