import type { SendHandle } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { PlainText } from "../dialogue/answer-reader.ts";
import type { Offer, Outlet } from "../scheduler/lease.ts";
import type { LineShape } from "../wire/inference/line-shape.ts";

/** How the next piece of a kind is told: the shape of its line, and the number of the line. */
export interface NextLine {
  readonly shape: LineShape;
  readonly number: number;
}

/** Where a stream goes. While it is lent, the model's runner writes its lines; see decision 17. */
export class StreamOutlet implements Outlet {
  readonly #response: ServerResponse;
  #reads: () => PlainText | null = () => null;
  #tells: (kind: PlainText["kind"]) => NextLine | null = () => null;
  #onLate: (tokens: number) => void = () => {};
  #lent: PromiseWithResolvers<void> | null = null;

  private constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Null for connections that cannot be lent. */
  static of({ raw, request }: FastifyReply): StreamOutlet | null {
    const isPlain = request.raw.httpVersion === "1.1" && !("encrypted" in request.raw.socket);
    return process.platform === "linux" && isPlain ? new StreamOutlet(raw) : null;
  }

  /** Sets what says how the next text will be read. */
  readBy(plain: () => PlainText | null): void {
    this.#reads = plain;
  }

  /** Sets what says how the next piece of a kind will be told. */
  toldBy(next: (kind: PlainText["kind"]) => NextLine | null): void {
    this.#tells = next;
  }

  /** Sets what hears of tokens that were written and that no event counts. */
  lateTo(count: (tokens: number) => void): void {
    this.#onLate = count;
  }

  get isLent(): boolean {
    return this.#lent !== null;
  }

  /** Resolves when nobody else writes. */
  async whenBack(): Promise<void> {
    await this.#lent?.promise;
  }

  get handle(): SendHandle | null {
    // Not the socket itself: another process would read from it, and Node would close it here.
    const { _handle } = this.#response.socket as Socket & { readonly _handle?: SendHandle | null };
    return _handle ?? null;
  }

  offer(): Offer | null {
    const { chunkedEncoding, headersSent, writableEnded, destroyed, writableLength, socket } = this.#response;
    if (!chunkedEncoding || !headersSent || writableEnded || destroyed || writableLength > 0) return null;
    const plain = socket === null ? null : this.#reads();
    const next = plain === null ? null : this.#tells(plain.kind);
    return plain === null || next === null ? null : { ...next, markers: plain.markers };
  }

  lent(): void {
    this.#lent = Promise.withResolvers();
  }

  back(rest: Uint8Array | null): void {
    if (rest !== null && !this.#response.destroyed) this.#response.socket?.write(rest);
    this.#lent?.resolve();
    this.#lent = null;
  }

  late(tokens: number): void {
    this.#onLate(tokens);
  }

  cut(): void {
    this.#response.destroy();
  }
}

/** What stands for the text, the time and the number in a sample of a line. Nobody can guess them. */
const samples = { text: randomUUID(), time: randomUUID(), number: randomInt(2 ** 46, 2 ** 47) };
const sampleNames = {
  [`"${samples.text}"`]: "text",
  [samples.time]: "time",
  [samples.number]: "number",
} as const;
const anySample = new RegExp(`("${samples.text}"|${samples.time}|${samples.number})`);

/** The shape of the lines that `make` makes. */
export function shapeOf(make: (sample: typeof samples) => string): LineShape {
  return make(samples)
    .split(anySample)
    .map((part) => (part in sampleNames ? { put: sampleNames[part as keyof typeof sampleNames] } : part))
    .filter((part) => part !== "") as LineShape;
}
