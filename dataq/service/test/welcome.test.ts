import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startInProcess } from "./in-process.ts";
import type { ServiceProcess } from "./service-process.ts";
import { article, html, startForVisitors } from "./visited-service.ts";

let service: ServiceProcess;
beforeAll(async () => {
  service = await startForVisitors();
});
afterAll(() => service?.[Symbol.asyncDispose]());

const page = (headers: Record<string, string>, query = "") =>
  fetch(`${service.url}/${query}`, { headers: { ...html, ...headers }, redirect: "manual" });
const ask = (body: unknown, language = "en") =>
  service.call("/v1/try", { key: null, body, headers: { "accept-language": language } });

describe("the address / of the service", () => {
  test("is a page in the reader's language for browsers, and a list of addresses for programs", async () => {
    for (const [language, lang, words] of [
      ["zh-CN,en;q=0.5", "zh-CN", "不用注册，先试一试"],
      ["fr", "en", "Try it, without an account"],
    ] as const) {
      const answer = await page({ "accept-language": language });
      const text = await answer.text();
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(answer.headers.get("vary")).toContain("Cookie");
      expect(text).toContain(`<html lang="${lang}"`);
      expect(text).toContain(words);
      expect(text).toContain("/v1/data/query");
    }
    const program = await fetch(service.url);
    expect(await program.json()).toMatchObject({ console: "/console/", docs: "/docs" });
  });

  test("keeps a language that was chosen, and repeats nothing of the address", async () => {
    const chosen = await page({ "accept-language": "en" }, "?language=zh");
    expect(chosen.headers.get("set-cookie")).toMatch(/^dataq_look=system\.zh; Path=\/;/);
    expect(await chosen.text()).toContain('<html lang="zh-CN"');
    const hostile = await page({ "accept-language": "en" }, "?language=%22%3E%3Cscript%3E");
    expect(hostile.headers.get("set-cookie")).toBeNull();
    expect(await hostile.text()).not.toContain("<script>");
  });
});

describe("an address that is not there", () => {
  const open = (path: string, headers: Record<string, string>) => fetch(`${service.url}${path}`, { headers });

  test("is a page with the ways onward for browsers, in the reader's language", async () => {
    for (const [headers, lang, words] of [
      [{ "accept-language": "zh-CN" }, "zh-CN", "这个地址没有页面"],
      [{ "accept-language": "zh", cookie: "dataq_look=dark.en" }, "en", "There is no page"],
    ] as const)
      for (const path of [
        "/price",
        "/account/settings?tab=1",
        "//example.com/a",
        "/%3Cscript%3Ealert(1)%3C",
      ]) {
        const answer = await open(path, { ...html, ...headers });
        const text = await answer.text();
        expect([answer.status, answer.headers.get("content-type")]).toEqual([
          404,
          "text/html; charset=utf-8",
        ]);
        expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(answer.headers.get("vary")).toContain("Accept, Accept-Language, Cookie");
        expect(text).toContain(`<html lang="${lang}"`);
        expect(text).toContain(words);
        expect(text).not.toMatch(/<script|href="\/\/|href="http/);
        // Those below /docs: documentation-links.test.ts.
        for (const [, address] of text.matchAll(/<a [^>]*href="(\/(?!docs)[^"]*)"/g))
          expect((await open(address!, html)).status, address).toBe(200);
      }
  });

  test("is an error for programs, and an address of programs is one for everybody", async () => {
    for (const [path, accept] of [
      ["/price", "*/*"],
      ["/price", "application/json"],
      ["/v1/prices", html.accept],
      ["/api/tags", html.accept],
      ["/console/api/nothing", html.accept],
    ] as const)
      expect(await (await open(path, { accept })).json(), path).toHaveProperty("request_id");
    const posted = await fetch(`${service.url}/price`, { method: "POST", headers: html });
    expect(await posted.json()).toMatchObject({ code: "no_such_route" });
  });
});

describe("questions without an account", () => {
  test("are answered from what is here, say what they would cost, and move nothing in the books", async () => {
    const before = (await service.call("/v1/ledger")).body;
    const found = await ask({ operation: "legal_laws", text: "违约金过高" });
    expect(found).toMatchObject({ status: 200, body: { operation: "legal_laws", total: 1, tokens: 5_000 } });
    expect(found.body.data[0].content).toBe(article);
    const text = "《民法典》第五百八十五条和《民法典》第九千条。";
    const checked = await ask({ operation: "legal_citation_check", text }, "zh");
    const verdicts = checked.body.data.map(({ verdict }: { verdict: string }) => verdict);
    expect(verdicts).toEqual(["exists", "no_such_article"]);
    expect(checked.body.summary).toMatchObject({ citations: 2, with_problems: 1 });
    expect((await service.call("/v1/ledger")).body).toEqual(before);
  });

  test.each([
    [{ operation: "legal_laws", text: "法".repeat(101) }, "text"],
    [{ operation: "legal_citation_check", text: "法".repeat(1_001) }, "text"],
    [{ operation: "legal_laws", text: "" }, "text"],
    [{ operation: "legal_cases", text: "合同" }, "operation"],
    [{ operation: "legal_laws" }, "text"],
    [{ operation: "legal_laws", text: "法", page_size: 200 }, "page_size"],
  ])("name the field that is wrong: %j", async (body, param) => {
    expect(await ask(body)).toMatchObject({
      status: 400,
      body: { code: "invalid_params", error: { param } },
    });
  });

  test("end for one address, and for all together, with the time to wait", async () => {
    await using small = await startInProcess({ DATAQ_TRIALS: "40" });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      const { status, body } = await small.call("/v1/try", {
        key: null,
        body: { operation: "legal_laws", text: "合同" },
      });
      statuses.push(status);
      // A day has 86,400 seconds for forty questions.
      if (status === 429) expect(body).toMatchObject({ code: "rate_limited", retry_after: 2_160 });
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    small.nowMs += 2_160_000;
    const again = { key: null, body: { operation: "legal_laws", text: "合同" } };
    expect((await small.call("/v1/try", again)).status).toBe(200);
  });

  test("never ask a vendor, who would be paid, and are off where the operator says so", async () => {
    await using paid = await startInProcess({}, { isScripted: false, vendor: true });
    const asked = { key: null, body: { operation: "legal_laws", text: "合同" } };
    expect(await paid.call("/v1/try", asked)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    await using off = await startInProcess({ DATAQ_TRIALS: "0" });
    expect(await off.call("/v1/try", asked)).toMatchObject({ status: 404 });
    expect(await (await fetch(off.url, { headers: html })).text()).not.toContain('id="try"');
  });
});
