// Texts and addresses of what a task uploads itself.

import type { OutputFile } from "./model.ts";

const CONDITIONS: Record<string, string> = {
  tasksuccess: "if it succeeds",
  taskfailure: "if it fails",
  taskcompletion: "at its end",
};

export function conditionText({ uploadOptions }: OutputFile): string {
  return CONDITIONS[uploadOptions?.uploadCondition?.toLowerCase() ?? ""] ?? "at its end";
}

/** The address of the container, with the path in it and without a SAS; null unless it is one of HTTPS. */
export function placeOf({ destination }: OutputFile): string | null {
  const { containerUrl, path } = destination?.container ?? {};
  const container = containerUrl && URL.canParse(containerUrl) ? new URL(containerUrl) : null;
  if (container?.protocol !== "https:") return null;
  const inside = (path ?? "").split("/").filter(Boolean).map(encodeURIComponent);
  return [container.origin + container.pathname.replace(/\/+$/, ""), ...inside].join("/");
}
