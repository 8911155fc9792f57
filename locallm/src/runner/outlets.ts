import type { SlotEvent } from "../engine/slots.ts";
import { type LineShape, lineOf } from "../wire/inference/line-shape.ts";
import type { Lend, Report } from "./protocol.ts";
import { leastBytes } from "./socket-room.ts";
import type { Lines, Writer } from "./writer.ts";

/** A client's connection as Node passes it between processes: a handle that nothing reads from here. */
export interface Connection {
  readonly fd: number;
  close(): void;
}

export interface OutletsRequest {
  /** Sends events to the server when it is their turn, or at once if it awaits one of them. */
  readonly pass: (events: readonly SlotEvent[], isAwaited: boolean) => void;
  /** Sends events to the server at once. */
  readonly send: (events: readonly SlotEvent[]) => void;
  readonly report: (report: Report) => void;
  /** Whether the system takes `leastBytes` for this connection at once, so that no line is written in part. */
  readonly hasRoom: (fd: number) => boolean;
  readonly writer: Writer;
  readonly now: () => Date;
}

/**
 * The server lends a connection when it has seen the first text. The second one comes meanwhile, and the next ones wait
 * until the server has written it.
 */
const awaitedTexts = 2;
/** Text that the server asked for waits so long for the server's answer. */
const holdMs = 20;
/** The server is told so often what was written: it counts tokens, and needs the text of some answers. */
const tellEveryMs = 1000;
/** A stream that says nothing for so many of these intervals goes back: the server has lines for silent streams. */
const mostSilent = 5;

/**
 * The client connections that the server lends to this runner. Each has one writer at a time. The server lends one
 * after it has written all that the runner sent: `seen` says how much that is. If the runner has sent more, it sends
 * nothing further until the server has written that too and lends again. It gives a connection back before it sends
 * what is no plain text, and when the client reads slowly.
 */
export class Outlets {
  readonly #request: OutletsRequest;
  readonly #outlets = new Map<number, Outlet>();
  #telling: NodeJS.Timeout | null = null;

  constructor(request: OutletsRequest) {
    this.#request = request;
  }

