// The bytes that an account's nodes sent and received in the last day, from their telemetry.

import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import type { PoolTelemetry } from "../pool/telemetry/model.ts";
import { addedTraffic, trafficOf, trafficText } from "../pool/telemetry/traffic.ts";
import { beginOf } from "../time/ranges.ts";
import { useInView } from "../ui/page/useInView.ts";

const INTERVAL_MS = 5 * 60_000;

export function TrafficLine({ account }: { account: string }) {
  const { ref, inView } = useInView();
  const query = new URLSearchParams({ name: "system.network.io", from: beginOf("24h") });
  const path = `${pathOfAccount(account, "telemetry")}?${query}`;
  const polled = usePolled<{ value: PoolTelemetry[] }>({ path, queryKey: account, intervalMs: INTERVAL_MS, enabled: inView });
  const pools = polled.value?.value ?? [];
  return (
    <p class="pools-line" ref={ref} data-testid="traffic">
      {pools.length > 0 && trafficText(addedTraffic(pools.map(trafficOf)), "the last 24 hours")}
    </p>
  );
}
