// The address of a page that there is none of here.

/** Puts the page at an address, as "?view=pools". */
export function goTo(search: string, pathname = "/"): void {
  const found: Partial<Location> = { origin: "https://scope.example", pathname, search };
  Object.defineProperty(globalThis, "location", { value: found, configurable: true });
}

/** What an address asks for, by name. */
export function askedBy(address: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(address.replace(/^[^?]*/, "")));
}
