// Estimates the server's time, as a laptop's clock may be wrong. The Date of each response, a whole second, bounds the
// difference of the clocks. The bounds of all responses together are kept until a response contradicts them.

export class ServerClock {
  #lower = -Infinity;
  #upper = Infinity;

  /** Updates the bounds by a response's Date; `sent` and `received` are this machine's times around the request. */
  observe(date: string | null, sent: number, received: number): void {
    const stamp = Date.parse(date ?? "");
    if (Number.isNaN(stamp)) return;
    const lower = stamp - received;
    const upper = stamp + 1000 - sent;
    const agrees = lower <= this.#upper && upper >= this.#lower;
    this.#lower = agrees ? Math.max(lower, this.#lower) : lower;
    this.#upper = agrees ? Math.min(upper, this.#upper) : upper;
  }

  /** The estimated server's time, in milliseconds since 1970. */
  now(): number {
    const known = Number.isFinite(this.#lower) && Number.isFinite(this.#upper);
    return Date.now() + (known ? (this.#lower + this.#upper) / 2 : 0);
  }
}

export const serverClock = new ServerClock();
