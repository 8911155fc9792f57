import type pg from "pg";

/** What pg's client calls while it runs a COPY. pg has no COPY of its own, but any object with these methods can be a query. */
interface CopyConnection {
  query(text: string): void;
  sync(): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
  readonly stream: {
    pause(): void;
    resume(): void;
    readonly writableNeedDrain: boolean;
    once(event: "drain" | "close", run: () => void): void;
    off(event: "drain" | "close", run: () => void): void;
  };
}

/** A query that pg's client submits. Errors reach `done`. */
class Copy {
  readonly done: Promise<number>;
  readonly #text: string;
  readonly #settle: PromiseWithResolvers<number>;
  #rows = 0;
  connection: CopyConnection | undefined;
  onData: (chunk: Buffer) => void = () => {};
  onReady: () => void = () => {};

  constructor(text: string) {
    this.#text = text;
    this.#settle = Promise.withResolvers<number>();
    this.done = this.#settle.promise;
    // The error is thrown to whoever waits for the end.
    this.done.catch(() => {});
  }

  submit(connection: CopyConnection): void {
    this.connection = connection;
    connection.query(this.#text);
  }
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.onData(chunk);
  }
  handleCopyInResponse(): void {
    this.onReady();
  }
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = Number(/\d+$/.exec(text)?.[0] ?? 0);
  }
  /** pg calls nothing more after an error. */
  handleError(error: Error): void {
    this.#settle.reject(error);
  }
  handleReadyForQuery(): void {
    this.#settle.resolve(this.#rows);
  }
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}

/** Yields what `copy … to stdout` sends, in pieces of at most `pieceBytes`, no faster than they are read. Returns the rows. */
export async function* copyOut(
  client: pg.ClientBase,
  text: string,
  pieceBytes: number,
): AsyncGenerator<Buffer, number> {
  const copy = new Copy(text);
  let chunks: Buffer[] = [];
  let bytes = 0;
  let wake = () => {};
  copy.onData = (chunk) => {
    // The parser uses its buffer again.
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes < pieceBytes) return;
    copy.connection!.stream.pause();
    wake();
  };
  client.query(copy as unknown as pg.Submittable);
  let isDone = false;
  const ended = copy.done.finally(() => {
    isDone = true;
    wake();
  });
  ended.catch(() => {});
  for (;;) {
    if (bytes < pieceBytes && !isDone)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    if (isDone) await ended;
    const all = Buffer.concat(chunks);
    chunks = [];
    bytes = 0;
    // A long row can make more than one piece.
    for (let start = 0; start < all.length; start += pieceBytes)
      yield all.subarray(start, start + pieceBytes);
    // Also after the end, for the next statement.
    copy.connection!.stream.resume();
    if (isDone) return await ended;
  }
}

/** Sends pieces to `copy … from stdin`. Returns the rows. */
export async function copyIn(
  client: pg.ClientBase,
  text: string,
  pieces: AsyncIterable<Buffer>,
): Promise<number> {
  const copy = new Copy(text);
  const ready = new Promise<void>((resolve) => {
    copy.onReady = resolve;
  });
  client.query(copy as unknown as pg.Submittable);
  // Without a COPY there is nothing to send: the statement failed.
  await Promise.race([ready, copy.done]);
  const connection = copy.connection!;
  try {
    for await (const piece of pieces) {
      connection.sendCopyFromChunk(piece);
      if (connection.stream.writableNeedDrain)
        await Promise.race([
          new Promise<void>((resolve) => {
            const { stream } = connection;
            const end = () => {
              stream.off("drain", end);
              stream.off("close", end);
              resolve();
            };
            stream.once("drain", end);
            stream.once("close", end);
          }),
          copy.done,
        ]);
    }
  } catch (error) {
    connection.sendCopyFail((error as Error).message);
    await copy.done.catch(() => {});
    throw error;
  }
  connection.endCopyFrom();
  return copy.done;
}
