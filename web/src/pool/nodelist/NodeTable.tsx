// A page of nodes: state, time in state, cause, kind, tasks, and Batch's last contact.

import { formatCount } from "../../format/numbers.ts";
import { visible } from "../../format/text.ts";
import type { Node } from "../../nodes/model.ts";
import { GroupSwatch } from "../../nodes/NodeBar.tsx";
import { stateGroupOf, stateLabel } from "../../nodes/stateGroups.ts";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { Age, TimeInState } from "../../ui/text/Age.tsx";
import { Id, TextWithIds } from "../../ui/text/Id.tsx";
import { type FailingNodes, findingsOn } from "./failing.ts";

interface TableProps {
  nodes: Node[];
  failing: FailingNodes;
  open: (node: string) => void;
}

export function NodeTable({ nodes, failing, open }: TableProps) {
  return (
    <table class="tasks nodes-table" role="table" data-testid="nodes">
      <thead role="rowgroup">
        <tr role="row">
          {["Node", "State", "Time in state", "Cause", "Kind"].map((title) => (
            <ColumnHeader key={title}>{title}</ColumnHeader>
          ))}
          {["Tasks", "Last seen"].map((title) => (
            <ColumnHeader key={title} kind="number">
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {nodes.map((node) => (
          <NodeRow key={node.id} node={node} fails={findingsOn(failing, node.id).length > 0} open={open} />
        ))}
      </tbody>
    </table>
  );
}

function NodeRow({ node, fails, open }: { node: Node; fails: boolean; open: (node: string) => void }) {
  return (
    <tr role="row" data-node={node.id}>
      <th role="rowheader" scope="row" class="task">
        <Id text={node.id} open={() => open(node.id)} />
      </th>
      <td role="cell" class="state-cell" data-node-state={node.state}>
        <GroupSwatch group={stateGroupOf(node.state)} /> {visible(stateLabel(node.state))}
        {node.flapping && <small class="bad"> flapping</small>}
        {fails && <small class="bad"> tasks fail</small>}
      </td>
      <td role="cell" class="for">
        <span class="label">for </span>
        <TimeInState since={node.stateTransitionTime} />
      </td>
      <td role="cell" class="why" data-empty={!node.cause}>
        {node.cause ? <TextWithIds text={node.cause} /> : <span class="zero">–</span>}
      </td>
      <td role="cell" class="soft">
        {node.isDedicated ? "dedicated" : "spot"}
      </td>
      <td role="cell" class="number" data-empty={!node.runningTasks}>
        <span class="label">tasks </span>
        {node.runningTasks ? formatCount(node.runningTasks) : <span class="zero">0</span>}
      </td>
      <td role="cell" class="number soft">
        <span class="label">seen </span>
        <Age at={node.lastSeen} none="–" />
      </td>
    </tr>
  );
}
