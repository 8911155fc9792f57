import { operatorEvents } from "@dataq/contract/wire";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser, type TestBrowser, visit } from "./browser.ts";
import { signUp } from "./console-tour.ts";
import { faultsOf } from "./faults.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

describe.skipIf(!chromiumPath)("webhooks, watches and citations in the console, in Debian's chromium", () => {
  let service: InProcessService;
  let receiver: Receiver;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    [service, receiver] = await Promise.all([startInProcess(), startReceiver()]);
    service.nowMs = Date.now();
    browser = await openBrowser(service.url);
    page = browser.page;
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    await browser.signIn(await signUp(service.url, "hooks@example.com", "Hooks"));
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await receiver?.[Symbol.asyncDispose]();
  });

  test("a webhook is created, its secret is shown once, and a message can be sent again", async () => {
    await visit(page, "/webhooks");
    await page.getByText("No webhooks yet").waitFor();
    await page.getByRole("button", { name: "Create webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Endpoint").fill(receiver.url);
    await dialog.getByLabel("New records of a watch").check();
    // Customers get no events of operators.
    const offered = await dialog.textContent();
    expect(operatorEvents.filter((event) => offered?.includes(event))).toEqual([]);
    await dialog.getByRole("button", { name: "Create webhook" }).click();
    const secret = (await page.getByTestId("new-secret").textContent())!;
    expect(secret).toMatch(/^whsec_/);
    await page.getByLabel("I have saved the secret").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: receiver.url }).waitFor();
    expect(await page.content()).not.toContain(secret);

    const account = await service.database.query<{ id: string }>(
      "select account_id as id from webhook where url = $1",
      [receiver.url],
    );
    receiver.answer({ status: 200, body: "thank you" });
    await service.database.query("select webhook_send($1, 'balance.low', '', '{\"balance\": 5}', now())", [
      account.rows[0]!.id,
    ]);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 });
    await page.getByRole("link", { name: receiver.url }).click();
    await page.getByText("Delivered").waitFor();
    await page.getByRole("button", { name: /^Show/ }).click();
    await page.getByText("thank you").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Send again/ }).click();
    await page.getByText("The message is sent again.").waitFor();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 10_000 });
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids[1]).toBe(ids[0]);
  });

  test("a watch is created with its first answer, in Chinese too", async () => {
    await browser.wear({ theme: "light", language: "zh", width: 390 });
    await visit(page, "/webhooks");
    await page.getByRole("button", { name: "创建监控" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("名称").fill("合同");
    await dialog.getByLabel("query").fill("found 合同");
    await dialog.getByRole("button", { name: "创建监控" }).click();
    await page.getByText("首次查询到 1 条记录，消耗 5,000 点。").waitFor();
    await page.getByText("5,000 / 100,000").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "停用: 合同" }).click();
    await page.getByRole("button", { name: "启用: 合同" }).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  test("a citation check shows the verdict first, then what is wrong, in the reader's language", async () => {
    await browser.wear({ theme: "light", language: "en", width: 1280 });
    await page.route("**/v1/data/query", (route) =>
      route.fulfill({
        json: {
          request_id: "req_1",
          data: checkedCitations,
          page: 1,
          total_pages: 1,
          usage: { tokens: 0, reason: "sample" },
        },
      }),
    );
    const ask = async () => {
      await visit(page, "/playground?operation=legal_citation_check");
      await page.locator("button[type=submit]").click();
      await page.getByTestId("charged").waitFor();
      const cells = (place: number) => page.locator(`main tbody tr td:nth-child(${place})`).allInnerTexts();
      const [verdicts, cited, findings] = await Promise.all([cells(1), cells(2), cells(3)]);
      return verdicts.map((verdict, row) => [verdict, cited[row], findings[row]]);
    };
    expect(await ask()).toEqual([
      ["Misquoted", "劳动合同法第47条", "每满一年支付一半个月工资的标准向劳动者支付"],
      ["No such article", "民法典第1300条", "Nearest: 《民法典》第一千二百六十条."],
      [
        "Fits another article",
        "公司法第33条",
        "The sentence fits 《公司法》第五十七条 of today's text: the number may be that of an older version.",
      ],
      ["Repealed", "《婚姻法》第三十二条", "No longer applies since 2021-01-01.\n\nReplaced by 民法典."],
      ["No problem found", "《民法典》第五百七十七条", "The quotation agrees with the law."],
    ]);
    expect(await page.locator("main tbody del").allInnerTexts()).toEqual(["半"]);
    expect(await page.locator("main tbody ins").allInnerTexts()).toEqual(["一"]);
    expect((await page.locator("main table").allInnerTexts()).join()).not.toContain("in_force");
    await browser.wear({ theme: "light", language: "zh", width: 1280 });
    expect((await ask()).map(([verdict]) => verdict)).toEqual([
      "引文有误",
      "没有此条",
      "条号疑为旧号",
      "已废止",
      "未发现问题",
    ]);
    expect(await faultsOf(page)).toEqual([]);
  });
});

/** Records of a citation check, as the service answers. */
const right = {
  kind: "article",
  verdict: "exists",
  problems: [],
  status: "in_force",
  effective_date: "2021-01-01",
  expired_date: null,
  replaced_by: null,
  content: "当事人一方不履行合同义务的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。",
  nearest: null,
  fits_article: null,
  quotations: [],
  judgment: null,
  source: { name: "laws", kind: "third_party" },
};
const quotation = { agrees: true, differences: [], agrees_with_version: null, found_in: null };
const checkedCitations = [
  {
    ...right,
    id: "1",
    cited: "劳动合同法第47条",
    problems: ["quotation_differs"],
    quotations: [
      {
        ...quotation,
        agrees: false,
        differences: [
          { kind: "same", text: "每满一年支付" },
          { kind: "missing", text: "一" },
          { kind: "added", text: "半" },
          { kind: "same", text: "个月工资的标准向劳动者支付" },
        ],
      },
    ],
  },
  {
    ...right,
    id: "2",
    cited: "民法典第1300条",
    verdict: "no_such_article",
    problems: ["no_such_article"],
    status: null,
    content: null,
    nearest: { law_name: "民法典", article_no: "第一千二百六十条" },
  },
  {
    ...right,
    id: "3",
    cited: "公司法第33条",
    problems: ["fits_other_article"],
    fits_article: { law_name: "公司法", article_no: "第五十七条" },
  },
  {
    ...right,
    id: "4",
    cited: "《婚姻法》第三十二条",
    verdict: "not_held",
    problems: ["not_in_force"],
    status: "repealed",
    expired_date: "2021-01-01",
    replaced_by: "民法典",
    content: null,
  },
  { ...right, id: "5", cited: "《民法典》第五百七十七条", quotations: [quotation] },
];
