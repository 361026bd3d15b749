// How long the steps are that charts ask for: as the server thinks best, or hours where it has no minutes of a part.

import { useEffect, useState } from "preact/hooks";
import { parseDuration } from "../format/durations.ts";
import type { Telemetry } from "./series/model.ts";

const HOUR = "PT1H";

/** A step to ask for, "" for any: so that all steps of what is asked by `key` are as long as one another. */
export function useStep(key: string, told: Telemetry | null | undefined): string {
  const [inHours, setInHours] = useState("");
  const isMixed = Boolean(told?.hourly.length) && parseDuration(told?.step ?? "") < parseDuration(HOUR);
  useEffect(() => {
    if (isMixed) setInHours(key);
  }, [isMixed, key]);
  return inHours === key ? HOUR : "";
}
