// The line on the page of a job or a pool with what it cost; it loads independently of the page.

import type { ComponentChildren } from "preact";
import { pathOfJob, pathOfPool } from "../../api/paths.ts";
import { type Polled, usePolled } from "../../api/usePolled.ts";
import { Link } from "../../routing/Link.tsx";
import { addressOfList } from "../../routing/routes.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import type { JobCost, PoolCost } from "./model.ts";
import { jobCostText, poolCostText } from "./texts.ts";

const INTERVAL_MS = 60_000;

export function JobCostLine(job: { account: string; job: string }) {
  const polled = usePolled<JobCost>({ path: pathOfJob(job, "cost"), intervalMs: INTERVAL_MS });
  return (
    <Line polled={polled} account={job.account} groupBy="job">
      {polled.value && jobCostText(polled.value)}
    </Line>
  );
}

export function PoolCostLine(pool: { account: string; pool: string }) {
  const polled = usePolled<PoolCost>({ path: pathOfPool(pool, "cost"), intervalMs: INTERVAL_MS });
  return (
    <Line polled={polled} account={pool.account} groupBy="pool">
      {polled.value && poolCostText(polled.value)}
    </Line>
  );
}

interface LineProps {
  polled: Polled<{ asOf: string | null }>;
  account: string;
  groupBy: string;
  children: ComponentChildren;
}

function Line({ polled: { value, failure }, account, groupBy, children }: LineProps) {
  if (!value && !failure?.message) return null;
  return (
    <p class="cost-line" data-testid="cost-line">
      {!value && (
        <>
          The cost isn't known: <ExternalText text={failure?.message ?? ""} />
        </>
      )}
      {value && (value.asOf ? children : "The cost isn't known before its first roll-up, within the hour.")}{" "}
      <Link to={addressOfList("cost", { account, groupBy: groupBy === "pool" ? "" : groupBy })}>Costs of the account</Link>
      {value?.asOf && (
        <small>
          {" "}
          as of <Age at={value.asOf} />
        </small>
      )}
    </p>
  );
}
