// The setup of a pool: the autoscale formula with its evaluations, the start task, and the settings of machines.

import type { Page } from "../api/model.ts";
import { pathOfPool } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { formatExactTime } from "../format/dates.ts";
import { formatSeconds, parseDuration } from "../format/durations.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { agentVersionsText } from "../nodes/summaries.ts";
import { FailureText } from "../ui/page/ErrorNotice.tsx";
import { TitledCard } from "../ui/page/TitledCard.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalLines, ExternalText } from "../ui/text/ExternalText.tsx";
import { Fields, FieldText } from "../ui/text/Fields.tsx";
import type { AutoScale, Evaluation, Pool, Retirement, SettingChange, StartTask } from "./model.ts";
import { endOf } from "./problems.ts";
import { changeText } from "./settingChanges.ts";
import { FormulaForm } from "./whatif/FormulaForm.tsx";

const RUNS_INTERVAL_MS = 15_000;

export function PoolSetup({ pool }: { pool: Pool }) {
  return (
    <div class="setup">
      <TitledCard title="Autoscale" name="autoscale">
        <div class="inside">
          {pool.autoScale ? (
            <AutoscaleDetails scale={pool.autoScale} pool={pool} />
          ) : (
            <p class="soft">Fixed size; autoscale is off.</p>
          )}
          <details>
            <summary>Try another formula</summary>
            <FormulaForm pool={pool} />
          </details>
        </div>
      </TitledCard>
      <TitledCard title="Start task" name="start-task">
        <div class="inside">
          {pool.startTask ? (
            <StartTaskDetails task={pool.startTask} />
          ) : (
            <p class="soft">The pool has no start task.</p>
          )}
        </div>
      </TitledCard>
      <TitledCard title="Settings" name="settings">
        <div class="inside">
          <RetirementList retirements={pool.retirements} />
          <AgentVersions versions={pool.nodeAgentVersions} />
          {pool.settings ? <Fields value={pool.settings} /> : <p class="soft">Not read yet.</p>}
          <LeftOut names={pool.settingsLeftOut} />
          <SettingChanges changes={pool.settingChanges} more={pool.settingChangesLeftOut} />
        </div>
      </TitledCard>
    </div>
  );
}

/** What Azure retires of these settings; dates move, so each has its source. */
function RetirementList({ retirements }: { retirements: Retirement[] }) {
  return retirements.map((one) => (
    <p key={one.id} class="retirement" data-retirement={one.id}>
      <strong>
        <ExternalText text={endOf(one)} />.
      </strong>{" "}
      <ExternalText text={one.effect} /> Use instead: <ExternalText text={one.instead} />{" "}
      <a href={one.source} rel="noreferrer">
        Announcement
      </a>{" "}
      <span class="soft">as read on {one.readOn}</span>
    </p>
  ));
}

