// Texts from outside made visible, and names of the API as words.

const DISGUISES = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Control, direction and zero-width characters become visible. */
export function visible(text: string): string {
  return text.replace(DISGUISES, "\ufffd");
}

/** "catchingUp" -> "catching up". */
export function spoken(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The same with a capital at its beginning. */
export function begun(words: string): string {
  return words.replace(/^./u, (letter) => letter.toUpperCase());
}
