// Words of the codes of causes for which tasks wait.

/** "slotsBusy" as "slots busy". */
export function wordsOfCause(cause: string): string {
  return cause.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
