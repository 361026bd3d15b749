// The earlier states of a node that polls recorded. Periods that no poll recorded are listed as such.

import { formatExactTime, timeZone } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { plural } from "../../format/numbers.ts";
import { visible } from "../../format/text.ts";
import type { Node } from "../../nodes/model.ts";
import { GroupSwatch } from "../../nodes/NodeBar.tsx";
import { stateGroupOf, stateLabel } from "../../nodes/stateGroups.ts";
import { Age } from "../../ui/text/Age.tsx";
import { foldedHistory } from "./foldedHistory.ts";

export function NodeHistory({ node }: { node: Node }) {
  return (
    <>
      <h4>
        States
        <small>
          , recorded by polls since <Age at={node.historySince} none="the first poll" />; times in {timeZone()}
        </small>
      </h4>
      <ol class="past" data-testid="past">
        {foldedHistory(node.history).map(({ state, since, until, unseen }, index) => (
          <li key={index}>
            {state ? (
              <>
                <GroupSwatch group={stateGroupOf(state)} /> {visible(stateLabel(state))}
              </>
            ) : (
              <span class="soft">states that no poll recorded</span>
            )}
            {unseen > 0 && <span class="soft">with {plural(unseen, "interruption")} that no poll recorded</span>}
            <small>
              {since && formatExactTime(Date.parse(since))}
              {since && until && ` for ${durationOf(since, until)}`}
            </small>
          </li>
        ))}
      </ol>
      {!node.historyComplete && (
        <p class="soft">Some states may be missing: no poll recorded them, or they are no longer stored.</p>
      )}
    </>
  );
}

function durationOf(since: string, until: string): string {
  return formatSeconds(Math.max(0, Date.parse(until) - Date.parse(since)) / 1000);
}
