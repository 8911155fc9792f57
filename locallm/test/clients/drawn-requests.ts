import type { Random } from "../../../fuzz/random.ts";
import { drawnRequest } from "./full-requests.ts";
import type { PublishedApi } from "./published-apis.ts";
import { leftOutOf, meaningOf, type PublishedServer } from "./published-server.ts";

export interface Drawn {
  /** Answers with 200, and how many requests were refused with a reason. */
  answered: number;
  /** The reasons by how often they were given. */
  readonly refused: Map<string, number>;
  /** What must not be: another status, a refusal without a reason, an answer that is not of the published type. */
  readonly faults: Set<string>;
}

/** Sends requests of an API's published type with any of its fields. Every second one is streamed, where that is possible. */
export async function sendDrawn(
  server: PublishedServer,
  api: PublishedApi,
  requests: number,
  random: Random,
): Promise<Drawn> {
  const drawn: Drawn = { answered: 0, refused: new Map(), faults: new Set() };
  const meaning = meaningOf(api, leftOutOf(api));
  for (let sent = 0; sent < requests; sent++) {
    const { body } = drawnRequest(server.shapeOf(api), meaning, random);
    const isStreamed = api.event !== undefined && sent % 2 === 1;
    // Ollama's API streams unless it is told not to.
    const stream = api.event === undefined ? {} : { stream: isStreamed };
    const { status, text } = await server.post(api, { ...body, ...stream });
    if (status === 200) {
      drawn.answered++;
      for (const fault of server.faults(api, text, isStreamed ? "event" : "answer")) drawn.faults.add(fault);
    } else if (status === 400) {
      const reason = messageOf(text);
      if (reason === undefined) drawn.faults.add(`a refusal without a reason: ${text}`);
      else drawn.refused.set(reason, (drawn.refused.get(reason) ?? 0) + 1);
    } else drawn.faults.add(`${status} ${text.slice(0, 300)} to ${JSON.stringify(body).slice(0, 1_000)}`);
  }
  return drawn;
}

/** OpenAI's and Anthropic's errors are objects, Ollama's are texts. */
function messageOf(text: string): string | undefined {
  const { error } = JSON.parse(text) as { error?: string | { message?: string } };
  const message = typeof error === "string" ? error : error?.message;
  return message === "" ? undefined : message;
}
