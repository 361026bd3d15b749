// What a job's tasks used of what their slots offer: findings with money, and distributions by task group.

import { useState } from "preact/hooks";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { amountText } from "../../cost/amounts/texts.ts";
import { visible } from "../../format/text.ts";
import { addressOfJobView, type JobView } from "../../routing/jobView.ts";
import { Link } from "../../routing/Link.tsx";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { enoughText, figureText, groupText, knownText, labelOf, noteText, usedText } from "./figures.ts";
import type { Efficiency, EfficiencyFinding, Extreme, Figure, TaskGroup } from "./model.ts";
import { WhatIfForm } from "./WhatIfForm.tsx";

const INTERVAL_MS = 60_000;

type Grouping = "prefix" | "exit";
const GROUPINGS: [Grouping, string][] = [
  ["prefix", "By task id"],
  ["exit", "By exit"],
];

export function EfficiencySection({ view }: { view: JobView }) {
  const { ref, inView } = useInView();
  const [grouping, setGrouping] = useState<Grouping>("prefix");
  const path = pathOfJob(view, "efficiency");
  const polled = usePolled<Efficiency>({
    path: grouping === "prefix" ? path : `${path}?groupBy=${grouping}`,
    intervalMs: INTERVAL_MS,
    enabled: inView,
  });
  const note = polled.value && polled.value.runs > 0 && (
    <>
      {noteText(polled.value)}, as of <Age at={polled.value.asOf} />
    </>
  );
  const actions = polled.value && polled.value.runs > 0 && (
    <div class="choices" role="group" aria-label="Groups of runs">
      {GROUPINGS.map(([each, label]) => (
        <button key={each} type="button" aria-pressed={each === grouping} onClick={() => setGrouping(each)}>
          {label}
        </button>
      ))}
    </div>
  );
  return (
    <Section title="Efficiency" name="efficiency" sectionRef={ref} polled={polled} note={note} actions={actions}>
      {(efficiency) => (
        <>
          <Contents efficiency={efficiency} view={view} />
          <WhatIfForm view={view} />
        </>
      )}
    </Section>
  );
}

interface ContentsProps {
  efficiency: Efficiency;
  view: JobView;
}

function Contents({ efficiency, view }: ContentsProps) {
  const { findings, groups, reason, currency, runs, taskLimit } = efficiency;
  return (
    <div class="efficiency">
      {reason && (
        <p class="nothing">
          <ExternalText text={reason} />
        </p>
      )}
      {findings.map((finding, index) => (
        <div key={`${finding.code} ${finding.evidence.vmSize}`} class="advised">
          <FindingDetails account={view.account} finding={finding} open={index === 0} />
          <Saving finding={finding} currency={currency} />
        </div>
      ))}
      {groups.map((group) => (
        <GroupTable
          key={`${group.prefix} ${group.result} ${group.exitCode} ${group.vmSize}`}
          group={group}
          view={view}
        />
      ))}
      {runs > 0 && <p class="nothing">{enoughText(efficiency)}</p>}
      {taskLimit?.reason && (
        <p class="nothing">
          <ExternalText text={taskLimit.reason} />
        </p>
      )}
    </div>
  );
}

function Saving({ finding: { amount }, currency }: { finding: EfficiencyFinding; currency: string }) {
  if (amount === null) return null;
  return (
    <p class="saving">
      It would have saved <b>{amountText(amount, currency)}</b> so far.
    </p>
  );
}

const COLUMNS = ["Figure", "Median", "95 % at most", "Offered", "Used", "Lowest", "Highest"];

function GroupTable({ group, view }: { group: TaskGroup; view: JobView }) {
  return (
    <table role="table" data-group={group.prefix ?? ""}>
      <caption>
        <ExternalText text={groupText(group)} />
        {!group.enough && <small>, too few to conclude from</small>}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((title, index) => (
            <ColumnHeader key={title} kind={index ? "number" : ""}>
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {group.figures.map((figure) => (
          <FigureRow key={figure.name} figure={figure} group={group} view={view} />
        ))}
      </tbody>
    </table>
  );
}

interface FigureRowProps {
  figure: Figure;
  group: TaskGroup;
  view: JobView;
}

function FigureRow({ figure, group, view }: FigureRowProps) {
  const { name, p50, p95, offered, lowest, highest } = figure;
  return (
    <tr role="row" data-figure={name}>
      <th role="rowheader" scope="row">
        {labelOf(name)} <small>{knownText(figure, group)}</small>
      </th>
      <td role="cell" class="number">{figureText(name, p50)}</td>
      <td role="cell" class="number">{figureText(name, p95)}</td>
      <td role="cell" class="number">{offered === null ? "" : figureText(name, offered)}</td>
      <td role="cell" class="number used">
        {usedText(figure)}
        {offered !== null && <meter min={0} max={offered} value={p95} aria-hidden="true" />}
      </td>
      <End figure={figure} end={lowest} view={view} />
      <End figure={figure} end={highest} view={view} />
    </tr>
  );
}

/** The value at one end of a figure, a link to its task. */
function End({ figure, end, view }: { figure: Figure; end: Extreme; view: JobView }) {
  return (
    <td role="cell" class="number" title={visible(end.task)}>
      <Link to={addressOfJobView({ ...view, task: end.task })}>
        {figureText(figure.name, end.value)}
      </Link>
    </td>
  );
}
