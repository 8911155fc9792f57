import { saidOf } from "../importer/import-error.ts";
import { inEnglish, type Message } from "../importer/message.ts";

/** Tells progress to whoever reads the terminal, and to the service that started the command. */
export function tell(said: Message): void {
  console.error(inEnglish(said));
  process.send?.({ said }, undefined, undefined, () => {});
}

/** Runs a command; a service that started it hears why it failed, so that it can say so in its reader's language. */
export async function tellingParent<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    // Waited for: the process ends now.
    await new Promise<void>((sent) => {
      if (process.send) process.send({ said: saidOf(error) }, undefined, undefined, () => sent());
      else sent();
    });
    throw error;
  }
}
