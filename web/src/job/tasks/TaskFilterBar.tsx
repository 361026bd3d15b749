// Filters of the task list: state or result, cause of failure, beginning of the id, pool, node, exit code, and those that
// only links set.

import { useContext } from "preact/hooks";
import type { TaskCounts } from "../../api/model.ts";
import { formatCount } from "../../format/numbers.ts";
import { visible } from "../../format/text.ts";
import { addressOfJobView, type JobView, type TaskFilters } from "../../routing/jobView.ts";
import { Link, Navigation } from "../../routing/Link.tsx";
import { useDraft } from "../../ui/list/useDraft.ts";
import { ShortId } from "../../ui/text/Id.tsx";
import { TaskStateName } from "../../ui/tiles/StateBar.tsx";
import { rangeChips } from "./rangeChips.ts";

const CHOICES = ["", "active", "preparing", "running", "succeeded", "failed"] as const;

interface FilterBarProps {
  view: JobView;
  counts: TaskCounts | null;
}

export function TaskFilterBar({ view, counts }: FilterBarProps) {
  const { show, failureGroup, poolId } = view.tasks;
  const to = (change: Partial<TaskFilters>) => addressOfJobView({ ...view, tasks: { ...view.tasks, ...change } });
  return (
    <form
      class="filters of-tasks"
      role="search"
      aria-label="Filter tasks"
      onSubmit={(event) => event.preventDefault()}
    >
      <div class="choices capital" role="group" aria-label="State or result">
        {CHOICES.map((state) => (
          <Link key={state} to={to({ show: state })} current={show === state && !(failureGroup && !state)}>
            <TaskStateName state={state || "all"} /> {counts && <span class="much">{formatCount(counts[state || "total"])}</span>}
          </Link>
        ))}
        {failureGroup && (
          <Link to={to({ failureGroup: "" })} class="chip" label="Filtered by one cause of failure; show all causes">
            One cause <span aria-hidden="true">×</span>
          </Link>
        )}
        {poolId && (
          <Link to={to({ poolId: "" })} class="chip" label={`Filtered by the pool ${visible(poolId)}; show all pools`}>
            Pool <ShortId text={poolId} /> <span aria-hidden="true">×</span>
          </Link>
        )}
        {rangeChips(view.tasks).map(({ text, without }) => (
          <Link key={text} to={to(without)} class="chip" label={`Filtered by: ${text}; remove this filter`}>
            {text} <span aria-hidden="true">×</span>
          </Link>
        ))}
      </div>
      <div class="fields">
        <Field view={view} name="prefix" label="Id begins with" />
        <Field view={view} name="nodeId" label="Node" />
        <Field view={view} name="exitCode" label="Exit code" numeric />
      </div>
    </form>
  );
}

interface FieldProps {
  view: JobView;
  name: "prefix" | "nodeId" | "exitCode";
  label: string;
  numeric?: boolean;
}

function Field({ view, name, label, numeric = false }: FieldProps) {
  const navigate = useContext(Navigation);
  const [draft, onInput] = useDraft(view.tasks[name], (text) => {
    if (numeric && text && !/^-?\d{1,10}$/.test(text)) return;
    navigate(addressOfJobView({ ...view, tasks: { ...view.tasks, [name]: text } }), "replace");
  });
  return (
    <input
      type="search"
      name={name}
      aria-label={label}
      placeholder={`${label}…`}
      inputMode={numeric ? "numeric" : "text"}
      pattern={numeric ? "\\s*-?[0-9]{1,10}\\s*" : undefined}
      title={numeric ? "A whole number" : undefined}
      autocomplete="off"
      spellcheck={false}
      value={draft}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
