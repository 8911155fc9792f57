import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, hasChineseFont } from "../../../testing/chromium.ts";
import { openBrowser, type TestBrowser, visit } from "./browser.ts";
import { faultsOf } from "./faults.ts";
import { importArticleInto } from "./pack.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const words = "当事人一方不履行合同义务的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。";
const opinion = `依据《民法典》第五百七十七条：“${words.replace("赔偿损失", "赔礼道歉")}”，另见《民法典》第九千条。`;

describe.skipIf(!chromiumPath)("the check of citations for people, in Debian's chromium", () => {
  let service: ServiceProcess;
  let browser: TestBrowser;

  beforeAll(async () => {
    service = await startService({});
    await importArticleInto(service.folder, { article_no: "第五百七十七条", article_text: words });
    browser = await openBrowser(service.url);
    await browser.wear({ theme: "light", language: "zh", width: 1440 });
    await browser.page.goto(service.console);
    await browser.page.getByRole("button", { name: "进入控制台" }).click();
    await browser.page.getByRole("navigation").first().waitFor();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const docx = (text: string) => {
    const space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    const half = Math.floor(text.length / 2);
    const run = (part: string) => `<w:r><w:t xml:space="preserve">${part}</w:t></w:r>`;
    const xml = `<?xml version="1.0"?><w:document xmlns:w="${space}"><w:body><w:p>${run(text.slice(0, half))}<w:r><w:delText>删去的字</w:delText></w:r>${run(text.slice(half))}</w:p></w:body></w:document>`;
    return Buffer.from(zipSync({ "word/document.xml": strToU8(xml) }));
  };
  const file = (name: string, buffer: Buffer) => ({ name, mimeType: "", buffer });

  test.skipIf(!hasChineseFont())("reads a real PDF file in the browser (needs a Chinese font)", async () => {
    const { page } = browser;
    const paper = await browser.context.newPage();
    await paper.setContent(`<p style="font: 16px sans-serif">${opinion}</p>`);
    const pdf = await paper.pdf();
    await paper.close();
    await visit(page, "/citations");
    await page.setInputFiles("input[type=file]", file("意见.pdf", pdf));
    await expect
      .poll(async () => (await page.getByLabel("待核查的文字").inputValue()).replaceAll(/\s/g, ""))
      .toBe(opinion);
    expect(browser.complaints).toEqual([]);
  });

  test("marks each citation of a Word file, says what is wrong and what to write, and keeps nothing", async () => {
    const { page } = browser;
    await visit(page, "/citations");
    await page.setInputFiles("input[type=file]", file("意见.odt", Buffer.from("x")));
    await page.getByText("不支持这种格式").waitFor();
    await page.setInputFiles("input[type=file]", file("意见.docx", docx(opinion)));
    await expect.poll(() => page.getByLabel("待核查的文字").inputValue()).toBe(opinion);
    await page.getByText(/本次调用价格.* 点/).waitFor();
    await page.getByRole("button", { name: "核查引注" }).click();
    await page.getByRole("heading", { name: "引注核查报告" }).waitFor();
    const marked = page.locator("a[id^=cited-]");
    expect(await marked.allTextContents()).toEqual([
      expect.stringContaining("第五百七十七条"),
      expect.stringContaining("第九千条"),
    ]);
    const [first, second] = [page.locator("#verdict-1"), page.locator("#verdict-2")];
    await first.getByText("引文有误").waitFor();
    expect(await first.textContent()).toContain(`条文原文： ${words.slice(0, -1)}`);
    await second.getByText("没有此条").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    // The same call again is no repeat, because no answer was kept.
    const again = await service.call("/v1/data/estimate", {
      body: { operation: "legal_citation_check", params: { text: opinion } },
    });
    expect(again.body).toMatchObject({ cached: false });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("navigation").count()).toBe(0);
    await page.emulateMedia({ media: null });
    expect(browser.complaints).toEqual([]);
  });
});
