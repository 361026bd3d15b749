// Explains why a job's tasks wait. Renders nothing if none waits.

import type { Job } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import type { JobView } from "../../routing/jobView.ts";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { TextWithIds } from "../../ui/text/Id.tsx";
import type { Explanation } from "./model.ts";

/** Each response may cost requests to Batch. */
const INTERVAL_MS = 30_000;

interface ExplanationSectionProps {
  view: JobView;
  job: Job;
}

export function ExplanationSection({ view, job }: ExplanationSectionProps) {
  const counts = job.taskCounts;
  if (job.deleted || !counts) return null;
  const isRunning = counts.running + counts.preparing > 0;
  const isNoneWaiting = !counts.active && (isRunning || job.state === "completed" || counts.total > 0);
  if (isNoneWaiting) return null;
  return <PolledExplanation key={`${job.state} ${isRunning}`} view={view} isRunning={isRunning} />;
}

function PolledExplanation({ view, isRunning }: { view: JobView; isRunning: boolean }) {
  const { ref, inView } = useInView();
  const polled = usePolled<Explanation>({
    path: pathOfJob(view, "explanation"),
    intervalMs: INTERVAL_MS,
    enabled: inView,
  });
  const title = isRunning ? "Why tasks are waiting" : "Why the job isn't running";
  const note = polled.value && (
    <>
      as of <Age at={polled.value.asOf} none="an unknown time" />
    </>
  );
  return (
    <Section title={title} name="why" sectionRef={ref} polled={polled} note={note}>
      {(explanation) => <ExplanationDetails account={view.account} explanation={explanation} />}
    </Section>
  );
}

interface ExplanationDetailsProps {
  account: string;
  explanation: Explanation;
}

function ExplanationDetails({ account, explanation: { summary, findings, unknown } }: ExplanationDetailsProps) {
  const [first, ...others] = findings;
  return (
    <div class="why" data-severity={first?.severity ?? "info"}>
      <p class="summary" data-testid="why-summary">
        <TextWithIds text={summary} />
      </p>
      {first && <FindingDetails account={account} finding={first} open={first.severity === "blocking"} />}
      {others.map((finding) => (
        <FindingDetails key={`${finding.code} ${finding.title}`} account={account} finding={finding} open={false} />
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