  /** Call it when a job begins whose client's connection may be lent. */
  open(id: number): void {
    this.#outlets.set(id, {
      ...{ id, connection: null, sent: 0, held: [], timer: null, loan: null },
      told: { text: "", tokens: 0, lines: 0 },
      silent: 0,
    });
  }

  /** Takes a connection, with its handle the first time. */
  lend(loan: Lend, connection: Connection | null): void {
    if (connection !== null) this.#request.report({ kind: "holds", id: loan.id });
    const outlet = this.#outlets.get(loan.id);
    if (outlet === undefined) {
      connection?.close();
      return;
    }
    if (connection !== null) outlet.connection = connection;
    if (outlet.connection === null || outlet.loan !== null) return;
    if (outlet.sent === loan.seen) {
      outlet.loan = {
        ...loan,
        starts: new Set(loan.markers.map(([first = ""]) => first)),
        line: loan.number,
        lines: this.#request.writer.open(outlet.connection.fd),
        roomBytes: 0,
      };
      outlet.silent = 0;
      this.#telling ??= setInterval(() => this.#tell(), tellEveryMs).unref();
      this.#release(outlet);
    } else outlet.timer ??= setTimeout(() => this.#release(outlet), holdMs);
  }

  /** Takes the events of a step. */
  add(events: readonly SlotEvent[]): void {
    if (this.#outlets.size === 0) this.#request.pass(events, false);
    else this.#addEach(events);
  }

  #addEach(events: readonly SlotEvent[]): void {
    const passed: SlotEvent[] = [];
    let isAwaited = false;
    for (const event of events) {
      const outlet = this.#outlets.get(event.id);
      if (outlet === undefined) passed.push(event);
      else if (event.done !== null || event.error !== null) {
        passed.push(...outlet.held, event);
        this.#close(outlet);
      } else if (outlet.timer !== null) outlet.held.push(event);
      else if (!this.#write(outlet, event)) {
        outlet.sent++;
        isAwaited ||= outlet.sent <= awaitedTexts;
        passed.push(event);
      }
    }
    this.#request.writer.flush();
    if (passed.length > 0) this.#request.pass(passed, isAwaited);
  }

  /** Call it when the client of a job has left. Always answers that the connection is back. */
  cancel(id: number): void {
    const outlet = this.#outlets.get(id);
    if (outlet !== undefined) this.#close(outlet, outlet.told.tokens);
  }

  /** Call it when a job has failed before it computed anything. */
  drop(id: number): void {
    const outlet = this.#outlets.get(id);
    outlet?.loan?.lines.close();
    outlet?.connection?.close();
    this.#outlets.delete(id);
  }

  /** Writes or sends what is held. */
  #release(outlet: Outlet): void {
    if (outlet.timer !== null) clearTimeout(outlet.timer);
    outlet.timer = null;
    const held = outlet.held.splice(0);
    if (held.length > 0) this.#addEach(held);
  }

  /** Returns false, after giving the connection back, if the server has to write the text. */
  #write(outlet: Outlet, { text, tokens }: SlotEvent): boolean {
    const { loan, connection, told } = outlet;
    if (loan === null || connection === null) return false;
    if (!isPlain(text, loan.starts)) {
      this.#giveBack(outlet);
      return false;
    }
    const line = lineOf(loan.shape, text, loan.line, this.#request.now());
    const chunk = Buffer.from(`${Buffer.byteLength(line).toString(16)}\r\n${line}\r\n`);
    if (loan.roomBytes < chunk.length) {
      if (!this.#request.hasRoom(connection.fd)) {
        this.#giveBack(outlet, true);
        return false;
      }
      loan.roomBytes = leastBytes;
    }
    loan.roomBytes -= chunk.length;
    if (!loan.lines.add(chunk)) {
      this.#giveBack(outlet);
      return false;
    }
    loan.line++;
    told.text += text;
    told.tokens += tokens;
    told.lines++;
    outlet.silent = 0;
    return true;
  }

  #giveBack(outlet: Outlet, isSlow = false): void {
    if (outlet.loan === null) return;
    const rest = outlet.loan.lines.close();
    outlet.loan = null;
    this.#sendTold([outlet]);
    const { id } = outlet;
    this.#request.report({ kind: "back", id, rest, tokens: 0, isSlow: isSlow || rest !== null });
  }

  /** `untold` is the number of tokens that a job without a reader leaves uncounted. */
  #close(outlet: Outlet, untold: number | null = null): void {
    this.#outlets.delete(outlet.id);
    if (outlet.timer !== null) clearTimeout(outlet.timer);
    if (untold === null) this.#giveBack(outlet);
    else {
      outlet.loan?.lines.close();
      outlet.loan = null;
      this.#request.report({ kind: "back", id: outlet.id, rest: null, tokens: untold, isSlow: false });
    }
    outlet.connection?.close();
    this.#restIfNothingLent();
  }

  #tell(): void {
    const lent = [...this.#outlets.values()].filter(({ loan }) => loan !== null);
    this.#sendTold(lent);
    for (const outlet of lent) if (++outlet.silent > mostSilent) this.#giveBack(outlet);
    this.#restIfNothingLent();
  }

  #sendTold(outlets: readonly Outlet[]): void {
    const events = outlets
      .filter(({ told }) => told.lines > 0)
      .map(({ id, told: { text, tokens, lines } }) => ({
        ...{ id, text, tokens, toldIn: lines, done: null, error: null },
      }));
    for (const outlet of outlets) {
      if (outlet.told.lines > 0) outlet.sent++;
      outlet.told = { text: "", tokens: 0, lines: 0 };
    }
    if (events.length > 0) this.#request.send(events);
  }

  #restIfNothingLent(): void {
    if (this.#telling === null || [...this.#outlets.values()].some(({ loan }) => loan !== null)) return;
    clearInterval(this.#telling);
    this.#telling = null;
  }
}

interface Outlet {
  readonly id: number;
  connection: Connection | null;
  /** How many events with text the server was sent. */
  sent: number;
  /** The texts that wait for a loan, in order. */
  readonly held: SlotEvent[];
  /** Set while texts wait for a loan. */
  timer: NodeJS.Timeout | null;
  loan: {
    shape: LineShape;
    starts: ReadonlySet<string>;
    line: number;
    lines: Lines;
    /** So much the connection is known to take. It is asked once for many lines. */
    roomBytes: number;
  } | null;
  /** What was written and not yet told the server. */
  told: { text: string; tokens: number; lines: number };
  /** How often the server was told while nothing was written. */
  silent: number;
}

/** Whether no marker can begin in the text, and no white space before one. */
function isPlain(text: string, starts: ReadonlySet<string>): boolean {
  if (starts.size === 0) return true;
  for (const char of text) if (starts.has(char)) return false;
  return text.trimEnd().length === text.length;
}
