import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { chromiumArguments, chromiumPath } from "../../../testing/chromium.ts";

export type Theme = "light" | "dark" | "system";
export type Language = "en" | "zh";

export interface Look {
  readonly theme: Theme;
  readonly language: Language;
  readonly width: number;
}

/** A browser with a fresh profile. It sends requests only to the service. */
export interface TestBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Problems of the pages: errors on the console, rejected promises, violations of the content security policy. */
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
    args: [...chromiumArguments],
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(30_000);
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

/** Opens a path from the page that is open, as a link does: its scripts are there already. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`(async () => {
    const shown = () => document.querySelector("main")?.textContent;
    const before = shown();
    history.pushState({}, "", ${JSON.stringify(`/console${path}`)});
    dispatchEvent(new PopStateEvent("popstate"));
    const latest = performance.now() + 30_000;
    while (shown() === before) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (performance.now() > latest) throw new Error("The page does not change.");
    }
  })()`);
  await settle(page);
}

/**
 * Waits for the heading, every response with its body, and the fonts, until no placeholder is left. The page must
 * be like this twice, with a frame and a timer in between: React draws what a response brought in a later frame,
 * and what it draws may send further requests.
 */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const turn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const isSettled = () =>
      asking === 0 &&
      document.querySelector("h1, [role=alert], [role=status]") &&
      !document.querySelector(".animate-pulse");
    const latest = performance.now() + 45_000;
    for (let settled = 0; settled < 2; settled = isSettled() ? settled + 1 : 0) {
      await turn();
      await turn();
      if (performance.now() > latest) throw new Error("The page does not come to rest.");
    }
    await document.fonts.ready;
  })()`);
}

/**
 * In each page: the number of requests to the service whose response has not arrived. Only the body of a stream
 * may still be on its way.
 */
const countQuestions = `{
  const ask = fetch;
  globalThis.asking = 0;
  globalThis.fetch = async (...question) => {
    asking += 1;
    try {
      const answer = await ask(...question);
      if (answer.headers.get("content-type")?.startsWith("application/json")) await answer.clone().text();
      return answer;
    } finally {
      asking -= 1;
    }
  };
}`;
