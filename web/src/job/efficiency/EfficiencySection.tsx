// What a job's tasks used of what their slots offer: findings with money, and distributions by task group.

import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { amountText } from "../../cost/amounts/texts.ts";
import type { JobView } from "../../routing/jobView.ts";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { figureText, groupText, knownText, labelOf, measuredText, usedText } from "./figures.ts";
import type { Efficiency, EfficiencyFinding, Extreme, Figure, TaskGroup } from "./model.ts";
import { WhatIfForm } from "./WhatIfForm.tsx";

const INTERVAL_MS = 60_000;

interface EfficiencyProps {
  view: JobView;
  open: (task: string) => void;
}

export function EfficiencySection({ view, open }: EfficiencyProps) {
  const { ref, inView } = useInView();
  const polled = usePolled<Efficiency>({
    path: pathOfJob(view, "efficiency"),
    intervalMs: INTERVAL_MS,
    enabled: inView,
  });
  const note = polled.value && polled.value.runs > 0 && (
    <>
      {measuredText(polled.value)}, as of <Age at={polled.value.asOf} />
    </>
  );
  return (
    <Section title="Efficiency" name="efficiency" sectionRef={ref} polled={polled} note={note}>
      {(efficiency) => (
        <>
          <Contents efficiency={efficiency} account={view.account} open={open} />
          <WhatIfForm view={view} />
        </>
      )}
    </Section>
  );
}

interface ContentsProps {
  efficiency: Efficiency;
  account: string;
  open: (task: string) => void;
}

function Contents({ efficiency, account, open }: ContentsProps) {
  const { findings, groups, reason, currency } = efficiency;
  return (
    <div class="efficiency">
      {reason && (
        <p class="nothing">
          <ExternalText text={reason} />
        </p>
      )}
      {findings.map((finding, index) => (
        <div key={`${finding.code} ${finding.evidence.vmSize}`} class="advised">
          <FindingDetails account={account} finding={finding} open={index === 0} />
          <Saving finding={finding} currency={currency} />
        </div>
      ))}
      {groups.map((group) => (
        <GroupTable key={`${group.prefix} ${group.vmSize}`} group={group} open={open} />
      ))}
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

function GroupTable({ group, open }: { group: TaskGroup; open: (task: string) => void }) {
  return (
    <table role="table" data-group={group.prefix ?? ""}>
      <caption>
        <ExternalText text={groupText(group)} />
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
          <FigureRow key={figure.name} figure={figure} group={group} open={open} />
        ))}
      </tbody>
    </table>
  );
}

interface FigureRowProps {
  figure: Figure;
  group: TaskGroup;
  open: (task: string) => void;
}

function FigureRow({ figure, group, open }: FigureRowProps) {
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
      <End figure={figure} end={lowest} open={open} />
      <End figure={figure} end={highest} open={open} />
    </tr>
  );
}

/** The value at one end of a figure, which opens its task. */
function End({ figure, end, open }: { figure: Figure; end: Extreme; open: (task: string) => void }) {
  return (
    <td role="cell" class="number">
      <button type="button" class="name" title={end.task} onClick={() => open(end.task)}>
        {figureText(figure.name, end.value)}
      </button>
    </td>
  );
}
