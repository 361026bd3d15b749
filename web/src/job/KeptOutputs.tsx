// What kept outputs of the failed tasks of one cause say, the most frequent first. Everything in them is from outside.

import { useState } from "preact/hooks";
import { formatExactTime, formatTime } from "../format/dates.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { addressOfJobView, type JobView } from "../routing/jobView.ts";
import { addressOfDetail } from "../routing/routes.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import { examplesOf, listedOutputs, nodesText, sampleText } from "./keptOutputs.ts";
import type { FailureGroup, OutputGroup } from "./model.ts";
import { OomKills } from "./OomKills.tsx";

interface KeptOutputsProps {
  group: FailureGroup;
  view: JobView;
}

export function KeptOutputs({ group, view }: KeptOutputsProps) {
  const { shown, folded, unlisted } = listedOutputs(group);
  return (
    <>
      <h4>
        What they wrote last <small>{sampleText(group)}</small>
      </h4>
      <OutputList outputs={shown} kept={group.kept} view={view} />
      {folded.length > 0 && (
        <details>
          <summary>{plural(folded.length, "rarer message")}</summary>
          <OutputList outputs={folded} kept={group.kept} view={view} />
        </details>
      )}
      {unlisted > 0 && <p class="soft">Not listed: {plural(unlisted, "more kept output")} with rarer messages.</p>}
    </>
  );
}

interface OutputListProps {
  outputs: OutputGroup[];
  kept: number;
  view: JobView;
}

function OutputList({ outputs, kept, view }: OutputListProps) {
  return (
    <ul>
      {outputs.map((output) => (
        <li key={output.id} data-output={output.id}>
          <div class="said">
            <h5>
              <ExternalText text={output.title} />
            </h5>
            <small>
              {formatCount(output.count)} of {plural(kept, "kept output")}
              {output.nodes.length > 0 && `, on ${nodesText(output)}`}, since{" "}
              <time dateTime={output.first.endTime}>{formatTime(Date.parse(output.first.endTime))}</time>
            </small>
          </div>
          <Excerpt lines={output.lines} />
          {output.advice && (
            <p class="advice">
              <ExternalText text={output.advice} />
            </p>
          )}
          <p class="shown-by">
            {examplesOf(output).map(({ name, taskId, endTime }) => (
              <span key={name}>
                {name}: <Id text={taskId} to={addressOfJobView({ ...view, task: taskId })} />
                {", "}
                <time dateTime={endTime}>{formatExactTime(Date.parse(endTime))}</time>
              </span>
            ))}
          </p>
          <TasksAndNodes output={output} view={view} />
        </li>
      ))}
    </ul>
  );
}

/** All tasks whose kept outputs say this, and the nodes on which they ran. */
function TasksAndNodes({ output, view }: { output: OutputGroup; view: JobView }) {
  const { tasks, nodes, otherNodes, count } = output;
  const [isOpen, setOpen] = useState(false);
  const unlisted = count - tasks.length;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{plural(count, "task")} and where they ran</summary>
      <dl class="places">
        <dt>Tasks</dt>
        <dd>
          {tasks.map((task) => (
            <span key={task}>
              <Id text={task} to={addressOfJobView({ ...view, task })} />
            </span>
          ))}
          {unlisted > 0 && <span class="soft">and {formatCount(unlisted)} later ones</span>}
        </dd>
        <dt>Nodes</dt>
        <dd>
          {nodes.map(({ poolId, nodeId, count: tasksThere }) => (
            <span key={`${poolId} ${nodeId}`}>
              <Id text={nodeId} to={addressOfDetail("pools", view.account, poolId ?? "", { node: nodeId })} />{" "}
              {plural(tasksThere, "task")}
            </span>
          ))}
          {otherNodes > 0 && <span class="soft">{plural(otherNodes, "task")} on other nodes or unknown ones</span>}
        </dd>
      </dl>
      {isOpen && output.failureCategory === "outOfMemory" && <OomKills output={output} view={view} />}
    </details>
  );
}

const FEW_LINES = 4;

/** The lines of the first example as they were written; many are folded. */
function Excerpt({ lines }: Pick<OutputGroup, "lines">) {
  if (!lines.length) return null;
  const text = <pre class="log">{lines.map(visible).join("\n")}</pre>;
  if (lines.length <= FEW_LINES) return text;
  return (
    <details>
      <summary>{plural(lines.length, "line")} of the first example</summary>
      {text}
    </details>
  );
}
