// The panel of a node, as of its last poll: state and cause, start task, errors, telemetry, tasks, history,
// events, files.

import { useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { LatestEvents } from "../../events/LatestEvents.tsx";
import { formatExactTime } from "../../format/dates.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { capitalized, visible } from "../../format/text.ts";
import { InterruptionSummary } from "../../nodes/InterruptionSummary.tsx";
import type { Node } from "../../nodes/model.ts";
import { GroupSwatch } from "../../nodes/NodeBar.tsx";
import { stateGroupOf, stateLabel } from "../../nodes/stateGroups.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { NodeTelemetry } from "../../telemetry/NodeTelemetry.tsx";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import type { Finding } from "../../ui/findings/model.ts";
import { ErrorNotice } from "../../ui/page/ErrorNotice.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Loading } from "../../ui/page/PolledContents.tsx";
import { Age, TimeInState } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { FieldText } from "../../ui/text/Fields.tsx";
import { Id, TextWithIds } from "../../ui/text/Id.tsx";
import { Field } from "./Field.tsx";
import { FOLDED, NodeFiles } from "./NodeFiles.tsx";
import { NodeHistory } from "./NodeHistory.tsx";
import { NodeVerdict } from "./NodeVerdict.tsx";
import { RecentTasks } from "./RecentTasks.tsx";
import { StartTaskRun } from "./StartTaskRun.tsx";

const INTERVAL_MS = 5_000;

interface PanelProps {
  view: PoolView;
  /** Those on the node. */
  findings: Finding[];
  close: () => void;
}

export function NodePanel({ view, findings, close }: PanelProps) {
  const { value: node, failure, retry } = usePolled<Node>({
    path: pathOfPool(view, "nodes", view.node),
    intervalMs: INTERVAL_MS,
  });
  const heading = (
    <>
      <small>Node{node && `, as of the poll at ${asOf(node)}`}</small>
      <Id text={view.node} />
    </>
  );
  return (
    <Panel class="of-node" close={close} heading={heading}>
      {failure && <ErrorNotice failure={failure} retry={retry} name="node" hasOlderData={node !== null} />}
      {node ? (
        <Contents node={node} view={view} findings={findings} />
      ) : failure?.status === 404 ? (
        <NodeTelemetry view={view} node={null} />
      ) : (
        !failure && <Loading />
      )}
    </Panel>
  );
}

function asOf({ asOf: at }: Node): string {
  return at ? formatExactTime(Date.parse(at)) : "an unknown time";
}

function Contents({ node, view, findings }: { node: Node; view: PoolView; findings: Finding[] }) {
  const [shown, setShown] = useState(FOLDED);
  const files = pathOfPool(view, "nodes", view.node, "files");
  return (
    <>
      <NodeVerdict level={node.level} />
      <p class="node-state" data-testid="node-state">
        <GroupSwatch group={stateGroupOf(node.state)} /> <strong>{capitalized(visible(stateLabel(node.state)))}</strong> for{" "}
        <TimeInState since={node.stateTransitionTime} />
        {node.schedulingState !== "enabled" && <span class="bad">, scheduling {visible(node.schedulingState)}</span>}
      </p>
      {node.cause && (
        <p class="node-cause" data-testid="node-cause">
          <TextWithIds text={node.cause} />
        </p>
      )}
      {node.flapping && (
        <p class="node-cause bad" data-testid="flapping">
          Flapping: entered a bad state {plural(node.flaps, "time")} within an hour.
        </p>
      )}
      {findings.map((finding) => (
        <FindingDetails
          key={String(finding.evidence.jobId)}
          account={view.account}
          finding={finding}
          open={findings.length === 1}
        />
      ))}
      <dl class="fields-of">
        <Field name="Last seen by Batch">
          <Age
            at={node.lastSeen}
            none={node.state === "creating" ? "not yet: the node is being created" : "not reported"}
          />
        </Field>
        <Field name="Running">
          {plural(node.runningTasks, "task")} on {plural(node.runningSlots, "slot")}
        </Field>
        <Field name="Completed">
          {plural(node.totalTasksRun, "task")}, {formatCount(node.totalTasksSucceeded)} succeeded
        </Field>
        <Field name="Kind">{node.isDedicated ? "dedicated" : "spot"}</Field>
        {(!node.isDedicated || node.interruptions.total > 0) && (
          <Field name="Interruptions">
            <InterruptionSummary interruptions={node.interruptions} />
          </Field>
        )}
        <Field name="VM size">
          <ExternalText text={node.vmSize} />
          {node.cores !== null && `, ${plural(node.cores, "core")}`}
        </Field>
        {node.nodeAgentVersion && (
          <Field name="Batch's node agent">
            <ExternalText text={node.nodeAgentVersion} />
          </Field>
        )}
        <Field name="Allocated">
          <Age at={node.allocationTime} none="at an unknown time" />
        </Field>
        <Field name="Booted">
          <Age at={node.lastBootTime} none="at an unknown time" />
        </Field>
      </dl>
      <NodeErrors errors={node.errors} />
      {node.startTaskInfo && (
        <StartTaskRun
          run={node.startTaskInfo}
          files={files}
          output={pathOfPool(view, "nodes", view.node, "output")}
          open={(folder, file) => setShown({ folder, file, isUnfolded: true })}
        />
      )}
      <NodeTelemetry view={view} node={node} />
      <RecentTasks node={node} />
      <NodeHistory node={node} />
      <LatestEvents account={node.account} subject={{ pool: node.pool, node: node.id }} framed={false} />
      <NodeFiles files={files} shown={shown} setShown={setShown} />
    </>
  );
}

function NodeErrors({ errors }: Pick<Node, "errors">) {
  if (!errors.length) return null;
  return (
    <>
      <h4>Errors</h4>
      <ul class="node-errors" data-testid="node-errors">
        {errors.map(({ code, message }, index) => (
          <li key={index}>
            <strong>
              <ExternalText text={code} />
            </strong>{" "}
            <FieldText text={message || "no message"} />
          </li>
        ))}
      </ul>
    </>
  );
}
