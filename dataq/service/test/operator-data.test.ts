import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { routes } from "@dataq/contract/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { type Audited, expectAudited, jobRoutes } from "./audited.ts";
import { makeDataFolder, removeDataFolder } from "./data-folder.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** The vendor behind the connector, which answers what the test sets. */
let vendorAnswer = "{}";
const vendor = createServer((_, response) => response.end(vendorAnswer));
let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve));
  folder = await makeDataFolder("first start");
  const { port } = vendor.address() as AddressInfo;
  const connector = {
    vendor: "mapping",
    operation: "enterprise_annual_report",
    name: "Register",
    request: { url: `http://127.0.0.1:${port}/?code={tax_id}&key=top-secret` },
    answer: {
      ok: { path: "code", equals: ["0"] },
      record: "data",
      fields: { tax_id: "id", company_name: "name" },
    },
  };
  writeFileSync(join(folder, "connectors.json"), JSON.stringify({ connectors: [connector] }));
  service = await startService({
    folder,
    env: { DATAQ_UPLOAD_LIMIT: "3 MB", DATAQ_DATA_MIRROR: join(folder, "no-mirror") },
  });
});
afterAll(async () => {
  await service?.stop();
  vendor.close();
  await removeDataFolder(folder);
});

async function upload(name: string, content: Buffer): Promise<string> {
  const { body } = await service.call("/admin/v1/uploads", { body: { name, bytes: content.length } });
  for (let at = 0; at < content.length; ) {
    const piece = content.subarray(at, at + body.piece_bytes);
    const sent = await service.call(`/admin/v1/uploads/${body.id}?at=${at}`, {
      body: piece,
      headers: { "content-type": "application/octet-stream" },
    });
    expect(sent.status).toBe(200);
    at = sent.body.received;
  }
  return body.id;
}

async function ended(id: string) {
  let job: { state: string } | undefined;
  await expect
    .poll(
      async () => {
        job = (await service.call(`/admin/v1/jobs/${id}`)).body;
        return job?.state;
      },
      { timeout: 50_000, interval: 100 },
    )
    .not.toBe("running");
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return job as any;
}

const audited = new Set<string>();

/** Starts a job, and expects the row of the audit log. */
async function start(route: (typeof jobRoutes)[number], ...call: Audited) {
  audited.add(route);
  return expectAudited(service, route, call);
}

function conforms(name: keyof typeof routes, body: unknown): void {
  const { answer } = routes[name] as unknown as { answer: z.ZodType };
  expect(answer.safeParse(body).error?.issues).toBeUndefined();
}

describe("a file from the browser", () => {
  const rows = Array.from(
    { length: 2_000 },
    // Spaces make it a file of two pieces, and take no time to index.
    (_, n) => `期刊${n}${" ".repeat(450)},${String(n).padStart(8, "0")},${"历史学与考古学".repeat(6)}`,
  );
  const content = Buffer.from(`title,issn,subjects\n${rows.join("\n")}\nno issn\n`);

  test("is sent in pieces and imported as a job, and its report can be read", async () => {
    expect(content.length).toBeGreaterThan(1 << 20);
    const id = await upload("学报 2026.csv", content);
    const body = {
      operation: "research_journal_search",
      from: `upload:${id}`,
      source: "Office",
      kind: "official",
    };
    const started = await start("POST /admin/v1/imports", {}, body, "import.start");
    expect(started.status).toBe(202);
    const job = await ended(started.body.id);
    conforms("getJob", job);
    expect(job).toMatchObject({
      state: "done",
      report: {
        dataset: "学报 2026",
        rows: 2_001,
        refused: 1,
        problems: [
          {
            line: 2_002,
            problem: "the row has 1 cell, but the header has 3",
            problem_zh: expect.stringContaining("1 格"),
          },
        ],
      },
    });
    const { body: sets } = await service.call("/admin/v1/datasets");
    conforms("listDatasets", sets);
    const [set] = sets.data;
    expect(set).toMatchObject({
      name: "学报 2026",
      imports: [{ publisher: "Office", kind: "official", mode: "replace" }],
    });
    expect(set.rows).toBe(set.served + set.duplicates + set.refused);
  });

  test("its index can be rebuilt; one that does not exist is refused by name", async () => {
    const path = "/admin/v1/index/refresh";
    const body = { operation: "research_journal_search" };
    const started = await start("POST /admin/v1/index/refresh", {}, body, "index.refresh");
    expect(started).toMatchObject({ status: 202, body: { operation: "research_journal_search" } });
    expect(await ended(started.body.id)).toMatchObject({ state: "done" });
    for (const operation of ["legal_laws", "research_journal_search#packs", "--full", "", "期刊"]) {
      const refused = await service.call(path, { body: { operation } });
      expect([operation, refused.status]).toEqual([operation, 400]);
      if (operation !== "") expect(refused.text).toContain("research_journal_search");
    }
  });

  test("that is sent partly twice, or that is too long, does no harm", async () => {
    const { body } = await service.call("/admin/v1/uploads", { body: { name: "../../x.csv", bytes: 4 } });
    const send = (at: number, text: string) =>
      service.call(`/admin/v1/uploads/${body.id}?at=${at}`, { body: Buffer.from(text) });
    expect((await send(0, "ab")).body.received).toBe(2);
    expect((await send(0, "ab")).body.received).toBe(2);
    expect((await send(3, "d")).body.received).toBe(2);
    const from = `upload:${body.id}`;
    const early = { body: { operation: "research_journal_search", from } };
    expect((await service.call("/admin/v1/imports", early)).status).toBe(404);
    expect((await send(2, "cde")).body).toMatchObject({ code: "body_too_large" });
    expect((await send(2, "cd")).body.received).toBe(4);
    expect(readdirSync(join(folder, "uploads", body.id)).sort()).toEqual([".bytes", "x.csv"]);
    expect(existsSync(join(folder, "x.csv"))).toBe(false);
  });

  test("is refused if it is larger than DATAQ_UPLOAD_LIMIT, or if the key may not upload", async () => {
    const large = { body: { name: "large.csv", bytes: 3_000_001 } };
    expect((await service.call("/admin/v1/uploads", large)).body).toMatchObject({ code: "body_too_large" });
    const { key } = (await service.call("/v1/keys", { body: { role: "read-only" } })).body;
    expect((await service.call("/admin/v1/uploads", { ...large, key })).status).toBe(403);
    expect((await service.call("/admin/v1/datasets", { key })).status).toBe(403);
  });
});

