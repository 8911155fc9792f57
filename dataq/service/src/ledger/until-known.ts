import { setTimeout as sleep } from "node:timers/promises";
import { isAway, isCutOff } from "../database/connection-loss.ts";

/** A restarted database is back within these waits. Their sum is far below the lifetime of a hold. */
const waitsMs = [0, 250, 1_000, 2_000, 4_000];

/**
 * Sends a statement that moves tokens, and repeats it after a lost connection, so that no caller gets an error and is
 * charged. `send` must have the same effect when it runs twice; its parameter is true for a repeat.
 */
export async function untilKnown<Result>(send: (isRepeat: boolean) => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send(attempt > 0);
    } catch (error) {
      const waitMs = waitsMs[attempt];
      if (waitMs === undefined || !(attempt === 0 ? isCutOff(error) : isAway(error))) throw error;
      await sleep(waitMs);
    }
  }
}
