// The outcome of a task: result and cause, when and where it ran, how often, and its command line.

import type { ComponentChildren } from "preact";
import { formatExactTime } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { addressOfDetail } from "../../routing/routes.ts";
import { TimeInState } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { FieldText } from "../../ui/text/Fields.tsx";
import { Id, TextWithIds } from "../../ui/text/Id.tsx";
import { TaskStateName } from "../../ui/tiles/StateBar.tsx";
import type { Execution, LiveTask } from "./model.ts";
import { attemptsText, causeText, failureLines, stateOf, waitedText } from "./outcome.ts";

interface TaskOutcomeProps {
  account: string;
  task: LiveTask;
}

export function TaskOutcome({ account, task }: TaskOutcomeProps) {
  const run = task.executionInfo ?? {};
  const state = stateOf(task);
  const cause = causeText(task);
  const said = failureLines(run);
  const attempts = attemptsText(task);
  return (
    <section class="outcome" data-testid="outcome" data-outcome={state} aria-label="Outcome">
      <p class="result">
        <span class="swatch" data-state={state} aria-hidden="true" />{" "}
        <strong class="capital">
          <TaskStateName state={state} />
        </strong>{" "}
        {cause && (
          <span class="cause">
            <ExternalText text={cause} />
          </span>
        )}
        {task.state !== "completed" && (
          <span class="soft">
            for <TimeInState since={task.stateTransitionTime ?? null} />
          </span>
        )}
      </p>
      {said.length > 0 && (
        <ul class="said" aria-label="What Batch says of it">
          {said.map((line) => (
            <li key={line}>
              <TextWithIds text={line} />
            </li>
          ))}
        </ul>
      )}
      <dl class="fields-of">
        {run.startTime && (
          <Field name={run.endTime ? "Ran" : "Started"}>
            <RunTime run={run} />
            {waitedText(task)}
          </Field>
        )}
        {task.nodeInfo?.nodeId && (
          <Field name="On node">
            <NodeLink account={account} pool={task.nodeInfo.poolId ?? ""} node={task.nodeInfo.nodeId} />
          </Field>
        )}
        {attempts && <Field name="Attempts">{attempts}</Field>}
        {task.commandLine && (
          <Field name="Command line" wide>
            <FieldText text={task.commandLine} />
          </Field>
        )}
      </dl>
    </section>
  );
}

interface FieldProps {
  name: string;
  wide?: boolean;
  children: ComponentChildren;
}

function Field({ name, wide = false, children }: FieldProps) {
  return (
    <div class={wide ? "wide-field" : ""}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RunTime({ run: { startTime, endTime } }: { run: Execution }) {
  const from = Date.parse(startTime ?? "");
  if (!endTime) return <>{formatExactTime(from)}</>;
  const to = Date.parse(endTime);
  return (
    <>
      <b>{formatSeconds(Math.max(0, to - from) / 1000)}</b>, {formatExactTime(from)} to {formatExactTime(to)}
    </>
  );
}

function NodeLink({ account, pool, node }: { account: string; pool: string; node: string }) {
  if (!pool) return <Id text={node} />;
  return (
    <>
      <Id text={node} to={addressOfDetail("pools", account, pool, { node })} /> of pool{" "}
      <Id text={pool} to={addressOfDetail("pools", account, pool)} />
    </>
  );
}
