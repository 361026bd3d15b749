// The parts of a browser's page that a poller needs, with timers that a test runs.

interface Timer {
  id: number;
  run: () => void;
  wait: number;
}

export class FakePage {
  hidden = false;
  /** What is to run later; a poller never plans more than one thing. */
  timers: Timer[] = [];
  #listeners = new Map<string, Set<() => void>>();
  #ids = 0;

  /** Puts the page where scripts of a page look for it. */
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

  tell(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener();
  }

  /** How long the next thing waits, in milliseconds; null where nothing is planned. */
  get wait(): number | null {
    return this.timers[0]?.wait ?? null;
  }

  /** Runs what is planned, and lets all that follows from it happen. */
  async pass(): Promise<void> {
    this.timers.shift()?.run();
    await settled();
  }
}

/** Lets promises run to where they wait for something from outside. */
export async function settled(): Promise<void> {
  await new Promise((done) => setImmediate(done));
}
