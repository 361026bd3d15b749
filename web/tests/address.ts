// Stands in for the browser's address bar.

/** Sets the page's address, such as "?view=pools". */
export function goTo(search: string, pathname = "/"): void {
  const found: Partial<Location> = { origin: "https://scope.example", pathname, search };
  Object.defineProperty(globalThis, "location", { value: found, configurable: true });
}

/** The query parameters of an address. */
export function parametersOf(address: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(address.replace(/^[^?]*/, "")));
}
