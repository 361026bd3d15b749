// What the failed tasks of a job have that those that succeeded haven't, and nodes whose tasks fail. Only while in view,
// as the server compares all tasks for an answer.

import type { TaskCounts } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatCount, formatShare } from "../../format/numbers.ts";
import { addressOfJobView, type JobView, NO_TASK_FILTERS } from "../../routing/jobView.ts";
import { Link } from "../../routing/Link.tsx";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { Id, TextWithIds } from "../../ui/text/Id.tsx";
import type { Comparison, Contrast } from "./model.ts";
import { chanceText, comparedText, filtersOf, listedText, resultText, triedText } from "./texts.ts";

const INTERVAL_MS = 60_000;

interface ComparisonSectionProps {
  view: JobView;
  counts: TaskCounts | null;
}

/** Nothing for a job without failed tasks. */
export function ComparisonSection({ view, counts }: ComparisonSectionProps) {
  return counts?.failed ? <PolledComparison view={view} /> : null;
}

function PolledComparison({ view }: { view: JobView }) {
  const { ref, inView } = useInView();
  const path = pathOfJob(view, "comparison");
  const polled = usePolled<Comparison>({ path, intervalMs: INTERVAL_MS, enabled: inView });
  const { value } = polled;
  const note = value && value.comparedFailed > 0 && (
    <>
      {comparedText(value)}, as of <Age at={value.asOf} />
    </>
  );
  return (
    <Section title="What the failed have in common" name="comparison" sectionRef={ref} polled={polled} note={note}>
      {(comparison) => <Contents comparison={comparison} view={view} />}
    </Section>
  );
}

interface ContentsProps {
  comparison: Comparison;
  view: JobView;
}

function Contents({ comparison, view }: ContentsProps) {
  const { contrasts, consequences, findings } = comparison;
  const result = resultText(comparison);
  return (
    <div class="comparison">
      {result && <p>{result}</p>}
      {findings.map((finding) => (
        <FindingDetails key={finding.title} account={view.account} finding={finding} open={findings.length === 1} />
      ))}
      <Contrasts contrasts={contrasts} view={view} label="What the failed tasks have in common" />
      {consequences.length > 0 && (
        <details>
          <summary>Differences that follow from failing</summary>
          <Contrasts contrasts={consequences} view={view} label="Differences that follow from failing" />
        </details>
      )}
      <p class="soft">{triedText(comparison)}</p>
    </div>
  );
}

interface ContrastsProps {
  contrasts: Contrast[];
  view: JobView;
  label: string;
}

function Contrasts({ contrasts, view, label }: ContrastsProps) {
  if (!contrasts.length) return null;
  return (
    <ol class="contrasts" aria-label={label}>
      {contrasts.map((contrast) => (
        <ContrastRow key={`${contrast.attribute} ${contrast.title}`} contrast={contrast} view={view} />
      ))}
    </ol>
  );
}

const CHANCE = "How probable such a group is by chance alone, corrected for all groups that were tried";

function ContrastRow({ contrast, view }: { contrast: Contrast; view: JobView }) {
  const { attribute, title, failed, succeeded, failedShare, succeededShare, sameTasks } = contrast;
  const filters = filtersOf(contrast);
  return (
    <li data-contrast={attribute}>
      <p class="about">
        <b>
          <TextWithIds text={title} />
        </b>{" "}
        <small title={CHANCE}>{chanceText(contrast)}</small>{" "}
        {filters && (
          <Link to={addressOfJobView({ ...view, tasks: { ...NO_TASK_FILTERS, ...filters } })} class="csv">
            Show these tasks
          </Link>
        )}
      </p>
      <Bar state="failed" number={failed} share={failedShare} />
      <Bar state="succeeded" number={succeeded} share={succeededShare} />
      {!filters && contrast.tasks.length > 0 && (
        <details>
          <summary>Show these tasks</summary>
          <p>
            {listedText(contrast)}{" "}
            {contrast.tasks.map((task, index) => (
              <span key={task}>
                {index > 0 && ", "}
                <Id text={task} to={addressOfJobView({ ...view, task })} />
              </span>
            ))}
          </p>
        </details>
      )}
      {sameTasks.length > 0 && (
        <p class="soft">
          Mostly the same tasks:{" "}
          {sameTasks.map((same, index) => (
            <span key={same.title}>
              {index > 0 && "; "}
              <TextWithIds text={same.title} />
            </span>
          ))}
        </p>
      )}
    </li>
  );
}

interface BarProps {
  state: "failed" | "succeeded";
  number: number;
  share: number;
}

/** The share of all failed, or of all succeeded, tasks. */
function Bar({ state, number, share }: BarProps) {
  return (
    <div class="pair" data-share={state}>
      <span class="share-text">
        {formatShare(share, 1)} of the {state}
      </span>
      <span class="track" aria-hidden="true">
        <i data-state={state} style={{ width: `${share * 100}%` }} />
      </span>
      <span class="number">{formatCount(number)}</span>
    </div>
  );
}
