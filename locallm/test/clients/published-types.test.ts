import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import { sendDrawn } from "./drawn-requests.ts";
import { fullRequests, matches } from "./full-requests.ts";
import { installedClients } from "./installed.ts";
import type { PublishedApi } from "./published-apis.ts";
import { leftOutOf, meaningOf, type PublishedServer, startPublished, tried } from "./published-server.ts";

const clients = await installedClients();

describe.skipIf(clients === null)(
  "requests with every field of the published types (needs npm's registry)",
  () => {
    let server: PublishedServer;
    beforeAll(async () => {
      server = await startPublished(clients!);
    });
    afterAll(() => server?.close());

    const requestsOf = (api: PublishedApi, without: readonly string[]) =>
      fullRequests(server.shapeOf(api), meaningOf(api, without));

    describe.each(tried)("$name", (api) => {
      const leftOut = leftOutOf(api);

      it("accepts all of them, and its answers are of the published type", async () => {
        const fields = new Set<string>();
        const refusals = new Set<string>();
        const faults = new Set<string>();
        for (const { body, paths } of requestsOf(api, leftOut)) {
          for (const path of paths) fields.add(path);
          const { status, text } = await server.post(api, body);
          if (status !== 200) refusals.add(`${status} ${text.replace(/"request_id".*/, "")}`);
          else for (const fault of server.faults(api, text, "answer")) faults.add(fault);
          if (status !== 200 || api.event === undefined) continue;
          const streamed = await server.post(api, { ...body, stream: true });
          for (const fault of server.faults(api, streamed.text, "event")) faults.add(fault);
        }
        expect([...refusals]).toEqual([]);
        expect([...faults]).toEqual([]);
        // The types were read to their leaves.
        expect([...fields]).toEqual(expect.arrayContaining([...api.known]));
      });

      // `npm run proof -- published-types` sends 10,000.
      it("answers requests with some of them with the published type, or says why not", async () => {
        const { answered, faults } = await sendDrawn(server, api, 6, new Random(1));
        expect([...faults]).toEqual([]);
        expect(answered).toBeGreaterThan(0);
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
            answers.push(await server.post(api, value === undefined ? body : { ...body, [path]: value }));
            break;
          }
          expect(answers).toEqual([{ status: 400, text: expect.stringMatching(text) }]);
        },
      );
    });
  },
);

/** Whether a request has the field, and not as null. */
function isSet(path: string, paths: ReadonlySet<string>): boolean {
  return [...paths].some((each) => matches(path, each) && !paths.has(`${each}[null]`));
}
