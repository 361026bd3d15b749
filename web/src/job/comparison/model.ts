// The JSON of a job's comparison. Every string comes from outside and is only shown as text.

import type { Finding } from "../../ui/findings/model.ts";

/** A group of tasks, with the shares of all failed and of all succeeded tasks that are in it. */
export interface Contrast {
  attribute: string;
  title: string;
  failed: number;
  succeeded: number;
  failedShare: number;
  succeededShare: number;
  /** Corrected for all groups that were tried. */
  pValue: number;
  /** Parameters of the task list that show the group; none where it has no such filter. */
  taskFilter: Record<string, string>;
  /** The ids of its first failed tasks. */
  tasks: string[];
  /** Mostly the same failed tasks, by another attribute. */
  sameTasks: { attribute: string; title: string }[];
}

export type ComparisonResult = "apart" | "nothing" | "noneFailed" | "allFailed" | "tooFew";

export interface Comparison {
  asOf: string | null;
  result: ComparisonResult;
  failed: number;
  succeeded: number;
  /** The tasks that were compared: of large jobs a sample. */
  comparedFailed: number;
  comparedSucceeded: number;
  attributes: string[];
  triedGroups: number;
  level: number;
  /** The best explanation first. */
  contrasts: Contrast[];
  /** Differences that follow from failing. */
  consequences: Contrast[];
  /** Nodes whose tasks fail more often than chance explains. */
  findings: Finding[];
}
