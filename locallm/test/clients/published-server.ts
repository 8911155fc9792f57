import { hermesTemplate } from "../hermes-template.ts";
import { startServerHere } from "../server-process.ts";
import type { Meaning } from "./full-requests.ts";
import type { InstalledClients } from "./installed.ts";
import { clientStore, embeddingModel } from "./models.ts";
import { apis, type PublishedApi, thinkingMarks } from "./published-apis.ts";
import { publishedTypes, type Shape } from "./published-types.ts";
import { misfits } from "./shape-fit.ts";

/** The APIs that this machine has a model for. */
export const tried = apis.filter(({ embeds }) => embeds !== true || embeddingModel !== null);

/** A server whose model calls tools and thinks, and the published types of its requests and answers. */
export interface PublishedServer {
  shapeOf(api: PublishedApi): Shape;
  post(
    api: PublishedApi,
    body: Record<string, unknown>,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** Where an answer, or the events of a streamed one, are not of the published type, without what is meant. */
  faults(api: PublishedApi, text: string, kind: "answer" | "event"): string[];
  close(): Promise<void>;
}

export async function startPublished(clients: InstalledClients): Promise<PublishedServer> {
  const store = await clientStore();
  const parameters = { num_thread: 1, num_ctx: 4096, num_predict: 2, temperature: 0 };
  await store.derive("full:1", { from: "small:a", template: hermesTemplate + thinkingMarks, parameters });
  const server = await startServerHere({ models: store.folder });
  const named = apis.flatMap(({ name, type, answer, event = answer }) => [
    [name, type],
    [`${name} answer`, answer],
    [`${name} event`, event],
  ]);
  const types = publishedTypes(clients.folder, Object.fromEntries(named));
  return {
    shapeOf: ({ name }) => types.shapes[name]!,
    async post({ route, arrange }, body) {
      const answer = await server.post(route, arrange === undefined ? body : arrange(body));
      return { status: answer.status, text: await answer.text() };
    },
    faults({ name, allowed }, text, kind) {
      const values = kind === "answer" ? [JSON.parse(text) as unknown] : eventsOf(text);
      const all = values.flatMap((value) => misfits(value, types.shapes[`${name} ${kind}`]!));
      return all
        .map((fault) => `${kind}: ${fault}`)
        .filter((fault) => !allowed?.some((each) => each.test(fault)));
    },
    async close() {
      types.close();
      await server.stop();
      await store.remove();
    },
  };
}

/** What requests of an API must not have, because the answer would be another one. */
export function leftOutOf({ refused }: PublishedApi): string[] {
  return refused.flatMap(({ path, value }) => (value === undefined ? [path] : []));
}

export function meaningOf({ values, needed = [] }: PublishedApi, without: readonly string[]): Meaning {
  return { values, without, needed };
}

/** The JSON of server-sent events, or of lines. */
function eventsOf(text: string): unknown[] {
  return text
    .split("\n")
    .map((line) => line.replace(/^data: ?/, ""))
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as unknown);
}
