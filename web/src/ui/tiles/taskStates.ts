// Names of task states on the page.

/** Batch's state `active` means that a task waits for a slot; the page calls it "waiting". */
export function taskStateLabel(state: string): string {
  return state === "active" ? "waiting" : state;
}
