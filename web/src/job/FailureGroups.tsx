// Failures by cause, the most frequent first, each with what kept outputs say. A cause filters the list of tasks below.

import { Fragment } from "preact";
import { pathOfJob } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { formatTime } from "../format/dates.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { addressOfJobView, type JobView, NO_TASK_FILTERS } from "../routing/jobView.ts";
import { Link } from "../routing/Link.tsx";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { Section } from "../ui/page/Section.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import { KeptOutputs } from "./KeptOutputs.tsx";
import type { FailureGroup, Failures } from "./model.ts";
import { RerunScripts } from "./RerunScripts.tsx";
import { batchTerms, causeLabel } from "./tasks/cause.ts";

const INTERVAL_MS = 10_000;

interface FailuresProps {
  view: JobView;
  open: (task: string) => void;
}

export function FailureGroups({ view, open }: FailuresProps) {
  const { ref, inView } = useInView();
  const polled = usePolled<Failures>({ path: pathOfJob(view, "failures"), intervalMs: INTERVAL_MS, enabled: inView });
  const failures = polled.value;
  const note = failures && (
    <>
      {failures.failed ? `${plural(failures.failed, "failed task")}, ` : ""}
      as of <Age at={failures.asOf} />
    </>
  );
  return (
    <Section title="Failures by cause" name="failures" sectionRef={ref} polled={polled} note={note}>
      {(value) =>
        value.groups.length ? (
          <Groups failures={value} view={view} open={open} />
        ) : (
          <p class="nothing">{emptyText(value)}</p>
        )
      }
    </Section>
  );
}

function emptyText({ failed, ungrouped }: Failures): string {
  if (failed === null) return "The job's tasks haven't been read yet.";
  return ungrouped ? `The causes of ${plural(ungrouped, "failure")} aren't known yet.` : "No task has failed.";
}

const COLUMNS = ["Cause", "Tasks", "First – last", "Nodes", "Examples"];

function Groups({ failures, view, open }: FailuresProps & { failures: Failures }) {
  const groups = failures.groups.toSorted((one, other) => other.count - one.count);
  return (
    <>
      <table class="groups" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {COLUMNS.map((title) => (
              <ColumnHeader key={title} kind={title === "Tasks" ? "number" : ""}>
                {title}
              </ColumnHeader>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {groups.map((group) => (
            <Fragment key={group.id}>
              <GroupRow group={group} max={groups[0]?.count ?? 1} view={view} open={open} />
              {group.kept > 0 && <OutputRow group={group} view={view} />}
            </Fragment>
          ))}
        </tbody>
      </table>
      {failures.ungrouped > 0 && (
        <p class="rest">{plural(failures.ungrouped, "more failure")} with rarer causes aren't grouped.</p>
      )}
    </>
  );
}

function GroupRow({ group, max, view, open }: FailuresProps & { group: FailureGroup; max: number }) {
  const chosen = view.tasks.failureGroup === group.id;
  const tasks = chosen ? NO_TASK_FILTERS : { ...NO_TASK_FILTERS, failureGroup: group.id };
  return (
    <tr role="row" data-group={group.id} data-chosen={chosen}>
      <th role="rowheader" scope="row" class="cause">
        <Link to={addressOfJobView({ ...view, tasks })} current={chosen}>
          {causeLabel(group)}
        </Link>
        <small class="terms">
          <ExternalText text={batchTerms(group)} />
        </small>
        {group.advice && (
          <p class="advice">
            <ExternalText text={group.advice} />
          </p>
        )}
        <RerunScripts view={view} group={group} />
      </th>
      <td role="cell" class="number">
        <b>{formatCount(group.count)}</b>
        <meter min={0} max={max} value={group.count} aria-hidden="true" />
      </td>
      <td role="cell" class="times">
        <span>
          <Moment at={group.firstTime} /> –
        </span>{" "}
        <Moment at={group.lastTime} />
      </td>
      <td role="cell" class="nodes">
        <Nodes group={group} />
      </td>
      <td role="cell" class="examples">
        {group.tasks.map((task) => (
          <div key={task}>
            <Id text={task} class="name" open={() => open(task)} />
          </div>
        ))}
      </td>
    </tr>
  );
}

/** What the tasks of the cause above wrote last. */
function OutputRow({ group, view }: { group: FailureGroup; view: JobView }) {
  return (
    <tr role="row" class="outputs" data-outputs-of={group.id} data-chosen={view.tasks.failureGroup === group.id}>
      <td role="cell" colSpan={COLUMNS.length} aria-colspan={COLUMNS.length}>
        <KeptOutputs group={group} view={view} />
      </td>
    </tr>
  );
}

function Moment({ at }: { at: string | null }) {
  return at ? <time dateTime={at}>{formatTime(Date.parse(at))}</time> : <>unknown</>;
}

const NODES_SHOWN = 3;

function Nodes({ group: { nodes, otherNodes } }: { group: FailureGroup }) {
  const hidden = nodes.slice(NODES_SHOWN).reduce((sum, { count: failures }) => sum + failures, otherNodes);
  if (!nodes.length) return <span class="soft">unknown</span>;
  // Tasks of unnamed nodes may also be on these nodes, so the counts are lower bounds.
  const atLeast = otherNodes ? "≥ " : "";
  return (
    <ul title={nodes.map(({ nodeId, count: failures }) => `${visible(nodeId)}: ${atLeast}${failures}`).join("\n")}>
      {nodes.slice(0, NODES_SHOWN).map(({ nodeId, poolId, count: failures }) => (
        <li key={`${poolId} ${nodeId}`}>
          <span class="node">
            <Id text={nodeId} />
          </span>
          <small>
            {atLeast}
            {formatCount(failures)}
          </small>
        </li>
      ))}
      {hidden > 0 && <li class="soft">{formatCount(hidden)} on other nodes</li>}
    </ul>
  );
}
