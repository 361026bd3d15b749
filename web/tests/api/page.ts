// The parts of a browser's page that a poller needs, with timers that a test runs.

interface Timer {
  id: number;
  run: () => void;
  wait: number;
}

export class FakePage {
  hidden = false;
  /** Planned timers; a poller never plans more than one. */
  timers: Timer[] = [];
  #listeners = new Map<string, Set<() => void>>();
  #ids = 0;

  /** Makes the page the global window and document. */
  open(): this {
    Object.assign(globalThis, { window: this, document: this });
    return this;
  }

  setTimeout(run: () => void, wait: number): number {
    this.timers.push({ id: ++this.#ids, run, wait });
    return this.#ids;
  }

  clearTimeout(id: number | undefined): void {
    this.timers = this.timers.filter((timer) => timer.id !== id);
  }

  addEventListener(name: string, listener: () => void): void {
    this.#listeners.set(name, new Set([...(this.#listeners.get(name) ?? []), listener]));
  }

  removeEventListener(name: string, listener: () => void): void {
    this.#listeners.get(name)?.delete(listener);
  }

  dispatch(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener();
  }

  /** Milliseconds that the next timer waits; null if none is planned. */
  get wait(): number | null {
    return this.timers[0]?.wait ?? null;
  }

  /** Runs the next timer, and everything that follows from it. */
  async pass(): Promise<void> {
    this.timers.shift()?.run();
    await settled();
  }
}

/** Runs all promises that don't wait for anything outside. */
export async function settled(): Promise<void> {
  await new Promise((done) => setImmediate(done));
}
