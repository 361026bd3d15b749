// The findings on nodes of a pool on which tasks fail, below the map that marks them.

import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { type FailingNodes, failingText } from "./failing.ts";

export function FailingNodeList({ account, failing }: { account: string; failing: FailingNodes }) {
  if (!failing.size) return null;
  return (
    <div class="failing-nodes" data-testid="failing-nodes">
      <p>
        <svg class="failing-swatch" width="14" height="14" aria-hidden="true">
          <path class="failing-cells" d="M1 1h12v12h-12zM3 3l8 8m0 -8l-8 8" />
        </svg>{" "}
        {failingText(failing)}, as far as jobs of the last day show.
      </p>
      {[...failing.values()].flat().map((finding) => (
        <FindingDetails
          key={`${finding.title} ${String(finding.evidence.jobId)}`}
          account={account}
          finding={finding}
          open={false}
        />
      ))}
    </div>
  );
}
