import { chromium } from "playwright-core";
import { chromiumArguments, chromiumPath } from "../../../../testing/chromium.ts";

/** A page that people open first, and the most that it may send. */
export interface Budget {
  readonly what: string;
  readonly url: string;
  readonly mostBytes: number;
  /** The cookie of a session, for pages that need one. */
  readonly session?: string;
}

export interface Measured {
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
  readonly bytes: number;
  readonly requests: number;
  /** The sum of all layout shifts, without those after input. */
  readonly shift: number;
}

/** At 0.1 a page counts as stable by the Web Vitals. */
export const mostShift = 0.1;

/** Opens the page in a browser that was never here, as a telephone does: 390 px wide. */
export async function measure({ url, session }: Budget): Promise<Measured> {
  const browser = await chromium.launch({ executablePath: chromiumPath!, args: [...chromiumArguments] });
  try {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    if (session !== undefined)
      await context.addCookies([
        { name: "dataq.session_token", value: encodeURIComponent(session), url, httpOnly: true },
      ]);
    const page = await context.newPage();
    await page.addInitScript(watch);
    await page.goto(url, { waitUntil: "networkidle" });
    // Late fonts and answers shift a page, too.
    await page.waitForTimeout(1_000);
    return await page.evaluate<Measured>(`(() => {
      const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      return { ...seen, bytes: all.reduce((sum, each) => sum + each.transferSize, 0), requests: all.length };
    })()`);
  } finally {
    await browser.close();
  }
}

const watch = `
  globalThis.seen = { firstPaintMs: 0, largestPaintMs: 0, shift: 0 };
  const observe = (type, tell) =>
    new PerformanceObserver((list) => list.getEntries().forEach(tell)).observe({ type, buffered: true });
  observe("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") seen.firstPaintMs = Math.round(startTime);
  });
  observe("largest-contentful-paint", ({ startTime }) => (seen.largestPaintMs = Math.round(startTime)));
  observe("layout-shift", ({ value, hadRecentInput }) => (seen.shift += hadRecentInput ? 0 : value));`;
