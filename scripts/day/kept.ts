import { setTimeout as sleep } from "node:timers/promises";

interface Running {
  readonly url: string;
  readonly key?: string;
  readonly pid: number;
  readonly ended: Promise<void>;
  term(): void;
}

/** A product that is started again whenever it ends, as systemd does. */
export class Kept<Life extends Running> {
  readonly #name: string;
  readonly #make: () => Promise<Life>;
  #life: Life | null = null;
  #isStopping = false;
  #kept: Promise<void> = Promise.resolve();
  starts = 0;
  readonly counts: Record<string, number> = {};

  constructor(name: string, make: () => Promise<Life>) {
    this.#name = name;
    this.#make = make;
  }

  async start(): Promise<Life> {
    const life = await this.#make();
    this.starts++;
    this.#life = life;
    this.#kept = this.#keep(life);
    return life;
  }

  async #keep(first: Life): Promise<void> {
    for (let life: Life | null = first; ; ) {
      await life?.ended;
      this.#life = null;
      if (this.#isStopping) return;
      // A start fails where the disk is full.
      life = await this.#make().catch(() => null);
      if (life === null) {
        await sleep(1_000);
        continue;
      }
      this.starts++;
      this.#life = life;
      if (this.#isStopping) life.term();
    }
  }

  get pid(): number {
    return this.#life?.pid ?? 0;
  }

  get url(): string | undefined {
    return this.#life?.url;
  }

  kill(): void {
    if (this.#life !== null) process.kill(this.#life.pid, "SIGKILL");
  }

  /** Ends with the calls that are open. Kills it and throws if that takes longer than systemd waits by default. */
  async restart(): Promise<void> {
    const life = this.#life;
    if (life === null) return;
    life.term();
    const isOver = await Promise.race([life.ended.then(() => true), sleep(90_000, false, { ref: false })]);
    if (isOver) return;
    process.kill(life.pid, "SIGKILL");
    throw new Error(`${this.#name} did not stop within 90 s`);
  }

  /** Kills it and throws if it does not answer again within ten minutes. */
  async ready(): Promise<void> {
    for (const end = Date.now() + 600_000; ; await sleep(100)) {
      const url = this.url ?? "";
      const path = this.#name === "dataq" ? "/healthz" : "/health";
      const answer = await fetch(url + path).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return;
      if (Date.now() < end) continue;
      this.kill();
      throw new Error(`${this.#name} does not answer ten minutes after an event`);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#life?.term();
    await this.#kept;
  }
}
