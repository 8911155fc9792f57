import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { embeddedIndex } from "../dataq/service/src/search/open-index.ts";
import { openBrowser, settle } from "../dataq/service/test/browser.ts";
import { enter } from "../dataq/service/test/console-tour.ts";
import { openFolder } from "../dataq/service/test/data-folder.ts";
import { importPack } from "../dataq/service/test/pack.ts";
import { startService } from "../dataq/service/test/service-process.ts";
import { startServerHere } from "../locallm/test/server-process.ts";
import { starterName, starterStore } from "../locallm/test/starter-model.ts";

/**
 * The pictures of the READMEs, from the real pages: `TEST_DATA=… node -C source scripts/pictures.ts` writes
 * docs/pictures/. It needs chromium, the starter model and the pack of laws.
 */
const folder = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const size = { width: 1200, height: 720 };
/** The console has form and answer beside each other from this width on. */
const wide = { width: 1440, height: 864 };
const languages = ["en", "zh"] as const;
mkdirSync(folder, { recursive: true });

await pictureLocallm();
await pictureDataq();

async function pictureLocallm(): Promise<void> {
  const models = await starterStore();
  if (models === null) throw new Error("The starter model cannot be fetched.");
  const server = await startServerHere({ models });
  try {
    // A picture of an answer, not of a load.
    await fetch(`${server.url}/api/chat`, {
      method: "POST",
      body: JSON.stringify({ model: starterName, messages: [], stream: false }),
    });
    for (const language of languages) {
      await using browser = await openBrowser(server.url);
      const { page } = browser;
      await page.setViewportSize(size);
      await page.goto("/");
      if (language === "zh") await page.locator("#language").click();
      const question = page.locator("#question");
      await page.locator("#model").selectOption(starterName);
      await question.fill("What is the capital of France?");
      await question.press("Enter");
      // The figures below an answer come when it is complete.
      await page
        .getByText(/ per second|每秒/i)
        .first()
        .waitFor({ timeout: 60_000 });
      await save(page, `locallm-${language}`);
    }
  } finally {
    await server.stop();
  }
}

async function pictureDataq(): Promise<void> {
  const packs = process.env["TEST_DATA"];
  if (packs === undefined) throw new Error("TEST_DATA must name the folder of the packs.");
  await using service = await startService();
  const database = await openFolder(service.folder);
  const civil = (row: Readonly<Record<string, unknown>>) => row["law_name"] === "中华人民共和国民法典";
  await importPack(
    { database, index: embeddedIndex(database), folder: service.folder, packs },
    "law_articles",
    "legal_laws",
    civil,
  );
  await database.close();
  const session = await enter(service);
  for (const language of languages) {
    await using browser = await openBrowser(service.url);
    await browser.signIn(session);
    await browser.wear({ theme: "light", language, width: wide.width });
    const { page } = browser;
    await page.setViewportSize(wide);
    await page.goto("/console/playground?operation=legal_laws");
    await settle(page);
    await page.getByTestId("price").waitFor();
    await page.locator("button[type=submit]").click();
    await page.getByTestId("charged").waitFor();
    await settle(page);
    await page.evaluate("scrollTo(0, 0)");
    await save(page, `dataq-${language}`);
  }
}

/** As WebP, which is a third of PNG. */
async function save(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const bytes = Buffer.from(data, "base64");
  writeFileSync(`${folder}${name}.webp`, bytes);
  console.log(`docs/pictures/${name}.webp, ${Math.round(bytes.length / 1000)} kB`);
}