test("the status names the newest day of imported records", async () => {
  const file = join(folder, "ranks.jsonl");
  const rank = (date: string) => JSON.stringify({ platform: "weibo", date, items: [["标题", 1]] });
  writeFileSync(file, ["2024-02-29", "2026-01-31", "2025-12-31"].map(rank).join("\n"));
  const body = { operation: "content_hot_rank", from: file };
  await ended((await service.call("/admin/v1/imports", { body })).body.id);
  await expect
    .poll(async () => {
      const { data } = (await service.call("/v1/status")).body;
      return data.operations.find(({ operation }: { operation: string }) => operation === "content_hot_rank");
    })
    .toMatchObject({ data: "imported", newest_day: "2026-01-31" });
});

describe("a data set", () => {
  const set = { operation: "research_journal_search", name: "学报 2026" };
  const route = "POST /admin/v1/datasets/:operation/:name";
  const path = `/admin/v1/datasets/${set.operation}/${encodeURIComponent(set.name)}`;

  test("is removed and restored over the API, and the audit log records it", async () => {
    const removal = await start(`${route}/remove`, set, {}, "dataset.remove");
    expect(removal.status).toBe(202);
    expect(await ended(removal.body.id)).toMatchObject({
      state: "done",
      message: expect.stringContaining("7 days"),
    });
    const { body } = await service.call(path);
    conforms("getDataset", body);
    expect(body).toMatchObject({ state: "removed", restorable: { served: 2_000 } });
    expect((await service.call(`${path}/remove`, { method: "POST" })).status).toBe(404);
    const back = await start(`${route}/restore`, set, {}, "dataset.restore");
    expect(await ended(back.body.id)).toMatchObject({ state: "done" });
    expect((await service.call(path)).body).toMatchObject({ state: "serving", served: 2_000 });
  });
});

describe("a connector", () => {
  const query = {
    operation: "enterprise_annual_report",
    params: { tax_id: "91330106MA0000007Q" },
  };

  test("is tested over the API, step by step and without credentials", async () => {
    vendorAnswer = JSON.stringify({ code: 0, data: { id: "91330106MA0000007Q", name: 7 } });
    const { body, text } = await service.call("/admin/v1/connectors/enterprise_annual_report/test", {
      body: {},
    });
    conforms("testConnector", body);
    expect(text).not.toContain("top-secret");
    expect(body.fields.find(({ field }: { field: string }) => field === "tax_id")).toMatchObject({
      path: "id",
      found: "91330106MA0000007Q",
      problem: null,
    });
    expect(body.outcome).toBe("failed");
  });

  test("that fails gives the reason to the log and the operator, not to the caller", async () => {
    vendorAnswer = JSON.stringify({ code: 0, data: { id: "91330106MA0000007Q" } });
    const account = (await service.call("/admin/v1/accounts", { body: { name: "buyer", tokens: 100_000 } }))
      .body;
    const answer = await service.call("/v1/data/query", { key: account.keys[0], body: query });
    expect(answer).toMatchObject({ status: 502, body: { code: "upstream_error" } });
    expect(answer.text).not.toContain("missing; expected");
    const id = answer.body.request_id;
    await expect.poll(() => service.log(), { timeout: 5_000 }).toContain(id);
    const line = service
      .log()
      .split("\n")
      .find((each) => each.includes(id) && each.includes('"reason"'));
    expect(line).toContain("missing; expected");
    const seen = (await service.call(`/v1/requests/${id}`)).body;
    conforms("getRequest", seen);
    expect(seen).toMatchObject({
      account_id: account.account_id,
      reason: expect.stringContaining("missing; expected"),
    });
    const own = (await service.call(`/v1/requests/${id}`, { key: account.keys[0] })).body;
    expect(own).toMatchObject({ id, code: "upstream_error" });
    expect(own).not.toHaveProperty("reason");
    const { body } = await service.call("/admin/v1/connectors");
    conforms("listConnectors", body);
    expect(body.data).toMatchObject([{ operations: ["enterprise_annual_report"], vendor: "Register" }]);
  });
});

test("every route that starts a job writes a row of the audit log", async () => {
  // Nothing is at the mirror, so the job fails after its row was written.
  const started = await start(
    "POST /admin/v1/open-data/:name",
    { name: "hot-rank-zhihu" },
    {},
    "import.start",
  );
  expect(await ended(started.body.id)).toMatchObject({ state: "failed" });
  expect([...audited].sort()).toEqual([...jobRoutes].sort());
});
