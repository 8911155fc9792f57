/** An import that cannot go on; the message says what to do. The old data keeps serving. */
export class ImportError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ImportError";
  }
}
