import { setTimeout as sleep } from "node:timers/promises";
import { isAway, isCutOff } from "../database/connection-loss.ts";

/** A database that is started again is there within these; together far less than a hold lasts. */
const waitsMs = [0, 250, 1_000, 2_000, 4_000];

/**
 * Sends a statement that moves tokens, again where the connection was lost under it, so that no caller hears of a
 * failure and is charged. `send` must do once what it is sent twice, and is told when it is a repeat.
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
