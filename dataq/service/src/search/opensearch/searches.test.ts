import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../database/database.ts";
import { openIndex } from "../open-index.ts";
import type { OpenSegment } from "../snapshots/open-snapshot.ts";
import { Connection } from "./connection.ts";
import { OpenSearchEngine } from "./opensearch-engine.ts";
import { Searches } from "./searches.ts";

/** What a server or a proxy answers next. */
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  request.resume().on("end", () => answer(response));
});
let url: string;
let searches: Searches;
let connection: Connection;
const segment = { id: 1, home: "dataq-1", dataset: "d", documents: 9, dead: null } as OpenSegment;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  connection = new Connection({ url, prefix: "dataq" });
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

test("health names a server that is no OpenSearch, or one that is too old", async () => {
  const engine = new OpenSearchEngine({} as Database, { url, prefix: "dataq" });
  const health = async (body: string) => {
    answer = (response) => response.writeHead(200).end(body);
    const { engine: name, trouble } = await engine.health();
    return [name, trouble];
  };
  const version = (number: string) => JSON.stringify({ version: { number } });
  expect(await health(version("3.4.0"))).toEqual(["OpenSearch 3.4.0", null]);
  expect(await health(version("10.0.0"))).toEqual(["OpenSearch 10.0.0", null]);
  expect(await health(version("2.19.1"))).toEqual([
    "OpenSearch 2.19.1",
    "dataq needs OpenSearch 3 or newer.",
  ]);
  for (const body of ["{}", "null", "[]"])
    expect(await health(body)).toEqual(["OpenSearch", "The server of DATAQ_SEARCH is not an OpenSearch."]);
  expect(await health("<html>")).toEqual(["OpenSearch", expect.stringContaining("invalid JSON: <html>")]);
  await engine.close();
});

test("a port without TLS, and a file without certificates, are named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dataq-ca-"));
  const certificateFile = join(folder, "ca.der");
  writeFileSync(certificateFile, Buffer.from([0x30, 0x82, 3, 4]));
  const address = { url: url.replace("http:", "https:"), prefix: "dataq" };
  const tls = new Connection(address);
  try {
    await expect(tls.ask({ method: "GET", path: "/" })).rejects.toThrow("does not answer with TLS");
    await expect(openIndex({} as Database, { ...address, certificateFile })).rejects.toThrow(
      `DATAQ_SEARCH_CA: ${certificateFile} contains no certificate in PEM.`,
    );
  } finally {
    tls.close();
    rmSync(folder, { recursive: true });
  }
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
