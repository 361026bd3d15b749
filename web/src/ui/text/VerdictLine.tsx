// A verdict in a summary: level, reason, as-of and time of the last check; other facts about its data follow.

import type { ComponentChildren } from "preact";
import type { Verdict } from "../../api/model.ts";
import { Age } from "./Age.tsx";
import { ExternalText } from "./ExternalText.tsx";
import { VerdictBadge } from "./VerdictBadge.tsx";

export function VerdictLine({ verdict, children }: { verdict: Verdict; children?: ComponentChildren }) {
  return (
    <p class="sure">
      <VerdictBadge verdict={verdict} />
      <span>
        <ExternalText text={verdict.reason} />
      </span>
      <span class="checked">
        as of <Age at={verdict.asOf} none="never" />, checked <Age at={verdict.checkedAt} />
      </span>
      {children}
    </p>
  );
}
