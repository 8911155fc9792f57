import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesTemplate } from "../hermes-template.ts";
import type { ModelStore } from "../model-store.ts";
import { startServerHere, type TestServer } from "../server-process.ts";
import { fullRequests, matches } from "./full-requests.ts";
import { installedClients } from "./installed.ts";
import { clientStore, embeddingModel } from "./models.ts";
import { apis, type PublishedApi, thinkingMarks } from "./published-apis.ts";
import { type PublishedTypes, publishedTypes } from "./published-types.ts";
import { misfits } from "./shape-fit.ts";

const clients = await installedClients();
const tried = apis.filter(({ embeds }) => embeds !== true || embeddingModel !== null);

describe.skipIf(clients === null)(
  "requests with every field of the published types (needs npm's registry)",
  () => {
    let store: ModelStore;
    let server: TestServer;
    let types: PublishedTypes<string>;
    beforeAll(async () => {
      store = await clientStore();
      // It calls tools and thinks.
      const parameters = { num_thread: 1, num_ctx: 4096, num_predict: 2, temperature: 0 };
      await store.derive("full:1", { from: "small:a", template: hermesTemplate + thinkingMarks, parameters });
      server = await startServerHere({ models: store.folder });
      const named = apis.flatMap(({ name, type, answer, event = answer }) => [
        [name, type],
        [`${name} answer`, answer],
        [`${name} event`, event],
      ]);
      types = publishedTypes(clients!.folder, Object.fromEntries(named));
    });
    afterAll(async () => {
      types?.close();
      await server?.stop();
      await store?.remove();
    });

    const requestsOf = ({ name, values }: PublishedApi, without: readonly string[]) =>
      fullRequests(types.shapes[name]!, { values, without });
    const answerTo = async ({ route, arrange }: PublishedApi, body: Record<string, unknown>) => {
      const answer = await server.post(route, arrange === undefined ? body : arrange(body));
      return { status: answer.status, text: await answer.text() };
    };

    describe.each(tried)("$name", (api) => {
      const leftOut = api.refused.flatMap(({ path, value }) => (value === undefined ? [path] : []));

      it("accepts all of them, and its answers are of the published type", async () => {
        const fields = new Set<string>();
        const refusals = new Set<string>();
        const faults = new Set<string>();
        const look = (value: unknown, kind: "answer" | "event") => {
          for (const fault of misfits(value, types.shapes[`${api.name} ${kind}`]!)) {
            const named = `${kind}: ${fault}`;
            if (!api.allowed?.some((each) => each.test(named))) faults.add(named);
          }
        };
        for (const { body, paths } of requestsOf(api, leftOut)) {
          for (const path of paths) fields.add(path);
          const { status, text } = await answerTo(api, body);
          if (status !== 200) refusals.add(`${status} ${text.replace(/"request_id".*/, "")}`);
          else look(JSON.parse(text), "answer");
          if (status !== 200 || api.event === undefined) continue;
          const streamed = await answerTo(api, { ...body, stream: true });
          for (const event of eventsOf(streamed.text)) look(event, "event");
        }
        expect([...refusals]).toEqual([]);
        expect([...faults]).toEqual([]);
        // The types were read to their leaves.
        expect([...fields]).toEqual(expect.arrayContaining([...api.known]));
      });

      it.skipIf(api.refused.length === 0).each(api.refused)(
        "refuses $path and says so",
        async ({ path, value, text }) => {
          const answers: unknown[] = [];
          for (const { body, paths } of requestsOf(
            api,
            leftOut.filter((each) => each !== path),
          )) {
            if (value === undefined && !isSet(path, paths)) continue;
            answers.push(await answerTo(api, value === undefined ? body : { ...body, [path]: value }));
            break;
          }
          expect(answers).toEqual([{ status: 400, text: expect.stringMatching(text) }]);
        },
      );
    });
  },
);

/** The JSON of server-sent events, or of lines. */
function eventsOf(text: string): unknown[] {
  return text
    .split("\n")
    .map((line) => line.replace(/^data: ?/, ""))
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as unknown);
}

/** Whether a request has the field, and not as null. */
function isSet(path: string, paths: ReadonlySet<string>): boolean {
  return [...paths].some((each) => matches(path, each) && !paths.has(`${each}[null]`));
}
