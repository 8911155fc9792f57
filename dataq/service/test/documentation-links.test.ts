import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { html } from "./visited-service.ts";

/** What leads from elsewhere into the documentation, which must be built: node scripts/documentation.mjs. */
let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service?.[Symbol.asyncDispose]());

const open = (path: string, headers: Record<string, string>) => fetch(service.url + path, { headers });

test.each(["zh-CN", "en"])(
  "the page of an address that is not there, in %s, links to pages",
  async (language) => {
    const text = await (await open("/price", { ...html, "accept-language": language })).text();
    const links = [...text.matchAll(/<a [^>]*href="(\/docs[^"]*)"/g)].map(([, address]) => address!);
    expect(links).not.toEqual([]);
    for (const address of links) expect((await open(address, html)).status, address).toBe(200);
  },
);

test("the list for agents links to pages, and an operation to its section", async () => {
  const text = await (await open("/llms.txt", {})).text();
  const links = [...text.matchAll(/\]\((\/docs[^)]*)\)/g)].map(([, address]) => address!);
  expect(links).not.toEqual([]);
  for (const address of links) expect((await open(address, {})).status, address).toBe(200);
  expect(await (await open("/docs/dataq/operations", {})).text()).toContain('id="legal_cases"');
});

test.each([
  ["en-GB", "/docs/dataq/errors"],
  ["fr, zh-TW;q=0.4", "/docs/zh/dataq/errors"],
])("the type of a problem document is a section of a page, in %s", async (language, page) => {
  const answer = await open("/docs/errors/not_found", { "accept-language": language });
  expect([answer.redirected, new URL(answer.url).pathname]).toEqual([true, page]);
  expect(await answer.text()).toContain('id="not_found"');
});

test("an error code that does not exist is an error for programs, and a page for browsers", async () => {
  const program = await open("/docs/errors/nothing", { "accept-language": "zh" });
  expect(await program.json()).toMatchObject({ code: "not_found" });
  const { headers } = await open("/docs/errors/nothing", html);
  expect(headers.get("content-type")).toContain("text/html");
});
