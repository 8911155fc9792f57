import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createSmallStore } from "../../../locallm/test/model-store.ts";
import { startServerHere } from "../../../locallm/test/server-process.ts";
import { openBrowser } from "../test/browser.ts";
import { enter } from "../test/console-tour.ts";
import { faultsOf } from "../test/faults.ts";
import { startInProcess } from "../test/in-process.ts";
import { importFileInto } from "../test/pack.ts";
import { type Budget, measure, mostShift } from "./pages/budgets.ts";
import { type Addresses, type Language, type Sight, sights } from "./pages/sights.ts";
import { clicksTo, mostClicks, tasks } from "./pages/tasks.ts";

export const title = "Pages: every page and state, in both languages and themes, budgets, and errands";

const languages = ["en", "zh"] as const;
const looks = ["light", "dark"] as const;
const widths = [390, 1440] as const;
const pictures = languages.length * looks.length * widths.length;

/**
 * Visits every page but the console's in each of its states, saves a picture of each in `folder`, measures those that
 * people open first, and goes on errands. `--only NAME` visits the sights with NAME in their name and nothing else;
 * `--only budgets` and `--only errands` do that alone.
 */
export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const only = args[0] === "--only" ? (args[1] ?? "") : undefined;
  await using service = await startInProcess({}, { isScripted: false });
  const store = await createSmallStore();
  const models = await startServerHere({ models: store.folder });
  const bare = await startServerHere({});
  const at = {
    dataq: service.url,
    bareDataq: service.url,
    locallm: models.url,
    bareLocallm: bare.url,
  };
  try {
    await using browser = await openBrowser(service.url);
    const { page } = browser;
    // Both products are visited, so locallm's addresses are no strangers.
    const complaints = () =>
      browser.complaints.filter(
        (each) => ![models.url, bare.url].some((url) => each.startsWith(`asked ${url}/`)),
      );
    const faults: string[] = [];
    const visit = async (all: readonly Sight[]) => {
      for (const sight of all)
        if (only === undefined || sight.name.includes(only))
          for (const language of languages) faults.push(...(await look(page, sight, at, language, folder)));
    };

    // dataq has nothing but samples until an article of law is imported.
    await visit(sights.filter(({ name }) => name === beforeLaws));
    await importArticles(service.folder);
    await service.call("/v1/data/query", { body: { operation: "legal_laws", params: { query: "违约金" } } });
    if (only === "budgets") return failAt(await budgets(print, at, await enter(service)));
    if (only === "errands") return failAt(await errands(print, at));
    await visit(sights.filter(({ name }) => name !== beforeLaws));
    if (only !== undefined) return failAt([...faults, ...complaints()]);

    const list = (await service.call("/docs/llms.txt")).text;
    const names = [...list.matchAll(/\(\/docs\/([\w/-]+)\.md\)/g)].map(([, name]) => name!);
    await visit(names.map(documentation));

    print("| page | states | pictures |\n| --- | --- | ---: |");
    for (const [name, of] of Map.groupBy(sights, ({ page }) => page)) {
      const counts = [...Map.groupBy(of, ({ state }) => state)].map(
        ([state, { length }]) => `${length} ${state}`,
      );
      print(`| ${name} | ${counts.join(", ")} | ${of.length * pictures} |`);
    }
    print(`| each page of the documentation | ${names.length} filled | ${names.length * pictures} |`);
    print("| the console: `proof -- console` | | |");
    const bad = [...faults, ...complaints()];
    print(
      `\nSerious faults by axe, pages wider than the window, complaints of the browser: ${bad.length === 0 ? "none" : bad.length}.`,
    );
    for (const fault of bad) print(`- ${fault}`);

    bad.push(...(await budgets(print, at, await enter(service))));
    bad.push(...(await errands(print, at)));
    failAt(bad);
  } finally {
    await bare.stop();
    await models.stop();
    await store.remove();
  }
}

const beforeLaws = "visitors-samples-only";

function documentation(name: string): Sight {
  return {
    page: "documentation",
    state: "filled",
    name: name.replaceAll("/", "-"),
    isText: true,
    go: async (page, { dataq }, language) => {
      await page.goto(`${dataq}/docs/${language === "zh" ? "zh/" : ""}${name}`, { waitUntil: "networkidle" });
    },
  };
}

