// The tasks of a job, a page at a time; the server filters, sorts and pages.

import { useEffect, useRef } from "preact/hooks";
import type { Page, TaskCounts } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { CsvButton } from "../../export/CsvButton.tsx";
import { addressOfJobView, type JobView, NO_TASK_FILTERS } from "../../routing/jobView.ts";
import { Link } from "../../routing/Link.tsx";
import { Pagination } from "../../ui/list/Pagination.tsx";
import { usePages } from "../../ui/list/usePages.ts";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import type { Task } from "./model.ts";
import { maxTasks, rowsOfCsv, tasksQuery } from "./query.ts";
import { TaskFilterBar } from "./TaskFilterBar.tsx";
import { TaskTable } from "./TaskTable.tsx";

const INTERVAL_MS = 10_000;
/** For sorted lists, as the server compares all tasks for each page. */
const SORTED_INTERVAL_MS = 30_000;

interface TaskSectionProps {
  view: JobView;
  counts: TaskCounts | null;
  open: (task: string) => void;
}

export function TaskSection({ view, counts, open }: TaskSectionProps) {
  const { ref, element, inView } = useInView();
  const first = pathOfJob(view, "tasks") + tasksQuery(view.tasks, "json");
  const pages = usePages(first);
  const intervalMs = view.tasks.orderby ? SORTED_INTERVAL_MS : INTERVAL_MS;
  const polled = usePolled<Page<Task>>({ path: pages.path, intervalMs, enabled: inView });
  const { failureGroup, poolId, slots, startedFrom, startedTo, runTimeFrom, runTimeTo } = view.tasks;
  const chosen = [failureGroup, poolId, slots, startedFrom, startedTo, runTimeFrom, runTimeTo].join(" ").trim();
  useScrollIntoView(element, chosen);
  const next = polled.fresh && polled.value?.nextLink;
  const { max, isExact } = counts
    ? maxTasks(view.tasks, counts)
    : { max: next || pages.before ? Infinity : 0, isExact: false };
  const csv = (
    <CsvButton
      href={pathOfJob(view, "tasks") + tasksQuery(view.tasks, "csv")}
      file={`${view.job}-tasks.csv`}
      noun="tasks"
      several={max > rowsOfCsv(view.tasks)}
      about={isExact ? max : null}
    />
  );
  return (
    <Section
      title="Tasks"
      name="tasks"
      sectionRef={ref}
      polled={polled}
      actions={csv}
      controls={<TaskFilterBar view={view} counts={counts} />}
    >
      {({ value }) => (
        <>
          {value.length ? <TaskTable tasks={value} view={view} open={open} /> : <NoTasks view={view} />}
          <Pagination
            noun="tasks"
            before={pages.before}
            fresh={polled.fresh}
            more={Boolean(next)}
            back={pages.back}
            next={() => next && pages.open(next)}
          />
        </>
      )}
    </Section>
  );
}

/** Scrolls the list into view when the user chooses other tasks in a section above. */
function useScrollIntoView(element: HTMLElement | null, chosen: string) {
  const before = useRef(chosen);
  useEffect(() => {
    if (chosen && chosen !== before.current && (element?.getBoundingClientRect().top ?? 0) > window.innerHeight / 2) {
      element?.scrollIntoView({ block: "start" });
    }
    before.current = chosen;
  }, [chosen]);
}

function NoTasks({ view }: { view: JobView }) {
  const filtered = Object.entries(view.tasks).some(([key, value]) => value && key !== "orderby");
  if (!filtered) return <p class="nothing">The job has no tasks, or they haven't been read yet.</p>;
  return (
    <p class="nothing">
      No task matches. <Link to={addressOfJobView({ ...view, tasks: NO_TASK_FILTERS })}>Show all tasks</Link>
    </p>
  );
}