/** Versions of Batch's own agent; several are worth a note, as nodes of one pool behave differently then. */
function AgentVersions({ versions }: { versions: Pool["nodeAgentVersions"] }) {
  const text = agentVersionsText(versions);
  if (!text) return null;
  const isMixed = Object.keys(versions ?? {}).length > 1;
  return (
    <p class={isMixed ? "" : "soft"} data-testid="agent-versions" data-mixed={isMixed}>
      {isMixed ? <strong>Nodes have different versions of Batch's node agent:</strong> : "Batch's node agent:"}{" "}
      <ExternalText text={text} />.{isMixed && " A node keeps its version; new nodes get the newest."}
    </p>
  );
}

function LeftOut({ names }: { names: string[] }) {
  if (!names.length) return null;
  return (
    <p class="soft" data-testid="settings-left-out">
      Not shown, as Batch sent another type than expected: <ExternalText text={names.join(", ")} />
    </p>
  );
}

function SettingChanges({ changes, more }: { changes: SettingChange[]; more: number }) {
  if (!changes.length) return null;
  return (
    <section aria-label="Changes">
      <h4>Changes</h4>
      <ol class="runs scroll" tabIndex={0} data-testid="setting-changes">
        {changes.map((change) => (
          <li key={`${change.time} ${change.name}`}>
            <time dateTime={change.time}>{formatExactTime(Date.parse(change.time))}</time>
            <span>
              <ExternalText text={changeText(change)} />
            </span>
          </li>
        ))}
      </ol>
      {more > 0 && <p class="soft">With the last ones {plural(more, "more change")} that aren't kept</p>}
    </section>
  );
}

function AutoscaleDetails({ scale, pool }: { scale: AutoScale; pool: Pool }) {
  const interval = scale.evaluationInterval && parseDuration(scale.evaluationInterval) / 1000;
  return (
    <>
      <p class="soft">
        Evaluated {interval ? `every ${formatSeconds(interval)}, last ` : "last "}
        <Age at={scale.lastEvaluation} none="at an unknown time" />
      </p>
      {scale.error && (
        <p class="bad">
          <strong>
            <ExternalText text={scale.error.code} />
          </strong>{" "}
          <ExternalText text={scale.error.message} />
        </p>
      )}
      {scale.formula && (
        <pre aria-label="Formula" tabIndex={0}>
          <ExternalLines text={scale.formula} />
        </pre>
      )}
      {scale.results && (
        <>
          <h4>Result of the last evaluation</h4>
          <ul class="results">
            {resultsOf(scale.results).map((each) => (
              <li key={each}>
                <code>
                  <ExternalText text={each} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
      <AutoscaleRuns pool={pool} />
    </>
  );
}

/** The latest evaluations that polls recorded, with the errors of failed ones. */
function AutoscaleRuns({ pool: { account, id: pool } }: { pool: Pool }) {
  const { ref, inView } = useInView();
  const { value, failure } = usePolled<Page<Evaluation>>({
    path: pathOfPool({ account, pool }, "autoscaleruns"),
    intervalMs: RUNS_INTERVAL_MS,
    enabled: inView,
  });
  return (
    <section ref={ref} aria-label="Evaluations">
      <h4>Recorded evaluations</h4>
      {failure && !value && (
        <p class="bad">
          <FailureText failure={failure} />
        </p>
      )}
      {value && !value.value.length && <p class="soft">None yet.</p>}
      {value && value.value.length > 0 && (
        <ol class="runs scroll" tabIndex={0} data-testid="autoscale-runs">
          {value.value.map(({ timestamp, results, error }) => (
            <li key={timestamp}>
              <time dateTime={timestamp}>{formatExactTime(Date.parse(timestamp))}</time>
              {error ? (
                <span class="bad">
                  <ExternalText text={`${error.code}: ${error.message}`} />
                </span>
              ) : (
                <span>
                  <ExternalText text={resultsOf(results ?? "").join(", ") || "no results"} />
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** The parts of "$TargetDedicatedNodes=8;pending=8". */
function resultsOf(results: string): string[] {
  return results
    .split(";")
    .map((each) => each.trim())
    .filter(Boolean);
}

function StartTaskDetails({ task }: { task: StartTask }) {
  const environment = Object.entries(task.environment);
  return (
    <>
      <p class="soft">
        {task.waitForSuccess ? "Nodes accept tasks only after it succeeds" : "Nodes accept tasks without waiting for it"};{" "}
        {retriesOf(task)}
      </p>
      <pre aria-label="Command line" tabIndex={0}>
        <FieldText text={task.commandLine} />
      </pre>
      {environment.length > 0 && (
        <>
          <h4>Environment</h4>
          <ul class="results">
            {environment.map(([name, value]) => (
              <li key={name}>
                <code>
                  <ExternalText text={name} />
                </code>{" "}
                = <FieldText text={value} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Batch's -1 means no limit. */
function retriesOf({ maxTaskRetryCount: limit }: StartTask): string {
  if (limit < 0) return "unlimited retries";
  if (limit === 0) return "no retries";
  return limit === 1 ? "at most 1 retry" : `at most ${formatCount(limit)} retries`;
}
