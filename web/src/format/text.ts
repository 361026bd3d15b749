// Makes disguised characters visible, shortens ids, and turns names of the API into words.

const DISGUISING = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Replaces control, direction and zero-width characters by a visible one. */
export function visible(text: string): string {
  return text.replace(DISGUISING, "\ufffd");
}

/** The digits of a long hash; a UUID without dashes has 32. */
const HASH = /[0-9a-f]{40,}/gi;
const ID_WITH_HASH = /([\w.:-]*[0-9a-f]{40,}[\w.:-]*)/i;

/** "tvmps_3b44ee4f…f808_d": hashes of 40 or more hex digits lose their middle. */
export function shortId(id: string): string {
  return id.replace(HASH, (digits) => `${digits.slice(0, 8)}…${digits.slice(-4)}`);
}

/** Splits a text at its ids that `shortId` shortens; those are at odd places. */
export function splitAtHashes(text: string): string[] {
  return text.split(ID_WITH_HASH);
}

/** "catchingUp" -> "catching up"; "diskSizeGB" -> "disk size GB". */
export function spacedWords(name: string): string {
  return name.replace(/[A-Z]{2,}(?=[A-Z][a-z]|$)|[A-Z]/g, (part) => ` ${part.length > 1 ? part : part.toLowerCase()}`);
}

/** "exit code" -> "Exit code". */
export function capitalized(text: string): string {
  return text.replace(/^./u, (letter) => letter.toUpperCase());
}
