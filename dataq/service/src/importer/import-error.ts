import { inEnglish, type Message, say } from "./message.ts";

/** An import that cannot go on; what it says tells what to do. The old data keeps serving. */
export class ImportError extends Error {
  readonly said: Message;

  constructor(code: Message["code"], values: Message["values"] = {}, cause?: unknown) {
    const said = say(code, values);
    super(inEnglish(said), cause === undefined ? undefined : { cause });
    this.name = "ImportError";
    this.said = said;
  }
}

/** What stopped an import; only what we did not foresee stays in the words of whoever said it. */
export function saidOf(error: unknown): Message {
  return error instanceof ImportError ? error.said : say("failed", { reason: (error as Error).message });
}
