// Why a job's tasks wait: open where nothing of it runs, a line where it runs, and nothing at all where none waits.

import type { Job } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import type { JobView } from "../../routing/jobView.ts";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Shown } from "./Evidence.tsx";
import type { Explanation, Finding, Severity } from "./model.ts";

/** Each answer may cost calls to Batch. */
const INTERVAL_MS = 30_000;
const MARKS: Record<Severity, string> = { blocking: "Blocking", limiting: "Limiting", info: "Note" };

interface WhyProps {
  view: JobView;
  job: Job;
}

export function Why({ view, job }: WhyProps) {
  const counts = job.taskCounts;
  if (job.deleted || !counts) return null;
  const runs = counts.running + counts.preparing > 0;
  const rests = !counts.active && (runs || job.state === "completed" || counts.total > 0);
  if (rests) return null;
  return <Asked key={`${job.state} ${runs}`} view={view} runs={runs} />;
}

function Asked({ view, runs }: { view: JobView; runs: boolean }) {
  const { ref, inView } = useInView();
  const polled = usePolled<Explanation>({ path: pathOfJob(view, "explanation"), intervalMs: INTERVAL_MS, enabled: inView });
  const title = runs ? "Why tasks are waiting" : "Why the job isn't running";
  const note = polled.value && (
    <>
      as of <Age at={polled.value.asOf} none="an unknown time" />
    </>
  );
  return (
    <Section title={title} name="why" part={ref} polled={polled} note={note}>
      {(value) => <Answer account={view.account} value={value} />}
    </Section>
  );
}

interface AnswerProps {
  account: string;
  value: Explanation;
}

function Answer({ account, value: { summary, findings, unknown } }: AnswerProps) {
  const [first, ...others] = findings;
  return (
    <div class="why" data-severity={first?.severity ?? "info"}>
      <p class="summary" data-testid="why-summary">
        <ExternalText text={summary} />
      </p>
      {first && <One account={account} finding={first} open={first.severity === "blocking"} />}
      {others.map((finding) => (
        <One key={finding.code} account={account} finding={finding} open={false} />
      ))}
      {unknown.length > 0 && (
        <div class="unknown">
          <p id="why-unknown">Not determined:</p>
          <ul aria-labelledby="why-unknown">
            {unknown.map((sentence) => (
              <li key={sentence}>
                <ExternalText text={sentence} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

interface OneProps {
  account: string;
  finding: Finding;
  open: boolean;
}

function One({ account, finding, open }: OneProps) {
  return (
    <details class="finding" open={open} data-code={finding.code} data-severity={finding.severity}>
      <summary>
        <span class="weight">{MARKS[finding.severity]}</span>
        <strong>
          <ExternalText text={finding.title} />
        </strong>
        {finding.since && (
          <span class="soft">
            since <Age at={finding.since} />
          </span>
        )}
      </summary>
      <p>
        <ExternalText text={finding.detail} />
      </p>
      <p class="advice">
        <b>What to do:</b> <ExternalText text={finding.advice} />
      </p>
      <Shown account={account} finding={finding} />
    </details>
  );
}
