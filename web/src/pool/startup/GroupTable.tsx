// Start-ups by day, VM size or image: the median and the 95th percentile of each phase.

import { useState } from "preact/hooks";
import { formatCount } from "../../format/numbers.ts";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import type { Group, StartUp } from "./model.ts";
import { PhaseBar } from "./PhaseBar.tsx";
import { PARTS, quantilesText, SUMS } from "./texts.ts";

const GROUPINGS = [
  ["byDay", "Day (UTC)"],
  ["bySize", "VM size"],
  ["byImage", "Image"],
] as const;
const COLUMNS = [...PARTS, ...SUMS.filter(([phase]) => phase === "total")];

export function GroupTable({ startUp }: { startUp: StartUp }) {
  const [grouping, setGrouping] = useState<(typeof GROUPINGS)[number][0]>("byDay");
  const title = GROUPINGS.find(([each]) => each === grouping)?.[1];
  return (
    <>
      <fieldset class="startup-groupings">
        <legend>p50 / p95 by</legend>
        {GROUPINGS.map(([each, name]) => (
          <label key={each}>
            <input type="radio" name="startup-grouping" checked={each === grouping} onChange={() => setGrouping(each)} />
            {name}
          </label>
        ))}
      </fieldset>
      <div class="startup-groups">
        <table aria-label={`Start-up by ${title}`}>
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col" class="number">
                Nodes
              </th>
              {COLUMNS.map(([phase, name]) => (
                <th key={phase} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {startUp[grouping].map((group) => (
              <GroupRow key={group.name} group={group} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function GroupRow({ group }: { group: Group }) {
  const phases = new Map(group.phases.map((phase) => [phase.phase, phase]));
  return (
    <tr data-group={group.name}>
      <th scope="row">
        {group.name ? <ExternalText text={group.name} /> : "not known"}
        <PhaseBar phases={group.phases} />
      </th>
      <td class="number">{formatCount(group.nodes)}</td>
      {COLUMNS.map(([name]) => {
        const phase = phases.get(name);
        return (
          <td key={name} class="number">
            {phase ? quantilesText(phase) : "–"}
          </td>
        );
      })}
    </tr>
  );
}
