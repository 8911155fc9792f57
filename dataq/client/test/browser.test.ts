import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { type Browser, chromium } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumArguments, chromiumPath } from "../../../testing/chromium.ts";
import { startInProcess } from "../../service/test/in-process.ts";

const index = fileURLToPath(new URL("../src/index.ts", import.meta.url));
const calls: object[] = [];
let bundle: string;
let server: Server;
let url: string;

beforeAll(async () => {
  const build = await rolldown({ input: index, platform: "browser" });
  const { output } = await build.generate({ format: "iife", name: "dataq", minify: true });
  bundle = output[0].code;
  // The page and the service have the same origin, as behind a gateway. The first query fails once.
  server = createServer((request, response) => {
    if (request.method !== "POST")
      return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
    calls.push(request.headers);
    const failed = calls.length === 1;
    response.writeHead(failed ? 503 : 200, { "content-type": "application/json", "x-request-id": "req_b" });
    response.end(
      JSON.stringify(failed ? { code: "unavailable" } : { data: [{ id: "民" }], page: 1, total_pages: 1 }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** This program runs in the browser or in an empty context. It can use only its argument. */
const program = `(async (baseUrl) => {
  const { DataQuery, DataQuerySync } = dataq;
  const client = new DataQuery({ apiKey: "dq_test_x", baseUrl, retryDelay: 0, dangerouslyAllowBrowser: true });
  const items = [];
  for await (const item of client.paginate("legal_laws", { query: "民法典" }).items()) items.push(item.id);
  const { response } = await client.legal.laws({ query: "民法典" });
  let refused;
  try { new DataQuerySync({ apiKey: "dq_test_x", dangerouslyAllowBrowser: true }); } catch (error) { refused = error.code; }
  return JSON.stringify({ items, requestId: response.requestId, refused });
})`;
const given = { items: ["民"], requestId: "req_b", refused: "sync_unsupported" };

describe.skipIf(!chromiumPath)("in chromium (Debian package chromium)", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: [...chromiumArguments] });
  });
  afterAll(() => browser?.close());

  test("the asynchronous client works with retries, and the synchronous one throws a clear error", async () => {
    calls.length = 0;
    const page = await browser.newPage();
    await page.goto(url);
    await page.addScriptTag({ content: bundle });
    expect(JSON.parse(await page.evaluate<string>(`${program}(${JSON.stringify(url)})`))).toEqual(given);
    expect(calls).toHaveLength(3);
  });

  test("a page of an allowed origin reads data, request ID and rate limit of the real service", async () => {
    await using service = await startInProcess({ DATAQ_ORIGINS: url }, { isScripted: false, vendor: true });
    const page = await browser.newPage();
    await page.goto(url);
    await page.addScriptTag({ content: bundle });
    const options = { apiKey: service.key, baseUrl: service.url, dangerouslyAllowBrowser: true };
    const program = `(async (options) => {
      const client = new dataq.DataQuery(options);
      const { data, request_id, response } = await client.content_hot_rank({ platform: "weibo" }, { requestId: "page-1" });
      const wrong = await client.enterprise_company_detail({ tax_id: "1" }).catch((error) => error);
      const rate = response.headers.get("ratelimit");
      return { count: data.length, isKnown: request_id === response.requestId, rate, wrong: [wrong.name, wrong.requestId] };
    })(${JSON.stringify(options)})`;
    expect(await page.evaluate<object>(program)).toEqual({
      count: expect.any(Number),
      isKnown: true,
      rate: expect.stringMatching(/;r=\d+;t=\d+/),
      wrong: ["BadRequestError", expect.stringMatching(/^req_/)],
    });
  });
});

test("the asynchronous client needs only fetch, nothing of Node", async () => {
  calls.length = 0;
  const {
    fetch,
    Headers,
    AbortController,
    TextDecoder,
    URL,
    URLSearchParams,
    setTimeout,
    clearTimeout,
    crypto,
  } = globalThis;
  const world = createContext({
    ...{
      fetch,
      Headers,
      AbortController,
      TextDecoder,
      URL,
      URLSearchParams,
      setTimeout,
      clearTimeout,
      crypto,
    },
  });
  new Script(bundle).runInContext(world);
  const run = new Script(program).runInContext(world) as (url: string) => Promise<string>;
  expect(JSON.parse(await run(url))).toEqual(given);
});
