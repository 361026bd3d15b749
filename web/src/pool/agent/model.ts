// The node agent of a pool, in the API's JSON. Every string comes from outside and is only shown as text.

import type { Page } from "../../api/model.ts";
import type { Finding } from "../../ui/findings/model.ts";

export interface AgentOffer {
  file: { version: string; sha256: string; address: string; uploaded: boolean };
  /** Whether the pool's start task starts the agent already. */
  included: boolean;
  forms: Record<StartTaskForm, string>;
  notes: string[];
}

export type StartTaskForm = "bicep" | "azBatch" | "python";

/** How a node reports; null where that isn't known. */
export interface AgentNode {
  id: string;
  state: string;
  reporting: boolean;
  /** The last minute with any data. */
  seen: string | null;
  agentVersion: string | null;
  agentBegan: string | null;
  waitingBytes: number | null;
  /** Within an hour. */
  droppedRecords: number | null;
  /** Why it doesn't report. */
  reason: Finding | null;
}

/** `listed` and `reporting` count all nodes of the pool, on any page. */
export interface AgentNodes extends Page<AgentNode> {
  listed: number;
  reporting: number;
}
