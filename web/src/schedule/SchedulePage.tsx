// The page of a job schedule: summary, latest jobs, job template.

import { POLL_MS } from "../api/poller.ts";
import { usePolled } from "../api/usePolled.ts";
import { visible } from "../format/text.ts";
import { Breadcrumb, useDetailPage } from "../ui/page/Breadcrumb.tsx";
import { DetailBody, NotFound } from "../ui/page/DetailPage.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { TitledCard } from "../ui/page/TitledCard.tsx";
import { Fields } from "../ui/text/Fields.tsx";
import type { ScheduleDetails } from "./model.ts";
import { RunsTable } from "./RunsTable.tsx";
import { ScheduleSummary } from "./ScheduleSummary.tsx";

interface SchedulePageProps {
  account: string;
  id: string;
  /** The address at which the list was left. */
  back: string;
}

export function SchedulePage({ account, id, back }: SchedulePageProps) {
  const path = ["/api/accounts", ...[account, "jobschedules", id].map(encodeURIComponent)].join("/");
  const polled = usePolled<ScheduleDetails>({ path, intervalMs: POLL_MS });
  useDetailPage(id, back);
  const { value, failure } = polled;
  const gone = failure?.status === 404 && !value;
  return (
    <Shell tab="schedules" account={account} back={back} result={polled} showsErrors retry={polled.retry}>
      <Breadcrumb tab="schedules" account={account} id={id} name="schedule" />
      {gone ? (
        <NotFound name="schedule" back={back} failure={failure} />
      ) : (
        <DetailBody polled={polled} name="schedule">
          {(schedule) => <Contents schedule={schedule} />}
        </DetailBody>
      )}
    </Shell>
  );
}

function Contents({ schedule }: { schedule: ScheduleDetails }) {
  return (
    <>
      <ScheduleSummary schedule={schedule} />
      <TitledCard title="Latest jobs" name="runs">
        <RunsTable schedule={schedule} />
      </TitledCard>
      <TitledCard title="Job template" name="specification">
        <Specification schedule={schedule} />
      </TitledCard>
    </>
  );
}

function Specification({ schedule }: { schedule: ScheduleDetails }) {
  const { jobSpecification, jobSpecificationProblem, omittedProperties } = schedule;
  return (
    <div class="specification">
      {jobSpecification ? (
        <Fields value={jobSpecification} />
      ) : (
        <p class="soft">{jobSpecificationProblem ?? "The job template hasn't been read yet."}</p>
      )}
      {omittedProperties.length > 0 && <p class="soft">Not shown: {visible(omittedProperties.join(", "))}.</p>}
    </div>
  );
}
