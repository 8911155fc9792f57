import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenSegment } from "../snapshots/open-snapshot.ts";
import { Connection } from "./connection.ts";
import { Searches } from "./searches.ts";

/** What a server or a proxy answers next. */
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  request.resume().on("end", () => answer(response));
});
let searches: Searches;
let connection: Connection;
const segment = { id: 1, home: "dataq-1", dataset: "d", documents: 9, dead: null } as OpenSegment;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  connection = new Connection({ url: `http://127.0.0.1:${port}`, prefix: "dataq" });
  searches = new Searches(connection);
});
afterAll(async () => {
  connection.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const whole = { status: 200, _shards: { total: 2, successful: 2 }, hits: { total: { value: 7 } } };
const json = (responses: unknown, status = 200) => {
  answer = (response) => response.writeHead(status).end(JSON.stringify(responses));
};

test("counts what a whole answer says", async () => {
  json({ responses: [whole] });
  expect(await searches.count({ segments: [segment] }, [])).toBe(7);
});

/** Answers of servers and proxies that do not say what was found. */
const faults: Record<string, () => void> = {
  "a page of a proxy with status 200": () => {
    answer = (response) => response.writeHead(200).end("<html>Welcome</html>");
  },
  "half of the JSON": () => {
    answer = (response) => response.writeHead(200).end(JSON.stringify({ responses: [whole] }).slice(0, 40));
  },
  "a connection that ends within the answer": () => {
    answer = (response) => {
      response.writeHead(200, { "content-length": 500 }).write('{"responses":[');
      setImmediate(() => response.destroy());
    };
  },
  "no body": () => {
    answer = (response) => response.writeHead(200).end();
  },
  "JSON without answers": () => json({}),
  "JSON null": () => json(null),
  "fewer answers than questions": () => json({ responses: [] }),
  "an answer without shards": () => json({ responses: [{ status: 200, hits: { total: { value: 0 } } }] }),
  "a shard that no node has": () => json({ responses: [{ ...whole, _shards: { total: 2, successful: 1 } }] }),
  "an answer that was not ready in time": () => json({ responses: [{ ...whole, timed_out: true }] }),
  "a deleted index": () =>
    json({
      responses: [{ status: 404, error: { type: "index_not_found_exception", reason: "no such index" } }],
    }),
  "too many requests": () => json({ error: "busy" }, 429),
  "a cluster that is away": () => json({ error: "no master" }, 503),
  "rejected credentials": () => json({}, 401),
  "a redirect": () => {
    answer = (response) => response.writeHead(302, { location: "/login" }).end();
  },
};
for (const [fault, happens] of Object.entries(faults))
  test(`a search is unavailable after ${fault}`, async () => {
    happens();
    const code = ({ code }: { code: string }) => code;
    expect(await searches.count({ segments: [segment] }, []).catch(code)).toBe("unavailable");
    // It must not be remembered as a word that no document has.
    expect(await searches.documentsWith([segment], ["词"]).catch(code)).toBe("unavailable");
  });

test("an error names the cause, not only that all shards failed", async () => {
  const reason = { type: "too_many_nested_clauses", reason: "maxClauseCount is set to 1024" };
  const error = {
    type: "search_phase_execution_exception",
    reason: "all shards failed",
    root_cause: [reason],
  };
  json({ responses: [{ status: 500, error }] });
  await expect(searches.count({ segments: [segment] }, [])).rejects.toMatchObject({
    cause: { message: "OpenSearch answered 500: too_many_nested_clauses, maxClauseCount is set to 1024" },
  });
});
