import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath, type Look, openBrowser } from "../test/browser.ts";
import { enter, makePast, sights, signUp } from "../test/console-tour.ts";
import { faultsOf } from "../test/faults.ts";
import { startService } from "../test/service-process.ts";

export const title = "Console: every page and state, both languages and themes, at 360 and 1440 px";

/** Visits everything, asks axe about it, looks for pages wider than the screen, and keeps a picture of each. */
export async function run(print: (line: string) => void): Promise<void> {
  if (!chromiumPath) throw new Error("This proof needs Debian's package chromium.");
  const folder = mkdtempSync(join(tmpdir(), "dataq-console-"));
  await using service = await startService({ env: { DATAQ_LOCALLM: "http://127.0.0.1:9" } });
  const past = await makePast(service);
  const sessions = {
    nobody: "",
    newcomer: await signUp(service.url, "newcomer@example.com", "Newcomer 新来的"),
    owner: await enter(service),
  };
  print("| look | sights | serious or critical faults | wider than the screen | complaints |");
  print("|---|--:|--:|--:|--:|");
  for (const look of looks()) {
    await using browser = await openBrowser(service.url);
    await browser.wear(look);
    const name = `${look.language}-${look.theme}-${look.width}`;
    mkdirSync(join(folder, name));
    const faults: string[] = [];
    const wide: string[] = [];
    const all = sights(past.requestId, past.accountId);
    for (const sight of all) {
      await browser.signIn(sessions[sight.who]);
      await sight.go(browser.page);
      for (const fault of await faultsOf(browser.page)) faults.push(`${sight.name}: ${fault}`);
      if (await browser.page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        wide.push(sight.name);
      await browser.page.screenshot({ path: join(folder, name, `${sight.name}.png`), fullPage: true });
    }
    print(`| ${name} | ${all.length} | ${faults.length} | ${wide.length} | ${browser.complaints.length} |`);
    for (const line of [...new Set([...faults, ...wide, ...browser.complaints])]) print(`<!-- ${line} -->`);
  }
  console.log(`Pictures: ${folder}`);
}

function* looks(): Generator<Look> {
  for (const width of [1440, 360])
    for (const language of ["en", "zh"] as const)
      for (const theme of ["light", "dark"] as const) yield { width, language, theme };
}
