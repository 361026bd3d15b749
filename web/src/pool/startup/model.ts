// The start-ups of a pool's nodes, in the API's JSON. Names of sizes and images come from outside: only shown as text.

import type { Finding } from "../../ui/findings/model.ts";

/** Why so many nodes have no figure of a phase; `detail` is a sentence. */
export interface UnknownPhase {
  reason: string;
  nodes: number;
  detail: string;
}

/** A phase over the nodes that have it; null without any. */
export interface Phase {
  phase: string;
  nodes: number;
  p50Seconds: number | null;
  p95Seconds: number | null;
  unknown: UnknownPhase[];
}

/** The nodes of a day, a VM size or an image. */
export interface Group {
  name: string;
  nodes: number;
  phases: Phase[];
}

export interface PreparationTasks {
  runs: number;
  p50Seconds: number;
  p95Seconds: number;
}

export interface StartUp {
  asOf: string | null;
  nodes: number;
  /** Whether a day had more nodes than are kept. */
  limited: boolean;
  phases: Phase[];
  byDay: Group[];
  bySize: Group[];
  byImage: Group[];
  medianTaskSeconds: number | null;
  /** Runs of job preparation tasks; null where no event of Batch shows any. */
  preparationTasks: PreparationTasks | null;
  findings: Finding[];
}
