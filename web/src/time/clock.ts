// Ages are told by the server's clock: a laptop's may be wrong. Each answer's Date (a whole second) bounds how far
// the two are apart; what all answers agree on is kept, and thrown away when either clock jumps.

export class ServerClock {
  #least = -Infinity;
  #most = Infinity;

  /** Learns from a response's Date; `sent` and `received` are this machine's times around the request. */
  observe(date: string | null, sent: number, received: number): void {
    const stamp = Date.parse(date ?? "");
    if (Number.isNaN(stamp)) return;
    const least = stamp - received;
    const most = stamp + 1000 - sent;
    const agrees = least <= this.#most && most >= this.#least;
    this.#least = agrees ? Math.max(least, this.#least) : least;
    this.#most = agrees ? Math.min(most, this.#most) : most;
  }

  /** The server's time, as well as it is known, in milliseconds. */
  now(): number {
    const known = Number.isFinite(this.#least) && Number.isFinite(this.#most);
    return Date.now() + (known ? (this.#least + this.#most) / 2 : 0);
  }
}

export const serverClock = new ServerClock();
