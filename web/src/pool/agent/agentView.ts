// The section of the node agent: when it is open, what its list asks for, and its sentence about the whole pool.

import { formatCount, plural } from "../../format/numbers.ts";
import type { PoolView } from "../../routing/poolView.ts";
import type { AgentNodes } from "./model.ts";

const AGENT_FILE = "batchscope-agent.pyz";
const ROWS_OF_PAGE = 15;

/** Which nodes the list has. */
export type Selection = "all" | "reporting" | "silent";

/** As the address says, else open where the command line of the pool's start task names the agent. */
export function isOpen({ agent }: PoolView, commandLine: string): boolean {
  return agent ? agent === "show" : commandLine.includes(AGENT_FILE);
}

/** The API's query for the nodes of a selection. */
export function agentNodesQuery(selection: Selection): string {
  const query = new URLSearchParams({ maxpagesize: String(ROWS_OF_PAGE) });
  if (selection !== "all") query.set("reporting", String(selection === "reporting"));
  return `?${query}`;
}

/** The number of nodes of each selection. */
export function countsOf({ listed, reporting }: AgentNodes): Record<Selection, number> {
  return { all: listed, reporting, silent: listed - reporting };
}

/** "38 of 40 nodes report." */
export function reportingText({ listed, reporting }: AgentNodes): string {
  if (!listed) return "The pool has no nodes.";
  if (reporting === listed) return listed === 1 ? "The node reports." : `All ${plural(listed, "node")} report.`;
  if (!reporting) return listed === 1 ? "The node doesn't report." : `None of ${plural(listed, "node")} reports.`;
  return `${formatCount(reporting)} of ${plural(listed, "node")} ${reporting === 1 ? "reports" : "report"}.`;
}
