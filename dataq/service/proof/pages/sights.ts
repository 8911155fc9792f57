import type { Page } from "playwright-core";
import { keepConversation } from "../../../../locallm/test/kept-conversation.ts";
import { openDocumentation } from "../../../../testing/documentation-page.ts";

export type Language = "en" | "zh";

/** Where the pages are. `bare` services have nothing yet: dataq only samples, locallm no model. */
export interface Addresses {
  readonly dataq: string;
  readonly bareDataq: string;
  readonly locallm: string;
  readonly bareLocallm: string;
}

/** A page in one of its states. The console's are in `npm run proof -- console`. */
export interface Sight {
  readonly page: string;
  readonly state: "filled" | "empty" | "loading" | "error";
  readonly name: string;
  /** Pages of the documentation differ in their text alone, so axe reads them at the larger width only. */
  readonly isText?: true;
  go(page: Page, at: Addresses, language: Language): Promise<void>;
}

/** Every page but the console's and single pages of the documentation, in each of its states. */
export const sights: readonly Sight[] = [
  visitors("filled", "visitors", async (page, at, language) => {
    await page.goto(`${at.dataq}/?language=${language}`, { waitUntil: "networkidle" });
    await page.locator(".answer > *").first().waitFor();
  }),
  visitors("filled", "visitors-asked", async (page, at, language) => {
    await page.goto(`${at.dataq}/?language=${language}`, { waitUntil: "networkidle" });
    await page.locator("[data-question]").nth(1).click();
    await page.locator('.answer:not([aria-busy="true"]) > *').first().waitFor();
    await inView(page, "#try");
  }),
  visitors("empty", "visitors-samples-only", async (page, at, language) => {
    await page.goto(`${at.bareDataq}/?language=${language}`, { waitUntil: "networkidle" });
  }),
  visitors("loading", "visitors-waiting", async (page, at, language) => {
    await page.goto(`${at.dataq}/?language=${language}`, { waitUntil: "networkidle" });
    await page.route("**/v1/try", () => {});
    await page.locator("[data-question]").nth(1).click();
    await page.locator('.answer[aria-busy="true"]').waitFor();
    await inView(page, "#try");
  }),
  visitors("error", "visitors-refused", async (page, at, language) => {
    await page.goto(`${at.dataq}/?language=${language}`, { waitUntil: "networkidle" });
    const { detail, next } = trialsUsedUp[language];
    await page.route("**/v1/try", (route) =>
      route.fulfill({ status: 429, json: { code: "rate_limited", detail, next_action: next } }),
    );
    await page.locator("[data-question]").nth(1).click();
    await page.locator(".answer", { hasText: detail }).first().waitFor();
    await inView(page, "#try");
  }),
  visitors("error", "visitors-missing", async (page, at, language) => {
    await page.goto(`${at.dataq}/no/such/page?language=${language}`, { waitUntil: "networkidle" });
  }),
  visitors("filled", "visitors-prices", async (page, at, language) => {
    await page.goto(`${at.dataq}/?language=${language}`, { waitUntil: "networkidle" });
    await inView(page, "#prices");
  }),
  visitors("filled", "status", async (page, at, language) => {
    await page.goto(`${at.dataq}/status?language=${language}`, { waitUntil: "networkidle" });
  }),
  docs("filled", "docs", (page, at, language) => openDocumentation(page, at.dataq + docsAt(language))),
  docs("filled", "docs-found", (page, at, language) =>
    search(page, at.dataq, language, language === "zh" ? "退款" : "refund"),
  ),
  docs("empty", "docs-nothing-found", (page, at, language) =>
    search(page, at.dataq, language, "zzqqxxjj", ".hint"),
  ),
  docs("error", "docs-missing", (page, at, language) =>
    openDocumentation(page, `${at.dataq}${docsAt(language)}no/such/page`),
  ),
  docs("filled", "docs-reference-elsewhere", async (page, at, language) => {
    await openDocumentation(page, `${at.dataq}${docsAt(language)}locallm/reference`);
    await page.locator(".http-reference.elsewhere").waitFor();
  }),
  docs("filled", "docs-of-locallm", (page, at, language) =>
    openDocumentation(page, at.locallm + docsAt(language)),
  ),
  chat("filled", "chat", (page, at) => openChat(page, at.locallm, ".welcome .start")),
  chat("filled", "chat-answers", async (page, at, language) => {
    await openChat(page, at.locallm, ".welcome .start");
    await keepConversation(page, conversation[language], { model: "small:a" });
    await page.reload({ waitUntil: "networkidle" });
    await page.locator(".assistant").last().waitFor();
  }),
  chat("filled", "chat-list", async (page, at, language) => {
    await openChat(page, at.locallm, ".welcome .start");
    await keepConversation(page, conversation[language], { model: "small:a" });
    await page.reload({ waitUntil: "networkidle" });
    if (await page.locator("#open-side").isVisible()) await page.click("#open-side");
  }),
  chat("filled", "chat-models", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await open(page, "#open-models");
    await page.locator("#catalogue li").first().waitFor();
  }),
  chat("filled", "chat-settings", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await open(page, "#open-settings");
  }),
  chat("filled", "chat-transfer", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await open(page, "#open-transfer");
  }),
  chat("filled", "chat-go-to", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await page.keyboard.press("Control+k");
    await page.locator("#palette-list [role=option]").first().waitFor();
  }),
  chat("empty", "chat-no-model", (page, at) => openChat(page, at.bareLocallm, ".offer")),
  chat("loading", "chat-loading-model", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await page.route("**/api/chat", () => {});
    await page.locator(".welcome .start").first().click();
    await page.locator(".assistant").last().waitFor();
  }),
  chat("error", "chat-refused", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await open(page, "#open-models");
    await page.fill("#pull-name", "127.0.0.1:9/none/such");
    await page.keyboard.press("Enter");
    await page.locator("#pull-progress .problem").waitFor();
  }),
  chat("error", "chat-no-server", async (page, at) => {
    await openChat(page, at.locallm, ".welcome .start");
    await page.route("**/api/chat", (route) => route.abort());
    await page.locator(".welcome .start").first().click();
    await page.locator("#notice:not(:empty)").waitFor();
  }),
  chat("error", "chat-missing", async (page, at) => {
    await page.goto(`${at.locallm}/no/such/page`, { waitUntil: "networkidle" });
    await page.locator("main:visible a").first().waitFor();
  }),
  chat("error", "chat-key", async (page, at, language) => {
    await page.route("**/api/tags", (route) =>
      route.fulfill({ status: 401, json: { error: keyNeeded[language] } }),
    );
    await page.goto(at.locallm);
    await page.locator("#key-value").waitFor();
  }),
];

