import { setTimeout as sleep } from "node:timers/promises";
import { LocallmError } from "../wire/errors.ts";
import type { NetworkResponse } from "./network.ts";
import { mayPass } from "./network-answer.ts";

const tries = 3;
const firstDelayMs = 250;

/** Sends a small, repeatable request up to three times if the server fails or is unreachable. */
export async function withRetries(
  ask: () => Promise<NetworkResponse>,
  signal: AbortSignal,
): Promise<NetworkResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await ask();
      if (!mayPass(response.status) || attempt === tries) return response;
      response.body.destroy();
    } catch (error) {
      const isAway = error instanceof LocallmError && error.code === "source_unreachable";
      if (!isAway || attempt === tries) throw error;
    }
    await sleep(firstDelayMs * 2 ** (attempt - 1), undefined, { signal });
  }
}
