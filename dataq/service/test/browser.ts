import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";

/** Debian's chromium; tests that need it skip by name where it is missing. */
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
 * What a browser begins by itself and nobody here looks at. The menus of its address line are pages of 300 scripts,
 * loaded at each start: more work than a page of ours. The rest is what playwright switches off: only the last
 * switch of this name counts.
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

/** A browser of its own: a fresh folder, nothing asked of the network but the service. */
export interface TestBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the pages complained of: errors on the console, broken promises, refused by the policy. */
  readonly complaints: string[];
  wear(look: Look): Promise<void>;
  /** Gives it a session; an empty one signs out. */
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
    // The browser itself notes every answer that is not a success; those are told on the page.
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

/** Goes to an address of the console and waits until nothing is loading. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`);
  await settle(page);
}

/** The heading is there, every answer has come, nothing is a grey line any more, and the letters are the right ones. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const isSettled = () =>
      asking === 0 &&
      document.querySelector("h1, [role=alert], [role=status]") &&
      !document.querySelector(".animate-pulse");
    // Two frames: what an answer brought has been drawn, and what that asks for has been sent.
    const latest = performance.now() + 45_000;
    do {
      await frame();
      await frame();
      if (performance.now() > latest) throw new Error("The page does not come to rest.");
    } while (!isSettled());
    await document.fonts.ready;
  })()`);
}

/** In each page: how many questions to the service are not answered yet. */
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
