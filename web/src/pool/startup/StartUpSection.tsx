// How long nodes of a pool take from the wish for them to their first task, by phase, and by day, VM size or image.

import { useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatCount } from "../../format/numbers.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { GroupTable } from "./GroupTable.tsx";
import type { Phase, PreparationTasks, StartUp } from "./model.ts";
import { PhaseBar, Swatch } from "./PhaseBar.tsx";
import { PARTS, preparationText, SUMS, spanText, summaryText, unknownText } from "./texts.ts";

const INTERVAL_MS = 60_000;
const DAYS = [1, 7, 31];

export function StartUpSection({ view }: { view: PoolView }) {
  const { ref, inView } = useInView();
  const [days, setDays] = useState(7);
  const path = `${pathOfPool(view, "startup")}?days=${days}`;
  const polled = usePolled<StartUp>({ path, intervalMs: INTERVAL_MS, enabled: inView });
  const asOf = polled.value?.asOf;
  const note = asOf && (
    <>
      as of <Age at={asOf} />
    </>
  );
  const actions = (
    <>
      <label class="startup-days">
        Nodes allocated{" "}
        <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          {DAYS.map((each) => (
            <option key={each} value={each}>
              {each === 1 ? "today (UTC)" : `in the last ${each} days`}
            </option>
          ))}
        </select>
      </label>
      {polled.value && polled.value.nodes > 0 && (
        <a class="csv" href={`${path}&format=csv`} download={`${view.pool}-startup.csv`} aria-label="Start-up as CSV">
          CSV
        </a>
      )}
    </>
  );
  return (
    <Section title="Start-up" name="startup" sectionRef={ref} polled={polled} note={note} actions={actions}>
      {(value) =>
        value.nodes ? (
          <Contents startUp={value} account={view.account} />
        ) : (
          <p class="nothing">No node was allocated in that time while polls watched the pool.</p>
        )
      }
    </Section>
  );
}

function Contents({ startUp, account }: { startUp: StartUp; account: string }) {
  return (
    <div class="startup">
      <p data-testid="startup-summary">{summaryText(startUp)}</p>
      {startUp.findings.map((finding) => (
        <FindingDetails key={finding.code} account={account} finding={finding} open={false} />
      ))}
      <PhaseBar phases={startUp.phases} />
      <PhaseTable startUp={startUp} />
      <GroupTable startUp={startUp} />
    </div>
  );
}

function PhaseTable({ startUp }: { startUp: StartUp }) {
  const phases = new Map(startUp.phases.map((phase) => [phase.phase, phase]));
  return (
    <table class="startup-phases" aria-label="Phases of the start-up">
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col" class="number">
            p50
          </th>
          <th scope="col" class="number">
            p95
          </th>
          <th scope="col" class="number">
            Nodes
          </th>
        </tr>
      </thead>
      <tbody>
        {[...PARTS, ...SUMS].map(([name, title, meaning]) => {
          const phase = phases.get(name);
          const events = name === "preparation" ? startUp.preparationTasks : null;
          return (
            phase && (
              <PhaseRow key={name} phase={phase} title={title} meaning={meaning} nodes={startUp.nodes} events={events} />
            )
          );
        })}
      </tbody>
    </table>
  );
}

interface PhaseRowProps {
  phase: Phase;
  title: string;
  meaning: string;
  nodes: number;
  events: PreparationTasks | null;
}

function PhaseRow({ phase, title, meaning, nodes, events }: PhaseRowProps) {
  return (
    <tr data-phase={phase.phase}>
      <th scope="row">
        <Swatch phase={phase.phase} /> {title} <small>{meaning}</small>
        {phase.unknown.map(({ reason, nodes: some, detail }) => (
          <small key={reason} class="unknown">
            <ExternalText text={unknownText(some, nodes, detail)} />
          </small>
        ))}
        {events && <small class="unknown">{preparationText(events)}</small>}
      </th>
      <td class="number">{spanText(phase.p50Seconds)}</td>
      <td class="number">{spanText(phase.p95Seconds)}</td>
      <td class="number">{formatCount(phase.nodes)}</td>
    </tr>
  );
}
