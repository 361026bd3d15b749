// The tasks of a job, a page at a time: the server filters, orders and pages.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sameOriginPath } from "../../api/client.ts";
import type { Page, TaskCounts } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { CsvButton } from "../../export/CsvButton.tsx";
import { addressOfJobView, type JobView, NO_TASK_FILTERS } from "../../routing/jobView.ts";
import { Link } from "../../routing/Link.tsx";
import { Pagination } from "../../ui/list/Pagination.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import type { Task } from "./model.ts";
import { rowsOfCsv, tasksOf, tasksQuery } from "./query.ts";
import { TaskFilterBar } from "./TaskFilterBar.tsx";
import { TaskTable } from "./TaskTable.tsx";

const INTERVAL_MS = 10_000;
/** Where the server looks at all tasks for each page. */
const SORTED_INTERVAL_MS = 30_000;

interface TaskSectionProps {
  view: JobView;
  counts: TaskCounts | null;
  open: (task: string) => void;
}

export function TaskSection({ view, counts, open }: TaskSectionProps) {
  const { ref, inView } = useInView();
  const first = pathOfJob(view, "tasks") + tasksQuery(view.tasks, "json");
  const [turned, turn] = useState<{ first: string; pages: string[] }>({ first, pages: [] });
  useEffect(() => turn({ first, pages: [] }), [first]);
  const pages = turned.first === first ? turned.pages : [];
  const intervalMs = view.tasks.orderby ? SORTED_INTERVAL_MS : INTERVAL_MS;
  const polled = usePolled<Page<Task>>({ path: pages.at(-1) ?? first, intervalMs, enabled: inView });
  useShown(ref, view.tasks.failureGroup);
  const next = polled.fresh && polled.value?.nextLink;
  const { most, known } = counts ? tasksOf(view.tasks, counts) : { most: next || pages.length ? Infinity : 0, known: false };
  const csv = (
    <CsvButton
      href={pathOfJob(view, "tasks") + tasksQuery(view.tasks, "csv")}
      file={`${view.job}-tasks.csv`}
      of="tasks"
      several={most > rowsOfCsv(view.tasks)}
      about={known ? most : null}
    />
  );
  return (
    <Section
      title="Tasks"
      name="tasks"
      part={ref}
      polled={polled}
      actions={csv}
      controls={<TaskFilterBar view={view} counts={counts} />}
    >
      {({ value }) => (
        <>
          {value.length ? <TaskTable tasks={value} view={view} open={open} /> : <NoTasks view={view} />}
          <Pagination
            of="tasks"
            before={pages.length}
            fresh={polled.fresh}
            more={Boolean(next)}
            back={() => turn({ first, pages: pages.slice(0, -1) })}
            next={() => next && turn({ first, pages: [...pages, sameOriginPath(next)] })}
          />
        </>
      )}
    </Section>
  );
}

/** Brings the list into sight when another cause of failure is asked for. */
function useShown(ref: RefObject<HTMLElement | null>, cause: string) {
  const before = useRef(cause);
  useEffect(() => {
    if (cause && cause !== before.current && (ref.current?.getBoundingClientRect().top ?? 0) > window.innerHeight / 2) {
      ref.current?.scrollIntoView({ block: "start" });
    }
    before.current = cause;
  }, [cause]);
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