function visitors(state: Sight["state"], name: string, go: Sight["go"]): Sight {
  return { page: "dataq `/`", state, name, go };
}

function docs(state: Sight["state"], name: string, go: Sight["go"]): Sight {
  return { page: "`/docs`", state, name, go };
}

/** The page speaks the language that was chosen in it. */
function chat(state: Sight["state"], name: string, go: Sight["go"]): Sight {
  return {
    page: "locallm `/`",
    state,
    name,
    async go(page, at, language) {
      for (const address of new Set([at.locallm, at.bareLocallm])) {
        await page.goto(`${address}/openapi.json`);
        // Without the conversations of earlier sights.
        await page.evaluate(`new Promise((done) => {
          localStorage.setItem("language", "${language}");
          indexedDB.deleteDatabase("locallm").onsuccess = done;
        })`);
      }
      await go(page, at, language);
    },
  };
}

/** A large window begins at the top, however little of what is looked at it shows. */
async function inView(page: Page, selector: string): Promise<void> {
  if (page.viewportSize()!.width > 600 || selector === "#prices")
    await page
      .locator(selector)
      .evaluate((part: { scrollIntoView(options: object): void }) =>
        part.scrollIntoView({ block: "start", behavior: "instant" }),
      );
}

const docsAt = (language: Language) => (language === "zh" ? "/docs/zh/" : "/docs/");

async function search(
  page: Page,
  url: string,
  language: Language,
  words: string,
  seen = "#hits [role=option]",
): Promise<void> {
  await openDocumentation(page, url + docsAt(language));
  await page.keyboard.press("Control+k");
  await page.locator(".site-search input").fill(words);
  await page.locator(`.site-search ${seen}`).first().waitFor();
}

async function openChat(page: Page, url: string, seen: string): Promise<void> {
  await page.goto(url, { waitUntil: "networkidle" });
  await page.locator(seen).first().waitFor();
}

/** Buttons of the side list are behind a button on a phone. */
async function open(page: Page, button: string): Promise<void> {
  if (!(await page.locator(button).isVisible())) await page.click("#open-side");
  await page.click(button);
  await page.locator("dialog[open]").waitFor();
}

const trialsUsedUp = {
  en: { detail: "Twenty questions were asked from here.", next: "Ask again in 30 s." },
  zh: { detail: "本地址已提问二十次。", next: "请 30 秒后再问。" },
} as const;

const keyNeeded = { en: "a valid API key is required", zh: "需要有效的 API 密钥" } as const;

const table =
  "| | tea | coffee |\n|---|---|---|\n| origin | China | Ethiopia |\n| caffeine | 30 mg | 95 mg |";
const conversation = {
  en: [
    { role: "user", content: "Compare tea and coffee, and show me the formula." },
    {
      role: "assistant",
      thinking: "A table is easiest to read.",
      content: `${table}\n\nThe half-life of caffeine: $N(t) = N_0 \\cdot 2^{-t/5}$.\n\n\`\`\`python\ndef left(hours):\n    return 2 ** (-hours / 5)\n\`\`\``,
      tool_calls: [{ function: { name: "caffeine_of", arguments: { drink: "tea" } } }],
    },
  ],
  zh: [
    { role: "user", content: "用表格比较茶和咖啡，并给出公式。" },
    {
      role: "assistant",
      thinking: "表格最清楚。",
      content: `| | 茶 | 咖啡 |\n|---|---|---|\n| 产地 | 中国 | 埃塞俄比亚 |\n| 咖啡因 | 30 毫克 | 95 毫克 |\n\n咖啡因的半衰期：$N(t) = N_0 \\cdot 2^{-t/5}$。\n\n\`\`\`python\ndef left(hours):\n    return 2 ** (-hours / 5)\n\`\`\``,
      tool_calls: [{ function: { name: "caffeine_of", arguments: { drink: "茶" } } }],
    },
  ],
} as const;
