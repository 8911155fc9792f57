import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";

/** Debian's chromium. Tests that need it are skipped by name if it is missing. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

export type Theme = "light" | "dark" | "system";
export type Language = "en" | "zh";

export interface Look {
  readonly theme: Theme;
  readonly language: Language;
  readonly width: number;
}

/**
 * Background work of the browser that no test looks at. The menus of its address bar are pages of 300 scripts, loaded
 * at each start: more work than one of our pages. The others are what playwright switches off, because only the last
 * switch of a name counts.
 */
const unwanted = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
];

/** A separate browser with a new folder, which contacts only the service. */
export interface TestBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Problems of the pages: errors on the console, rejected promises, violations of the policy. */
  readonly complaints: string[];
  wear(look: Look): Promise<void>;
  /** Sets the session. An empty one signs out. */
  signIn(session: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openBrowser(url: string): Promise<TestBrowser> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-browser-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: chromiumPath!,
    headless: true,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${unwanted.join(",")}`,
    ],
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(10_000);
  await context.addInitScript(countQuestions);
  const complaints: string[] = [];
  const page = context.pages()[0] ?? (await context.newPage());
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    // The browser logs every response that is not a success. The pages show those themselves.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      complaints.push(`asked ${request.url()}`);
  });
  return {
    context,
    page,
    complaints,
    async wear({ theme, language, width }) {
      await context.addCookies([
        { name: "dataq_look", value: `${theme}.${language}`, url: `${url}/console` },
      ]);
      await page.setViewportSize({ width, height: width < 600 ? 780 : 900 });
    },
    async signIn(session) {
      await context.clearCookies({ name: "dataq.session_token" });
      if (session !== "")
        await context.addCookies([
          {
            name: "dataq.session_token",
            value: encodeURIComponent(session),
            url,
            httpOnly: true,
            sameSite: "Strict",
          },
        ]);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a path of the console and waits until nothing is loading. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`);
  await settle(page);
}

/** The heading is there, every response has arrived, no placeholder is left, and the fonts are loaded. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const isSettled = () =>
      asking === 0 &&
      document.querySelector("h1, [role=alert], [role=status]") &&
      !document.querySelector(".animate-pulse");
    // Two frames: what a response brought has been drawn, and the requests that follow have been sent.
    const latest = performance.now() + 45_000;
    do {
      await frame();
      await frame();
      if (performance.now() > latest) throw new Error("The page does not come to rest.");
    } while (!isSettled());
    await document.fonts.ready;
  })()`);
}

/** In each page: the number of requests to the service without a response. */
const countQuestions = `{
  const ask = fetch;
  globalThis.asking = 0;
  globalThis.fetch = async (...question) => {
    asking += 1;
    try {
      return await ask(...question);
    } finally {
      asking -= 1;
    }
  };
}`;
