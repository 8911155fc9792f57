import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeRegistry, fakeRegistry } from "../../../locallm/test/fake-registry.ts";
import { createSmallStore, type ModelStore } from "../../../locallm/test/model-store.ts";
import { startServerHere, type TestServer } from "../../../locallm/test/server-process.ts";
import { smallLlama } from "../../../locallm/test/small-llama.ts";
import { chromiumPath } from "../../../testing/chromium.ts";
import { follow, openBrowser, settle, type TestBrowser, visit } from "./browser.ts";
import { makePast, type Sight, sights, signUp } from "./console-tour.ts";
import { openFolder } from "./data-folder.ts";
import { faultsOf } from "./faults.ts";
import { importFileInto } from "./pack.ts";
import { callUrl, type ServiceProcess, startService } from "./service-process.ts";

/** Operations that have samples, or what a test imports. */
const noVendor = ["cloud_express_tracking", "research_journal_search", "research_patent_search"] as const;

/** The operator of a service with a model server beside it. */
describe.skipIf(!chromiumPath)("an operator's console, in Debian's chromium", () => {
  let models: ModelStore;
  let modelServer: TestServer;
  let registry: FakeRegistry;
  let gate: Gate;
  let service: ServiceProcess;
  let browser: TestBrowser;
  let page: Page;
  let owner = "";

  beforeAll(async () => {
    models = await createSmallStore();
    await models.derive("short", { from: "small:a", parameters: { num_predict: 40, seed: 1 } });
    gate = await openGate();
    [modelServer, registry, service] = await Promise.all([
      startServerHere({ models: models.folder }),
      fakeRegistry(),
      startService({ vendor: { without: noVendor }, env: { DATAQ_LOCALLM: gate.url } }),
    ]);
    gate.target = modelServer.url;
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await modelServer?.stop();
    await registry?.close();
    await gate?.close();
    await models?.remove();
  });

  test("the printed link signs the owner in, once", async () => {
    await page.goto(service.console);
    await page.getByRole("button", { name: "Open console" }).click();
    await page.getByRole("heading", { name: "Hello, local" }).waitFor();
    expect(page.url()).not.toContain("token");

    const cookies = await browser.context.cookies(service.url);
    owner = decodeURIComponent(cookies.find(({ name }) => name === "dataq.session_token")!.value);
    await browser.signIn("");
    await visit(page, "/enter");
    await page.getByText("This link is incomplete").waitFor();
    // Pastes the link into the open page, which does not reload.
    await page.goto(service.console);
    await page.getByRole("button", { name: "Open console" }).click();
    await page.getByText("This link was already used or has expired.").waitFor();
    await browser.signIn(owner);
  });

  test("every page is in the reader's language alone, but for Chinese examples of what to ask", async () => {
    const found: string[] = [];
    for (const language of ["en", "zh"] as const) {
      await browser.wear({ theme: "light", language, width: 1440 });
      const pages = sights("req_none", "acct_none").filter(({ isState, who }) => !isState && who === "owner");
      const [seen, texts] = [new Set<string>(), new Set<string | null>()];
      for (const [index, { name, path = "" }] of pages.entries()) {
        await (index === 0 ? visit(page, path) : follow(page, path));
        for (const text of await wordsOf(page))
          if (foreign[language].test(text)) found.push(`${language} ${name}: ${text}`);
        seen.add(new URL(page.url()).pathname);
        texts.add(await page.locator("main").textContent());
      }
      // Each page was there, with a text of its own.
      expect(seen.size).toBe(pages.length);
      expect(texts.size).toBe(pages.length);
    }
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    expect(found).toEqual([]);
    expect("历史版本").toMatch(foreign.en);
    expect("Role, such as 原告").not.toMatch(foreign.en);
    expect("replaced by another version").toMatch(foreign.zh);
  }, 200_000);

  test("an import shows its progress and its result", async () => {
    const path = join(service.folder, "journals.jsonl");
    const journal = (n: number) => ({ journal_id: `j${n}`, name: `学报${n}`, issn: null, language: "zh" });
    // The import reports its progress for the first time a second after its start, so it must take longer.
    writeFileSync(path, Array.from({ length: 8_000 }, (_, n) => JSON.stringify(journal(n))).join("\n"));
    await visit(page, "/admin/sources");
    await page.getByRole("combobox", { name: "Operation" }).selectOption("research_journal_search");
    await page.getByLabel("File, URL or package").fill(path);
    const hold = await holdImports(service.folder);
    await page.getByRole("button", { name: "Start import" }).click();
    await page.getByText("Running").waitFor();
    const bar = page.locator("progress[value]");
    await bar.waitFor({ timeout: 50_000 });
    const share = await bar.evaluate(({ value, max }: { value: number; max: number }) => value / max);
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
    await hold.release();
    await page.getByText("Imported 8,000 records.").waitFor({ timeout: 50_000 });
    const { body } = await service.call("/admin/v1/jobs");
    expect(body.data[0]).toMatchObject({
      operation: "research_journal_search",
      from: path,
      state: "done",
      done: 8_000,
      total: 8_000,
    });
  });

  test("messages of imports and of the audit log are also in Chinese", async () => {
    await browser.wear({ theme: "light", language: "zh", width: 1280 });
    await visit(page, "/admin/sources");
    await page.getByText("已导入 8,000 条记录。").waitFor();
    await page.getByLabel("文件、地址或软件包").fill("/no/such/file.jsonl");
    await page.getByRole("button", { name: "开始导入" }).click();
    await page.getByText("文件 /no/such/file.jsonl 不存在或无法读取。").waitFor({ timeout: 50_000 });
    const { body } = await service.call("/admin/v1/jobs");
    expect(body.data[0].message).toBe("File /no/such/file.jsonl not found or not readable.");
    await visit(page, "/admin/integrity");
    await page.getByRole("cell", { name: "开始导入" }).first().waitFor();
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });

  test("a file is uploaded, its report is read, and the data set is removed and restored", async () => {
    await visit(page, "/admin/datasets");
    const content = "title,issn\n学报,1234-5678\n期刊\n";
    await page.locator("input[type=file]").setInputFiles({
      name: "uploaded.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(content),
    });
    await page.getByLabel("Operation").last().selectOption("research_journal_search");
    await page.getByRole("button", { name: "Upload and import" }).click();
    await page.getByText("the row has 1 cell, but the header has 2").waitFor({ timeout: 50_000 });
    await page.getByRole("link", { name: "uploaded", exact: true }).click();
    await page.getByRole("heading", { name: "uploaded" }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Removed").first().waitFor({ timeout: 50_000 });
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Remove" }).waitFor({ timeout: 50_000 });
  });

  test("an upload shows how much was sent, and its report lists the laws that are held back", async () => {
    await visit(page, "/admin/datasets");
    const law = (version_date: string, articles: number) =>
      JSON.stringify({
        category: "经济法",
        title: "测试法",
        version_date,
        text: Array.from({ length: articles }, (_, n) => `第${"一二三四五"[n]}条 第${n}项内容。`).join(
          "\n\n",
        ),
      });
    await page.locator("input[type=file]").setInputFiles({
      name: "laws.jsonl",
      mimeType: "application/x-ndjson",
      // Enough blank lines that the upload needs three pieces.
      buffer: Buffer.from(
        `${law("2020-01-01", 5)}\n${law("2024-05-01", 1)}\n${`${" ".repeat(9_999)}\n`.repeat(250)}`,
      ),
    });
    await recordProgress(page);
    await page.getByLabel("Operation").last().selectOption("legal_laws");
    await page.getByRole("textbox", { name: "Retrieved on" }).fill("2026-02-28");
    await page.getByRole("button", { name: "Upload and import" }).click();
    const held = "测试法: the version of 2024-05-01 (The operator of this service) drops 4 of 5 articles";
    await page.getByText(held).waitFor({ timeout: 50_000 });
    expect((await shownProgress(page)).some((share) => share > 0 && share < 1)).toBe(true);
    await page.getByRole("heading", { name: "Held back" }).waitFor();
    await browser.wear({ theme: "dark", language: "zh", width: 360 });
    await visit(page, "/admin/datasets/legal_laws/laws");
    await page.getByText("The operator of this service").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });

  test("a button tests a connector, and shows request, answer and what the mapping made of it", async () => {
    await visit(page, "/admin/datasets");
    const row = page.getByRole("row").filter({ hasText: "Test vendor" });
    await row.getByRole("button", { name: "Test Company details", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("One record").waitFor();
    await dialog
      .getByText(/^GET http:\/\/127\.0\.0\.1:\d+\/enterprise_company_detail\?tax_id=91330106MA0000007Q/)
      .waitFor();
    await dialog.getByText(/^Answer \(200, /).waitFor();
    const field = dialog.getByRole("row").filter({ hasText: "registration_date" });
    // In a narrow dialog each cell repeats the name of its column.
    await expect
      .poll(async () => (await field.getByRole("cell").allTextContents()).join(" "))
      .toMatch(/^registration_date .*registration_date .*(\d{4}-\d\d-\d\d) .*\1$/);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("prices say what answers: a vendor, imported records with what they cover, or samples", async () => {
    const file = join(service.folder, "patents.jsonl");
    const patent = { patent_id: "p1", title: "折叠屏铰链", type: "invention", legal_status: "granted" };
    const dated = { ...patent, legal_status_text: "授权", application_date: "2024-02-29" };
    writeFileSync(file, JSON.stringify(dated));
    await importFileInto(service.folder, "research_patent_search", file);
    const rowOf = (operation: string) => page.getByRole("row").filter({ hasText: operation });
    await expect
      .poll(async () => {
        await visit(page, "/pricing");
        return rowOf("research_patent_search").textContent();
      })
      .toContain("1 patent, of 2024-02-29");
    expect(await rowOf("research_patent_search").textContent()).toMatch(/500 tokens.*Imported.*1 patent/);
    expect(await rowOf("legal_cases").textContent()).toMatch(/5,000 tokens.*Connected/);
    expect(await rowOf("cloud_express_tracking").textContent()).toMatch(
      /free.*5,000 tokens with real data.*Samples only/,
    );
    await visit(page, "/pricing/cloud_express_tracking");
    await page.getByText("Samples only").waitFor();
    await browser.wear({ theme: "light", language: "en", width: 360 });
    await visit(page, "/pricing");
    for (const [operation, data] of [
      ["cloud_express_tracking", "Samples only"],
      ["research_patent_search", "1 patent, of 2024-02-29"],
    ] as const)
      await rowOf(operation).getByText(data).waitFor();
    await browser.wear({ theme: "light", language: "en", width: 1280 });
  });

  test("the playground says before the call that an operation has samples only, and which", async () => {
    await visit(page, "/playground?operation=cloud_express_tracking");
    await page.getByText("This service has no real data for this operation.").waitFor();
    const sample = page.getByRole("list", { name: "Samples" }).getByRole("button").nth(1);
    const number = page.locator("main form input").first();
    await page.getByTestId("price").getByText("0 tokens").waitFor();
    const value = (await sample.textContent())!;
    await sample.click();
    await expect.poll(() => number.inputValue()).toBe(value.split(" ")[0]);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Not charged: sample data").waitFor();
    await number.fill("YT9999999999990");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("alert").getByText("This service has no real data for this call.").waitFor();
    await visit(page, "/playground?operation=legal_cases");
    await page.getByTestId("price").getByText("5,000 tokens").waitFor();
    expect(await page.getByText("This service has no real data for this operation.").count()).toBe(0);
  });

  test("the model page pulls a model with progress and streams a chat", async () => {
    // Meaningless bytes after the tensors, enough to be reported in steps.
    const weights = Buffer.concat([smallLlama(3), Buffer.alloc(3_000_000)]);
    const { digest } = registry.publish("small/c:1", weights);
    let release = () => {};
    // Sends half of the file, then waits until the progress bar was seen.
    registry.answer = (_request, response, path) => {
      if (!path.endsWith(digest)) return false;
      response.writeHead(200, { "content-length": weights.length });
      response.write(weights.subarray(0, weights.length >> 1));
      release = () => response.end(weights.subarray(weights.length >> 1));
      return true;
    };
    await visit(page, "/admin/models");
    await page.getByRole("cell", { name: "small:b" }).waitFor();
    const name = `${registry.host}/small/c:1`;
    await page.getByRole("textbox", { name: "Model" }).fill(name);
    await page.getByRole("button", { name: "Pull model" }).click();
    await page.locator("progress[value]").waitFor();
    await page.getByText(/MB \/ 3\.4 MB · [1-9][\d.]*%/).waitFor();
    release();
    await page.getByText("Model downloaded.").waitFor();
    await page.getByRole("cell", { name: "small/c:1" }).waitFor();

    // The answer is held back in the middle until some of it was seen.
    const talk = page.getByRole("log");
    await page.getByRole("combobox", { name: "Model" }).selectOption("short:latest");
    await page.getByRole("textbox", { name: "Message" }).fill("Hello");
    await page.keyboard.press("Enter");
    const words = talk.getByRole("listitem").nth(1);
    await expect.poll(() => words.textContent()).toMatch(/latest: [^…]/);
    const seen = (await words.textContent())!;
    expect(await page.getByTestId("rate").count()).toBe(0);
    gate.release();
    await page.getByTestId("rate").waitFor();
    await page.getByText(/^loaded, /).waitFor();
    expect(await talk.getByRole("listitem").count()).toBe(2);
    const whole = (await words.textContent())!;
    expect(whole.startsWith(seen)).toBe(true);
    expect(whole.length).toBeGreaterThan(seen.length);
  });

  test("repeated presses create one key; a lost network and an ended session are reported", async () => {
    await browser.signIn(await signUp(service.url, "tab@example.com", "Tab"));
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Create API key" }).first().click();
    await page.getByRole("dialog").getByLabel("Name").fill("once");
    for (let press = 0; press < 3; press++) await page.keyboard.press("Enter");
    await page.getByTestId("new-key").waitFor();
    // The last press may reach the button that the focus returned to. It opens nothing above the key.
    const make = page.locator("button", { hasText: "Create API key" }).first();
    await make.evaluate((button: { click(): void }) => button.click());
    await page.getByLabel("I have saved the key").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /once/ }).first().waitFor();
    await settle(page);
    expect(await page.getByRole("row", { name: /once/ }).count()).toBe(1);

    await browser.context.setOffline(true);
    await page.getByRole("button", { name: "Revoke: once" }).click();
    const revoke = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
    await revoke.click();
    await page.getByText("The service is not responding. Check that it is running.").waitFor();
    await browser.context.setOffline(false);
    await revoke.click();
    await page.getByText("Manually").waitFor();

    const [{ value } = { value: "" }] = (await browser.context.cookies(service.url)).filter(({ name }) =>
      name.endsWith("session_token"),
    );
    await callUrl(`${service.url}/console/auth/sign-out`, {
      body: {},
      headers: { "x-console": "1", cookie: `dataq.session_token=${value}` },
    });
    await page.getByRole("link", { name: "Ledger", exact: true }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(page.url()).toContain("next=%2Fledger");
    await browser.signIn(owner);
  });

  test("turning pages quickly sends one call at a time, and each answer is shown", async () => {
    await browser.signIn(await signUp(service.url, "pages@example.com", "Pages"));
    await visit(page, "/playground?operation=legal_cases");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Page 1 of").waitFor();

    const asked: number[] = [];
    const held = Promise.withResolvers<void>();
    await page.route("**/v1/data/query", async (route) => {
      asked.push((route.request().postDataJSON() as { page: number }).page);
      await held.promise;
      await route.continue();
    });
    const next = page.getByRole("button", { name: "Next" });
    await next.evaluate((button: { click(): void }) => {
      for (let press = 0; press < 5; press++) button.click();
    });
    await page.locator("main form input").first().press("Enter");
    await expect.poll(() => next.isDisabled()).toBe(true);
    await expect.poll(() => page.getByLabel("Operation").isDisabled()).toBe(true);
    // The first page stays until the second has loaded.
    expect(await page.getByRole("tab", { name: "Table" }).count()).toBe(1);
    held.resolve();
    await page.getByText("Page 2 of").waitFor();
    expect(asked).toEqual([2]);
    await page.unroute("**/v1/data/query");
  });

  test("the ledger shows one line for a call, and the call shows both entries", async () => {
    await visit(page, "/ledger");
    const lines = page.locator("tbody tr");
    await expect
      .poll(async () =>
        (await lines.allTextContents()).map((line) => /Charged|Granted|Held|Released/.exec(line)?.[0]),
      )
      .toEqual(["Charged", "Charged", "Granted"]);
    expect(await lines.first().textContent()).toContain("−5,000");
    await lines.first().locator("a").click();
    // "Held" is also outside the table, before the entries have loaded.
    await page.locator("tbody").getByText("Held", { exact: true }).waitFor();
    await expect.poll(() => lines.count()).toBe(2);
  });

  test("the list of requests can be narrowed to one key", async () => {
    await visit(page, "/requests");
    // Not those of the chart's table.
    const rows = page.locator("table[role=table] tbody tr");
    await expect.poll(() => rows.count()).toBe(2);
    const key = page.getByLabel("API key", { exact: true });
    const narrowed = page.waitForResponse(/\/v1\/requests\?.*key=user_/);
    await key.selectOption({ label: "Console" });
    await narrowed;
    await settle(page);
    await expect.poll(() => rows.count()).toBe(2);
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Create API key" }).first().click();
    await page.getByRole("dialog").getByLabel("Name").fill("unused");
    await page.keyboard.press("Enter");
    await page.getByTestId("new-key").waitFor();
    await visit(page, "/requests");
    await key.selectOption({ label: "unused" });
    await page.getByText("No calls match").waitFor();
    await browser.signIn(owner);
  });

  test("dates and faults of fields are in the page's language, whatever that of the browser", async () => {
    await browser.wear({ theme: "light", language: "zh", width: 1440 });
    await visit(page, "/usage");
    const from = page.getByLabel("开始日期", { exact: true });
    await from.fill("2026年1月5日");
    await from.press("Tab");
    expect(await from.inputValue()).toBe("2026-01-05");
    const asked = page.waitForRequest((request) => request.url().includes("from=2026-01-07"));
    // An open calendar would take the keys that follow.
    await page.evaluate(
      "HTMLInputElement.prototype.showPicker = function () { globalThis.opened = this.type }",
    );
    await page.getByRole("button", { name: "打开日历：开始日期" }).press("Enter");
    expect(await page.evaluate<string>("globalThis.opened")).toBe("date");
    await page.locator("input[type=date]").first().fill("2026-01-07");
    await asked;
    expect(await from.inputValue()).toBe("2026-01-07");
    for (const wrong of ["2026-02-30", "01/05/2026", "2999-01-01"]) {
      await from.fill(wrong);
      await from.press("Tab");
      await page.getByText("请按 YYYY-MM-DD 填写，不晚于").waitFor();
      const told = "document.querySelector('input[aria-invalid=true]').validationMessage";
      expect(await page.evaluate<string>(told)).toContain("不晚于");
    }
    await visit(page, "/admin/vouchers");
    const yuan = page.locator("input[name=yuan]");
    await yuan.fill("");
    await yuan.press("Enter");
    const problem = () => page.evaluate<string>("document.activeElement.validationMessage");
    await expect.poll(problem).toBe("请填写此项。");
    await yuan.fill("0.001");
    await yuan.press("Enter");
    await expect.poll(problem).toMatch(/^请填写.*。$/);
  });

  test("rejects customers on operator pages", async () => {
    const session = encodeURIComponent(await signUp(service.url, "customer@example.com", "Customer"));
    const headers = { cookie: `dataq.session_token=${session}`, "x-console": "1" };
    for (const path of ["/console/api/models/tags", "/admin/v1/vouchers", "/admin/v1/jobs"])
      expect((await service.call(path, { key: null, headers })).status, path).toBe(403);
  });

  test("every fourth page passes axe, fits the screen and logs no error (all pages: npm run proof -- console)", async () => {
    const past = await makePast(service);
    const sessionOf = ({ who }: Sight) => (who === "owner" ? owner : "");
    // Each page is visited in one of these looks, in rotation. `npm run proof -- console` visits every page and state
    // in every look.
    const looks = [
      { theme: "dark", language: "zh", width: 360 },
      { theme: "light", language: "zh", width: 1440 },
      { theme: "dark", language: "en", width: 1440 },
      { theme: "light", language: "en", width: 360 },
    ] as const;
    const found: string[] = [];
    const pages = sights(past.requestId, past.accountId).filter(
      ({ isState }, index) => !isState && index % 4 === 0,
    );
    for (const [index, sight] of pages.entries()) {
      const look = looks[index % looks.length]!;
      await browser.wear(look);
      await browser.signIn(sessionOf(sight));
      await sight.go(page);
      for (const fault of await faultsOf(page)) found.push(`${sight.name}: ${fault}`);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        found.push(`${sight.name}: too wide`);
    }
    expect(found).toEqual([]);
    expect(browser.complaints).toEqual([]);
    await browser.signIn(owner);
  }, 400_000);

  test("shows stored HTML as text", async () => {
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    await visit(page, "/admin/accounts");
    await page.getByText("<script>document.title='broken'</script>").waitFor();
    await visit(page, "/keys");
    await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
    expect(await page.title()).toBe("dataq");
    expect(browser.complaints).toEqual([]);
  });

  test("cannot be framed by another page (clickjacking)", async () => {
    const foreign = await browser.context.newPage();
    await foreign.route("http://other.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<iframe src="${service.url}/console/"></iframe>`,
      }),
    );
    await foreign.goto("http://other.example/");
    const frame = foreign.frames()[1]!;
    await frame.waitForLoadState();
    expect(frame.url()).not.toContain(service.url);
    expect(await frame.locator("#root").count()).toBe(0);
    await foreign.close();
  });

  test("loads less than 200 kB of compressed scripts for the first page", async () => {
    await browser.signIn("");
    const sizes: number[] = [];
    page.on("response", async (response) => {
      if (response.url().endsWith(".js")) sizes.push(Number(response.headers()["content-length"]));
    });
    await page.route("**/*.js", (route) =>
      route.continue({ headers: { ...route.request().headers(), "accept-encoding": "gzip" } }),
    );
    await visit(page, "/sign-in");
    await settle(page);
    await page.unroute("**/*.js");
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
  });
});

/** Until `release`, an import reads its rows but cannot finish. */
async function holdImports(folder: string): Promise<{ release(): Promise<void> }> {
  const database = await openFolder(folder);
  const client = await database.pool.connect();
  await client.query("begin");
  await client.query("lock table dataset in share mode");
  return {
    async release() {
      await client.query("rollback");
      client.release();
      await database.close();
    },
  };
}

/** Records what progress bars show, because a bar may be visible for less than a second. */
async function recordProgress(page: Page): Promise<void> {
  await page.evaluate(`{
    globalThis.shown = [];
    new MutationObserver(() => {
      for (const bar of document.querySelectorAll("progress[value]")) shown.push(bar.value / bar.max);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  }`);
}

async function shownProgress(page: Page): Promise<number[]> {
  return (await page.evaluate("shown")) as number[];
}

/** A proxy in front of the model server: a chat answer waits after ten of its lines. */
interface Gate {
  readonly url: string;
  target: string;
  /** Releases the rest of the lines. */
  release(): void;
  close(): Promise<void>;
}

async function openGate(): Promise<Gate> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const answer = await fetch(gate.target + request.url, {
      method: request.method!,
      ...(request.method === "POST" && { body: await bytesOf(request) }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! });
    let lines = 0;
    for await (const line of answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(byLine())) {
      if (request.url === "/api/chat" && ++lines > 10) await released;
      response.write(line);
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gate: Gate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    release,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return gate;
}

async function bytesOf(request: AsyncIterable<Buffer>): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Splits any pieces of text into lines, each with its line end. */
function byLine(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(text, controller) {
      const lines = (rest + text).split(/(?<=\n)/);
      rest = lines.at(-1)!.endsWith("\n") ? "" : lines.pop()!;
      for (const line of lines) controller.enqueue(line);
    },
    flush: (controller) => controller.enqueue(rest),
  });
}

/** Words in the other language: Chinese that is no example, or three English words in a text without Chinese. */
const foreign = {
  en: /^(?!中文$)(?!.*such as).*\p{Script=Han}/u,
  zh: /^(?!.*\p{Script=Han}).*[a-z]{2,} [a-z]{2,} [a-z]{2,}/iu,
};

/** The texts that a page shows, without code. */
async function wordsOf(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!parentElement.closest("code, pre, script, style, noscript, .font-mono, [translate=no]")) found.add(textContent.trim());
    }
    return [...found];
  })()`)) as string[];
}
