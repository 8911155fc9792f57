import type { Page } from "playwright-core";
import { chromiumPath } from "../../../testing/chromium.ts";
import { openBrowser } from "../test/browser.ts";
import { enter, makePast } from "../test/console-tour.ts";
import { startService } from "../test/service-process.ts";

export const title = "Console: from an address to a page that can be used";

const rounds = 10;

/** What must be visible before the page can be used, and where. */
const pages = [
  { name: "sign-in", path: "/sign-in", isSignedIn: false, usable: "input[name=email]:enabled" },
  { name: "overview", path: "/", isSignedIn: true, usable: "main dl dd" },
  { name: "playground", path: "/playground", isSignedIn: true, usable: "[data-testid=price]" },
] as const;

/** Each round opens the page in a new browser, then again with a filled cache. */
export async function run(print: (line: string) => void): Promise<void> {
  if (!chromiumPath) throw new Error("This proof needs Debian's package chromium.");
  await using service = await startService();
  await makePast(service);
  const session = await enter(service);
  print(
    "| page | first visit, median ms | slowest | next visit, median ms | slowest | scripts, kB as sent |",
  );
  print("|---|--:|--:|--:|--:|--:|");
  for (const { name, path, isSignedIn, usable } of pages) {
    const first: number[] = [];
    const next: number[] = [];
    let scriptBytes = 0;
    for (let round = 0; round < rounds; round++) {
      await using browser = await openBrowser(service.url);
      await browser.signIn(isSignedIn ? session : "");
      await browser.context.addInitScript(tellWhenUsable(usable));
      // The start of the browser does not count.
      await browser.page.waitForTimeout(1_000);
      scriptBytes = 0;
      const count = (response: { url(): string; headers(): Record<string, string> }) => {
        if (response.url().endsWith(".js")) scriptBytes += Number(response.headers()["content-length"] ?? 0);
      };
      browser.page.on("response", count);
      first.push(await usableAfterMs(browser.page, path));
      browser.page.off("response", count);
      await browser.page.goto("about:blank");
      next.push(await usableAfterMs(browser.page, path));
    }
    print(
      `| ${name} | ${median(first)} | ${Math.max(...first)} | ${median(next)} | ${Math.max(...next)} | ${(scriptBytes / 1000).toFixed(0)} |`,
    );
  }
}

/**
 * The time by the page's own clock, from the start of the navigation to the frame in which the page can be
 * used.
 */
async function usableAfterMs(page: Page, path: string): Promise<number> {
  const told = page.waitForEvent("console", (message) => message.text().startsWith("usable "));
  await page.goto(`/console${path}`, { waitUntil: "commit" });
  return Math.round(Number((await told).text().slice("usable ".length)));
}

/** Measured inside the page, because polling from outside would slow it down. */
function tellWhenUsable(selector: string): string {
  return `{
    const observer = new MutationObserver(() => {
      if (!document.querySelector(${JSON.stringify(selector)})) return;
      observer.disconnect();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => console.log("usable " + performance.now());
      // A message sent during a frame arrives after the frame was drawn.
      requestAnimationFrame(() => port2.postMessage(null));
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true });
  }`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2);
}
