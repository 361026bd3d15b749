// Quotas in words, and their order.

import { formatAge } from "../format/durations.ts";
import { formatCount, formatShare, plural } from "../format/numbers.ts";
import { spacedWords } from "../format/text.ts";
import type { AccountQuotas, Quota } from "./model.ts";

const NOUNS: Record<string, string> = {
  dedicatedCores: "dedicated cores",
  spotCores: "spot cores",
  familyCores: "dedicated cores of a VM family",
  pools: "pools",
  activeJobsAndSchedules: "active jobs and job schedules",
};
/** Reasons for which no limit is read, rather than none being there. */
const UNREAD = ["off", "idUnknown", "notReadYet", "failed"];
const NEARLY_FULL = 0.9;
const HOUR_MS = 3_600_000;

/** "dedicated cores"; a quota that a later version adds has its name in the API. */
export function nounOf({ quota }: Quota): string {
  return NOUNS[quota] ?? spacedWords(quota);
}

/** The quota nearest to its limit first, then those without a limit by their use. */
export function byShare(quotas: readonly Quota[]): Quota[] {
  return [...quotas].sort((one, other) => (other.share ?? -1) - (one.share ?? -1) || other.used - one.used);
}

/** "350", "not read" or "not known". */
export function limitText({ limit, noLimit }: Quota): string {
  if (limit !== null) return formatCount(limit);
  return UNREAD.includes(noLimit ?? "") ? "not read" : "not known";
}

/** "12.5%"; "–" where it isn't known. A used quota whose limit is 0 is full. */
export function usedShare({ used, limit, share }: Quota): string {
  if (share === null || limit === null) return "–";
  return limit ? formatShare(used, limit) : formatShare(1, 1);
}

/** How full a quota is, for its colour. */
export function levelOf({ share }: Quota): "full" | "nearlyFull" | "free" {
  if (share === null || share < NEARLY_FULL) return "free";
  return share < 1 ? "nearlyFull" : "full";
}

/** "now", "within an hour", "in about 5 d", or "–" where that isn't known. */
export function reachedText(quota: Quota, now: number): string {
  if (levelOf(quota) === "full") return "now";
  if (!quota.reachedAt) return "–";
  const left = Date.parse(quota.reachedAt) - now;
  return left < HOUR_MS ? "within an hour" : `in about ${formatAge(left)}`;
}

/** Why no limit is known, as a sentence, if the reason is the same for all; "" otherwise. */
export function sharedReason({ value }: AccountQuotas): string {
  const reasons = new Set(value.map(({ detail }) => detail));
  const [reason] = reasons;
  return reasons.size === 1 && reason ? reason : "";
}

/** "The cores of 3 nodes aren't known, so they aren't counted."; "" without any. */
export function unknownNodesText({ unknownNodes }: AccountQuotas): string {
  return unknownNodes ? `The cores of ${plural(unknownNodes, "node")} aren't known, so they aren't counted.` : "";
}
