// Which nodes of a pool report, a page at a time, and why the others don't.

import { useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatCount } from "../../format/numbers.ts";
import { visible } from "../../format/text.ts";
import { stateLabel } from "../../nodes/stateGroups.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { valueText } from "../../telemetry/series/units.ts";
import { FindingDetails } from "../../ui/findings/FindingDetails.tsx";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { Pagination } from "../../ui/list/Pagination.tsx";
import { usePages } from "../../ui/list/usePages.ts";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Id } from "../../ui/text/Id.tsx";
import { agentNodesQuery, countsOf, reportingText, type Selection } from "./agentView.ts";
import type { AgentNode, AgentNodes } from "./model.ts";

const INTERVAL_MS = 30_000;
const SELECTIONS: [Selection, string][] = [
  ["all", "All"],
  ["reporting", "Reporting"],
  ["silent", "Silent"],
];

interface AgentNodeListProps {
  view: PoolView;
  enabled: boolean;
  openNode: (node: string) => void;
}

export function AgentNodeList({ view, enabled, openNode }: AgentNodeListProps) {
  const [selection, select] = useState<Selection>("all");
  const pages = usePages(pathOfPool(view, "agent", "nodes") + agentNodesQuery(selection));
  const polled = usePolled<AgentNodes>({ path: pages.path, intervalMs: INTERVAL_MS, enabled });
  const next = polled.fresh && polled.value?.nextLink;
  return (
    <PolledContents polled={polled} name="agent-nodes" title="Reporting nodes">
      {(nodes) => (
        <>
          <div class="agent-counts">
            <p data-testid="agent-reporting">{reportingText(nodes)}</p>
            {nodes.listed > 0 && <Selections nodes={nodes} selection={selection} select={select} />}
          </div>
          {nodes.value.length > 0 && <AgentNodeTable view={view} nodes={nodes.value} openNode={openNode} />}
          {!nodes.value.length && nodes.listed > 0 && (
            <p class="nothing">{selection === "silent" ? "No node is silent." : "No node reports."}</p>
          )}
          <Pagination
            noun="reporting nodes"
            before={pages.before}
            fresh={polled.fresh}
            more={Boolean(next)}
            back={pages.back}
            next={() => next && pages.open(next)}
          />
        </>
      )}
    </PolledContents>
  );
}

interface SelectionsProps {
  nodes: AgentNodes;
  selection: Selection;
  select: (selection: Selection) => void;
}

function Selections({ nodes, selection, select }: SelectionsProps) {
  const counts = countsOf(nodes);
  return (
    <div class="choices" role="group" aria-label="Nodes with or without reports">
      {SELECTIONS.map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === selection} onClick={() => select(each)}>
          {title} <span class="much">{formatCount(counts[each])}</span>
        </button>
      ))}
    </div>
  );
}

interface TableProps extends Omit<AgentNodeListProps, "enabled"> {
  nodes: AgentNode[];
}

function AgentNodeTable({ view, nodes, openNode }: TableProps) {
  const firstSilent = nodes.find((node) => node.reason)?.id;
  return (
    <table class="tasks agent-nodes" role="table" aria-label="Nodes and their reports" data-testid="agent-nodes">
      <thead role="rowgroup">
        <tr role="row">
          {["Node", "Last record", "Agent", "Started"].map((title) => (
            <ColumnHeader key={title}>{title}</ColumnHeader>
          ))}
          {["Spool", "Dropped in 1 h"].map((title) => (
            <ColumnHeader key={title} kind="number">
              {title}
            </ColumnHeader>
          ))}
          <ColumnHeader>Why silent</ColumnHeader>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {nodes.map((node) => (
          <AgentNodeRow
            key={node.id}
            account={view.account}
            node={node}
            explained={node.id === firstSilent}
            openNode={openNode}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  account: string;
  node: AgentNode;
  /** Whether the reason begins open. */
  explained: boolean;
  openNode: (node: string) => void;
}

function AgentNodeRow({ account, node, explained, openNode }: RowProps) {
  const { id, state, seen, agentVersion, agentBegan, waitingBytes, droppedRecords, reason } = node;
  return (
    <tr role="row" data-agent-node={id}>
      <th role="rowheader" scope="row" class="task">
        <Id text={id} open={() => openNode(id)} />
        <small class="aside">{visible(stateLabel(state))}</small>
      </th>
      <td role="cell">
        <span class="label">last record </span>
        <Age at={seen} none="never" />
      </td>
      <td role="cell" data-empty={!agentVersion}>
        <span class="label">agent </span>
        {agentVersion ? <ExternalText text={agentVersion} /> : <span class="zero">–</span>}
      </td>
      <td role="cell" class="soft" data-empty={!agentBegan}>
        <span class="label">started </span>
        {agentBegan ? <Age at={agentBegan} /> : <span class="zero">–</span>}
      </td>
      <td role="cell" class="number" data-empty={waitingBytes === null}>
        <span class="label">spool </span>
        {waitingBytes === null ? <span class="zero">–</span> : valueText(waitingBytes, "bytes")}
      </td>
      <td role="cell" class={droppedRecords ? "number bad" : "number"} data-empty={droppedRecords === null}>
        <span class="label">dropped in 1 h </span>
        {droppedRecords === null ? <span class="zero">–</span> : formatCount(droppedRecords)}
      </td>
      <td role="cell" class="why" data-empty={!reason}>
        {reason ? (
          <FindingDetails account={account} finding={reason} open={explained} />
        ) : (
          <span class="zero">–</span>
        )}
      </td>
    </tr>
  );
}
