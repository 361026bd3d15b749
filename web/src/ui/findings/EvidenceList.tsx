// The evidence of a finding: labelled numbers and names, with links to the pages of pools and nodes.

import { formatTime } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { formatChance, formatCount } from "../../format/numbers.ts";
import { spacedWords, visible } from "../../format/text.ts";
import { addressOfDetail } from "../../routing/routes.ts";
import { Id, TextWithIds } from "../text/Id.tsx";
import type { Evidence, Finding } from "./model.ts";

const SPANS = new Set(["estimatedWait", "estimatedWaitOfLast", "freeSlotTime", "idleTime", "jobTime", "longestRun", "maxWallClockTime", "medianRun", "runTime", "startTime", "startUp", "startUpBefore", "startUpTime", "sufficientLimit", "sufficientTaskLimit", "taskTimeLimit", "usualRun"]);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Labels of evidence that its name in the API doesn't explain. */
const LABELS = new Map([
  ["ableNodes", "nodes accepting tasks"],
  ["affectedNodes", "affected nodes"],
  ["asOf", "as of"],
  ["autoScale", "autoscale"],
  ["blockers", "blocking tasks (state): tasks blocked"],
  ["days", "days seen"],
  ["diskMiBPerSecond", "disks, MiB a second"],
  ["estimatedWait", "estimated wait of the first task"],
  ["estimatedWaitOfLast", "estimated wait of the last task"],
  ["endedTasks", "tasks that ended"],
  ["examples", "example nodes"],
  ["expectedFailedTasks", "failed tasks expected by the other nodes"],
  ["failedNodes", "nodes where it failed"],
  ["failingHours", "hours with a failed start task"],
  ["failures", "failures by category"],
  ["fitNodes", "suitable nodes"],
  ["formulaLines", "decisive formula lines"],
  ["formulaVariables", "variables in the formula"],
  ["freeSlotTime", "time of free slots"],
  ["held", "blocked by other tasks"],
  ["heldByCycle", "blocked by a dependency cycle"],
  ["heldByFailed", "blocked by failed tasks"],
  ["heldByMissing", "blocked by missing tasks"],
  ["holders", "other jobs using its slots"],
  ["idleHours", "idle hours"],
  ["idleShare", "idle, in percent"],
  ["idleTime", "time of idle nodes"],
  ["interruptedShare", "without a result, in percent"],
  ["interruptions", "interruptions of spot nodes"],
  ["interruptionsSince", "interruptions counted since"],
  ["isAllWaiting", "all waiting tasks checked"],
  ["jobId", "job"],
  ["jobs", "jobs ahead (priority or age): waiting tasks"],
  ["jobTime", "time that the job took"],
  ["kills", "killed processes"],
  ["lookedAt", "waiting tasks checked"],
  ["medianRun", "median run of tasks"],
  ["measuredRuns", "measured runs"],
  ["memoryGiB", "memory, in GiB"],
  ["mostBusyNodes", "nodes busy at most"],
  ["neededNodes", "nodes needed"],
  ["networkMiBPerSecond", "network of a node, MiB a second"],
  ["nodeId", "node"],
  ["offeredCores", "cores offered"],
  ["offeredGpus", "GPUs offered"],
  ["offeredMemoryGiB", "memory offered, in GiB"],
  ["otherJobs", "more jobs ahead"],
  ["poolId", "pool"],
  ["pValue", "chance, corrected for all nodes"],
  ["preemptedTasks", "tasks requeued for these jobs"],
  ["preemptingJobs", "jobs that took its slots: requeues"],
  ["preparedNodes", "nodes where it succeeded"],
  ["reports", "reports of nodes"],
  ["requeuesWithoutJob", "requeues of unknown cause"],
  ["requiredSlots", "slots of the largest task"],
  ["retriedShare", "retried, in percent"],
  ["runTime", "time with tasks"],
  ["runsWithGpu", "runs with memory of a GPU"],
  ["samples", "samples of busy nodes"],
  ["share", "share of slots that become free"],
  ["slotsPerNode", "slots per node"],
  ["startTime", "time of starts"],
  ["startUp", "median start-up"],
  ["startUpBefore", "median start-up before"],
  ["startUpShare", "share of start-ups"],
  ["startUpTime", "time of start-ups"],
  ["stolenShare", "share of stolen CPU time"],
  ["sufficientLimit", "limit of the job that suffices"],
  ["sufficientSize", "VM size that suffices"],
  ["sufficientSlots", "slots per node that suffice"],
  ["sufficientTaskLimit", "limit of tasks that suffices"],
  ["target", "target nodes"],
  ["taskTimeLimit", "time limit of tasks"],
  ["tasksEndedPerMinute", "tasks ended per minute"],
  ["throttledShare", "share of CPU time at limits"],
  ["unsure", "undetermined tasks"],
  ["usedGpuShare", "used share of GPUs"],
  ["usualRun", "95 % of runs at most"],
  ["vmSize", "VM size"],
]);

interface EvidenceListProps {
  account: string;
  finding: Finding;
}

/** Unknown evidence is omitted. */
export function EvidenceList({ account, finding }: EvidenceListProps) {
  const known = Object.entries(finding.evidence).filter(
    ([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
  if (!known.length) return null;
  return (
    <dl class="evidence">
      {known.map(([name, value]) => (
        <div key={name} data-wide={Array.isArray(value) || String(value).length > 40}>
          <dt>{visible(LABELS.get(name) ?? spacedWords(name))}</dt>
          <dd>
            <Value name={name} value={value} addressOf={addressesOf(account, finding, name)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

type AddressOf = ((text: string) => string) | null;

/** Returns a function from ids to addresses, for evidence that names existing pools or nodes. */
function addressesOf(account: string, { code, evidence: { poolId: pool } }: Finding, name: string): AddressOf {
  if (typeof pool !== "string" || code === "poolMissing") return null;
  if (name === "poolId") return (id) => addressOfDetail("pools", account, id);
  return name === "examples" ? (node) => addressOfDetail("pools", account, pool, { node }) : null;
}

function Value({ name, value, addressOf }: { name: string; value: Evidence; addressOf: AddressOf }) {
  if (Array.isArray(value)) {
    return (
      <ul>
        {value.map((text) => (
          <li key={text}>
            <Text text={text} addressOf={addressOf} />
          </li>
        ))}
      </ul>
    );
  }
  if (name === "pValue" && typeof value === "number") return <>{formatChance(value)}</>;
  if (typeof value === "number") return <>{SPANS.has(name) ? formatSeconds(value) : formatCount(value)}</>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  return (
    <Text text={TIME.test(value ?? "") ? formatTime(Date.parse(value ?? "")) : (value ?? "")} addressOf={addressOf} />
  );
}

function Text({ text, addressOf }: { text: string; addressOf: AddressOf }) {
  return addressOf ? <Id text={text} to={addressOf(text)} /> : <TextWithIds text={text} />;
}
