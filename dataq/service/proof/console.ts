import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createSmallStore } from "../../../locallm/test/model-store.ts";
import { startServer } from "../../../locallm/test/server-process.ts";
import { chromiumPath } from "../../../testing/chromium.ts";
import { type Language, openBrowser, type TestBrowser } from "../test/browser.ts";
import {
  enter,
  makePast,
  type Sight,
  sights,
  signUp,
  signUpMember,
  signUpPoor,
} from "../test/console-tour.ts";
import { faultsOf } from "../test/faults.ts";
import { startService } from "../test/service-process.ts";

export const title = "Console: every page and state, both languages and themes, at 360 and 1440 px";

const languages: readonly Language[] = ["en", "zh"];
const widths = [1440, 360];
const themes = ["light", "dark"] as const;

/** The findings for one view in one language, in every width and theme. */
interface Visit {
  readonly language: Language;
  readonly sight: string;
  readonly isState: boolean;
  readonly findings: readonly Finding[];
}

interface Finding {
  readonly look: string;
  readonly kind: "fault" | "wide" | "complaint";
  readonly text: string;
}

/**
 * Visits every view, runs axe on it, looks for pages wider than the screen, and saves a picture of each in `folder`.
 * An interrupted run continues where it stopped. The environment variable SIGHTS is a pattern that selects views by
 * name.
 */
export async function run(print: (line: string) => void, folder: string): Promise<void> {
  if (!chromiumPath) throw new Error("This proof needs Debian's package chromium.");
  const notes = join(folder, "visits.jsonl");
  const visits = readVisits(notes);
  const wanted = new RegExp(process.env["SIGHTS"] ?? "");
  const models = await createSmallStore();
  const server = await startServer({ models: models.folder });
  try {
    await server.ask("/api/generate", {
      model: "small:a",
      prompt: "a",
      stream: false,
      options: { num_predict: 1 },
    });
    await using service = await startService({ vendor: true, env: { DATAQ_LOCALLM: server.url } });
    const past = await makePast(service);
    const sessions = {
      nobody: "",
      newcomer: await signUp(service.url, "newcomer@example.com", "Newcomer 新来的"),
      poor: await signUpPoor(service),
      member: await signUpMember(service),
      owner: await enter(service),
    };
    await using browser = await openBrowser(service.url);
    for (const sight of sights(past.requestId, past.accountId)) {
      if (!wanted.test(sight.name)) continue;
      for (const language of languages) {
        if (visits.some((visit) => visit.language === language && visit.sight === sight.name)) continue;
        await browser.signIn(sessions[sight.who]);
        const findings = await look(browser, sight, language, folder);
        const visit: Visit = { language, sight: sight.name, isState: sight.isState === true, findings };
        appendFileSync(notes, `${JSON.stringify(visit)}\n`);
        visits.push(visit);
      }
    }
  } finally {
    await server.stop();
    await models.remove();
  }
  table(visits, print);
  rmSync(notes);
  console.log(`Pictures: ${folder}`);
}

/** One visit. The theme and the width change while the page is open. */
async function look(
  browser: TestBrowser,
  sight: Sight,
  language: Language,
  folder: string,
): Promise<Finding[]> {
  const { page, complaints } = browser;
  const findings: Finding[] = [];
  const note = (kind: Finding["kind"], at: string, text: string) => findings.push({ kind, look: at, text });
  complaints.length = 0;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // If only the part after the # differs, the browser would keep the previous page.
  await page.goto("about:blank");
  await page.emulateMedia({ colorScheme: "light" });
  await browser.wear({ theme: "system", language, width: 1440 });
  try {
    await sight.go(page);
  } catch (error) {
    note("complaint", "visit", String(error).split("\n", 1)[0]!);
  }
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 600 ? 780 : 900 });
    for (const theme of themes) {
      const at = `${language}-${theme}-${width}`;
      await page.emulateMedia({ colorScheme: theme });
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      for (const fault of await faultsOf(page)) note("fault", at, fault);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) note("wide", at, "");
      mkdirSync(join(folder, at), { recursive: true });
      await page.screenshot({ path: join(folder, at, `${sight.name}.png`), fullPage: true });
    }
  }
  for (const complaint of complaints) note("complaint", language, complaint);
  return findings;
}

function readVisits(path: string): Visit[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Visit);
}

function table(visits: readonly Visit[], print: (line: string) => void): void {
  print(
    "| language | pages | further states | pictures | serious or critical faults | wider than the screen | complaints |",
  );
  print("|---|--:|--:|--:|--:|--:|--:|");
  for (const language of languages) {
    const own = visits.filter((visit) => visit.language === language);
    const states = own.filter(({ isState }) => isState).length;
    const found = own.flatMap(({ sight, findings }) => findings.map((finding) => ({ ...finding, sight })));
    const count = (kind: Finding["kind"]) => found.filter((finding) => finding.kind === kind).length;
    print(
      `| ${language} | ${own.length - states} | ${states} | ${own.length * widths.length * themes.length} | ${count("fault")} | ${count("wide")} | ${count("complaint")} |`,
    );
    for (const { sight, look, kind, text } of found) print(`<!-- ${look} ${sight} ${kind} ${text} -->`);
  }
}