/** One page in one language. The theme and the width change while it is open. */
async function look(
  page: Page,
  sight: Sight,
  at: Addresses,
  language: Language,
  folder: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.goto("about:blank");
  for (const width of widths) {
    // A page may be another one on a phone, so each width begins anew.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    try {
      await sight.go(page, at, language);
    } catch (error) {
      found.push(`${sight.name} ${language} ${width}: ${String(error).split("\n", 1)[0]}`);
    }
    for (const look of looks) {
      await page.emulateMedia({ colorScheme: look });
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))");
      const place = `${language}-${look}-${width}`;
      if (!sight.isText || width === widths[1])
        for (const fault of await faultsOf(page)) found.push(`${sight.name} ${place}: ${fault}`);
      const real = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (real > width) found.push(`${sight.name} ${place}: ${real} px wide`);
      mkdirSync(join(folder, place), { recursive: true });
      await page.screenshot({ path: join(folder, place, `${sight.name}.png`) });
    }
  }
  return found;
}

/** Two articles, so that the page for visitors has answers. */
async function importArticles(folder: string): Promise<void> {
  const path = join(folder, "laws.jsonl");
  const article = (article_no: string, article_text: string) => ({
    law_id: "civil-code",
    law_name: "中华人民共和国民法典",
    article_no,
    article_text,
  });
  const rows = [
    article(
      "第五百八十五条",
      "约定的违约金低于造成的损失的，人民法院或者仲裁机构可以根据当事人的请求予以增加；约定的违约金过分高于造成的损失的，人民法院或者仲裁机构可以根据当事人的请求予以适当减少。",
    ),
    article(
      "第五百七十七条",
      "当事人一方不履行合同义务或者履行合同义务不符合约定的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。",
    ),
  ];
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  await importFileInto(folder, "legal_laws", path);
}

async function budgets(print: (line: string) => void, at: Addresses, session: string): Promise<string[]> {
  const first: readonly Budget[] = [
    { what: "dataq `/`", url: `${at.dataq}/`, mostBytes: 150_000 },
    { what: "dataq `/docs`", url: `${at.dataq}/docs/`, mostBytes: 150_000 },
    { what: "`/docs/zh/dataq/start`", url: `${at.dataq}/docs/zh/dataq/start`, mostBytes: 150_000 },
    { what: "locallm `/`", url: `${at.locallm}/`, mostBytes: 200_000 },
    { what: "locallm `/docs`", url: `${at.locallm}/docs/`, mostBytes: 150_000 },
    { what: "console, sign-in", url: `${at.dataq}/console/sign-in`, mostBytes: 300_000 },
    { what: "console, overview", url: `${at.dataq}/console/`, mostBytes: 300_000, session },
    { what: "console, playground", url: `${at.dataq}/console/playground`, mostBytes: 300_000, session },
  ];
  const bad: string[] = [];
  print("\n| first visit | first paint | largest paint | kB as sent | at most | requests | layout shift |");
  print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const budget of first) {
    const { firstPaintMs, largestPaintMs, bytes, requests, shift } = await measure(budget);
    print(
      `| ${budget.what} | ${firstPaintMs} ms | ${largestPaintMs} ms | ${kilobytes(bytes)} | ${kilobytes(budget.mostBytes)} | ${requests} | ${shift.toFixed(3)} |`,
    );
    if (bytes > budget.mostBytes) bad.push(`${budget.what} sends ${bytes} bytes`);
    if (shift > mostShift) bad.push(`${budget.what} shifts by ${shift}`);
  }
  return bad;
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0);
}

async function errands(print: (line: string) => void, at: Addresses): Promise<string[]> {
  const bad: string[] = [];
  // A browser that remembers no language of the pages before.
  await using browser = await openBrowser(at.dataq);
  const { page } = browser;
  print(`\n| errand | from | clicks | by | clicks on a phone |\n| --- | --- | ---: | --- | ---: |`);
  await page.emulateMedia({ colorScheme: "light" });
  for (const task of tasks) {
    const ways = [];
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const way = await clicksTo(page, at[task.product], task);
      if (way === null || way.length > mostClicks) bad.push(`${task.what} at ${width}: ${way?.join(" → ")}`);
      ways.push(way);
    }
    const [way, onPhone] = ways;
    print(
      `| ${task.what} | ${task.product} \`${task.from}\` | ${way?.length ?? "not found"} | ${way?.join(" → ") ?? ""} | ${onPhone?.length ?? "not found"} |`,
    );
  }
  return bad;
}

function failAt(bad: readonly string[]): void {
  if (bad.length > 0) throw new Error(["There are faults:", ...bad].join("\n"));
}
