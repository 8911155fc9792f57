import type { SendHandle } from "node:child_process";
import type { Outlet } from "./handle.ts";
import type { JobStream } from "./job-stream.ts";
import type { Lend, Report } from "./protocol.ts";

/** A client that reads slowly gets its lines from the server for so long. */
const slowPauseMs = 1000;

/** The connections of clients that are lent to one runner, or were, while their jobs run. */
export class Loans {
  readonly #send: (lend: Lend, handle: SendHandle | undefined) => void;
  readonly #loans = new Map<number, Loan>();
  /**
   * The job whose handle is under way. Node sends nothing else to a process until it has taken a handle, which a runner
   * does between two steps.
   */
  #passing: number | null = null;

  constructor(send: (lend: Lend, handle: SendHandle | undefined) => void) {
    this.#send = send;
  }

  open(id: number, outlet: Outlet): void {
    this.#loans.set(id, {
      outlet,
      hasHandle: false,
      isOut: false,
      isOver: false,
      askedAt: -1,
      notBeforeMs: 0,
    });
  }

  /** Lends the connection of a job whose reader waits, unless something arrives or is still to be written. */
  proposeSoon(id: number, stream: JobStream): void {
    const loan = this.#loans.get(id);
    if (loan === undefined || loan.isOut) return;
    // What was written is on its way to the client after this turn of the event loop.
    setImmediate(() => {
      if (!loan.isOut && this.#loans.get(id) === loan && stream.isAwaited)
        this.#propose(id, loan, stream.received);
    });
  }

  #propose(id: number, loan: Loan, seen: number): void {
    if (seen === 0 || loan.askedAt === seen || (!loan.hasHandle && this.#passing !== null)) return;
    if (performance.now() < loan.notBeforeMs) return;
    const offer = loan.outlet.offer();
    const handle = loan.hasHandle ? undefined : loan.outlet.handle;
    if (offer === null || handle === null) return;
    if (handle !== undefined) this.#passing = id;
    loan.hasHandle = true;
    loan.askedAt = seen;
    loan.isOut = true;
    loan.outlet.lent();
    this.#send({ kind: "lend", id, seen, ...offer }, handle);
  }

  /** The runner has a handle. */
  holds(id: number): void {
    if (this.#passing === id) this.#passing = null;
  }

  /** Text arrived that the runner has not written, or the job's end. So it did not take the loan. */
  refused(id: number): void {
    this.#settle(id, null);
  }

  back({ id, rest, tokens, isSlow }: Extract<Report, { kind: "back" }>): void {
    const loan = this.#loans.get(id);
    if (loan === undefined) return;
    if (tokens > 0) loan.outlet.late(tokens);
    if (isSlow) loan.notBeforeMs = performance.now() + slowPauseMs;
    this.#settle(id, rest);
  }

  /** Text was written for a job whose reader has left. */
  late(id: number, tokens: number): void {
    this.#loans.get(id)?.outlet.late(tokens);
  }

  #settle(id: number, rest: Uint8Array | null): void {
    const loan = this.#loans.get(id);
    if (loan?.isOut) {
      loan.isOut = false;
      loan.outlet.back(rest);
    }
    if (loan?.isOver) this.#loans.delete(id);
  }

  /** Call it when a job has ended. If its connection is lent, it stays so until the runner says that it is back. */
  close(id: number): void {
    const loan = this.#loans.get(id);
    if (loan === undefined) return;
    loan.isOver = true;
    if (!loan.isOut) this.#loans.delete(id);
  }

  /** Call it when the runner has ended. */
  end(): void {
    for (const id of this.#loans.keys()) this.#settle(id, null);
    this.#loans.clear();
  }

  /** Call it when the system cannot end the runner. */
  cut(): void {
    for (const { outlet, isOut } of this.#loans.values()) if (isOut) outlet.cut();
  }
}

interface Loan {
  readonly outlet: Outlet;
  hasHandle: boolean;
  /** Whether the runner may write. */
  isOut: boolean;
  /** Whether the job has ended. */
  isOver: boolean;
  /** When the connection may be lent again after its client has read slowly. */
  notBeforeMs: number;
  /** How many events had been seen when the connection was offered last. */
  askedAt: number;
}
