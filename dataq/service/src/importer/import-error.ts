import { inEnglish, type Message, say } from "./message.ts";

/** An import that cannot continue. Its message says what to do. The old data stays in service. */
export class ImportError extends Error {
  readonly said: Message;

  constructor(code: Message["code"], values: Message["values"] = {}, cause?: unknown) {
    const said = say(code, values);
    super(inEnglish(said), cause === undefined ? undefined : { cause });
    this.name = "ImportError";
    this.said = said;
  }
}

/** The message for an error. Unexpected errors keep their own text. */
export function saidOf(error: unknown): Message {
  return error instanceof ImportError ? error.said : say("failed", { reason: (error as Error).message });
}
