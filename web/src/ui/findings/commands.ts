// Commands in the advice of findings, to be copied.

/** `az` with options whose values need no quotes; a command with other values isn't offered, as a part of it would be. */
const COMMAND = /\baz(?: [a-z][a-z-]*)+(?: --[a-z-]+[= ][\w:-]+(?:\.[\w:-]+)*)+(?![^\s;,.)])(?! --)/g;

export function commandsOf(advice: string): string[] {
  return advice.match(COMMAND) ?? [];
}
