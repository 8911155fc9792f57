import { saidOf } from "../importer/import-error.ts";
import { inEnglish, type Message } from "../importer/message.ts";

/** Sends progress to the terminal, and to the service that started the command. */
export function tell(said: Message): void {
  console.error(inEnglish(said));
  process.send?.({ said }, undefined, undefined, () => {});
}

/**
 * Runs a command. A service that started it receives the reason of a failure and can show it in the reader's
 * language.
 */
export async function tellingParent<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    // This is awaited, because the process exits next.
    await new Promise<void>((sent) => {
      if (process.send) process.send({ said: saidOf(error) }, undefined, undefined, () => sent());
      else sent();
    });
    throw error;
  }
}
