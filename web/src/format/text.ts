// Makes disguised characters visible, and turns names of the API into words.

const DISGUISING = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Replaces control, direction and zero-width characters by a visible one. */
export function visible(text: string): string {
  return text.replace(DISGUISING, "\ufffd");
}

/** "catchingUp" -> "catching up"; "diskSizeGB" -> "disk size GB". */
export function spacedWords(name: string): string {
  return name.replace(/[A-Z]{2,}(?=[A-Z][a-z]|$)|[A-Z]/g, (part) => ` ${part.length > 1 ? part : part.toLowerCase()}`);
}

/** "exit code" -> "Exit code". */
export function capitalized(text: string): string {
  return text.replace(/^./u, (letter) => letter.toUpperCase());
}
