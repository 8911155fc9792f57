import { join } from "node:path";
import type { Page } from "playwright-core";
import { createModelStore } from "../../../locallm/test/model-store.ts";
import { startServerHere } from "../../../locallm/test/server-process.ts";
import { openBrowser, type TestBrowser } from "../test/browser.ts";
import { faultsOf } from "../test/faults.ts";
import { startInProcess } from "../test/in-process.ts";
import { clicksTo, tasks } from "./pages/tasks.ts";

export const title = "Pages: every page of the documentation, in both languages and themes, and ten errands";

const looks = ["light", "dark"] as const;
const widths = [390, 1440] as const;

export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[],
): Promise<void> {
  await using service = await startInProcess({}, { isScripted: false });
  const list = (await service.call("/docs/llms.txt")).text;
  const names = [...list.matchAll(/\(\/docs\/([\w/-]+)\.md\)/g)].map(([, name]) => name!);
  const store = await createModelStore();
  const models = await startServerHere({ models: store.folder });
  try {
    await using browser = await openBrowser(service.url);
    const takesPictures = args.includes("--pictures");
    const faults: string[] = [];
    // The errands visit both products, so locallm's address is no stranger.
    const complaints = () => browser.complaints.filter((each) => !each.startsWith(`asked ${models.url}/`));
    for (const language of ["en", "zh"] as const) {
      for (const look of looks) {
        await browser.page.emulateMedia({ colorScheme: look });
        for (const name of names) {
          const path = `/docs/${language === "zh" ? "zh/" : ""}${name}`;
          for (const fault of await faultsAt(browser, path)) faults.push(`${path} ${look}: ${fault}`);
          if (takesPictures)
            await takePictures(browser.page, join(folder, `${language}-${look}-${name.replace("/", "-")}`));
        }
      }
    }
    print(`| ${names.length} pages × 2 languages × 2 themes | |\n| --- | --- |`);
    print(
      `| serious faults by axe, wider than the window at ${widths.join(" or ")} px, complaints of the browser | ${faults.length + complaints().length} |`,
    );
    for (const fault of [...faults, ...complaints()]) print(`| ${fault.replaceAll("|", "\\|")} | |`);

    print("\n| errand | from | clicks | by |\n| --- | --- | ---: | --- |");
    await browser.page.emulateMedia({ colorScheme: "light" });
    const urls = { dataq: service.url, locallm: models.url };
    let isDone = true;
    for (const task of tasks) {
      const way = await clicksTo(browser.page, urls[task.product], task);
      if (way === null) isDone = false;
      print(
        `| ${task.what} | ${task.product} \`${task.from}\` | ${way?.length ?? "not found"} | ${way?.join(" → ") ?? ""} |`,
      );
    }
    if (faults.length > 0 || complaints().length > 0 || !isDone)
      throw new Error(["There are faults, see above.", ...complaints()].join("\n"));
  } finally {
    await models.stop();
    await store.remove();
  }
}

async function faultsAt({ page }: TestBrowser, path: string): Promise<string[]> {
  await page.setViewportSize({ width: widths[1], height: 900 });
  await page.goto(path, { waitUntil: "networkidle" });
  const found = await faultsOf(page);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const real = await page.evaluate<number>("document.documentElement.scrollWidth");
    if (real > width) found.push(`${real} px wide at ${width}`);
  }
  return found;
}

async function takePictures(page: Page, name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: `${name}-${width}.png` });
  }
}
