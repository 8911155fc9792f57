import type { Locator, Page } from "playwright-core";

/** What somebody comes for. The way is one that a person sees: each step is a link that is visible where they are. */
export interface Task {
  readonly what: string;
  readonly product: "dataq" | "locallm";
  readonly from: "/" | "/docs";
  /** Ends of the addresses of the links, in order. */
  readonly links: readonly string[];
  /** What must then stand on the screen, without scrolling. */
  readonly seen: RegExp;
}

/** More than these, and nobody finds it. */
export const mostClicks = 3;

export const tasks: readonly Task[] = [
  {
    what: "What does an article of law cost?",
    product: "dataq",
    from: "/",
    links: ["#prices"],
    seen: /¥0\.10/,
  },
  {
    what: "Is there real data for companies?",
    product: "dataq",
    from: "/",
    links: ["#status"],
    seen: /Status|服务状态/,
  },
  {
    what: "Give an agent access",
    product: "dataq",
    from: "/",
    links: ["/dataq/mcp"],
    seen: /mcpServers|Authorization/,
  },
  {
    what: "What is never charged?",
    product: "dataq",
    from: "/",
    links: ["/dataq/billing"],
    seen: /tokens/,
  },
  {
    what: "What is a refund?",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/billing", "#refunds-of-calls"],
    seen: /refund/i,
  },
  {
    what: "Check this opinion's citations",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/citation-check"],
    seen: /legal_citation_check/,
  },
  {
    what: "What does a call cost?",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/billing"],
    seen: /tokens/,
  },
  {
    what: "Give an agent access over MCP",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/mcp"],
    seen: /mcpServers|Authorization/,
  },
  {
    what: "What does insufficient_balance mean?",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/errors", "#insufficient_balance"],
    seen: /insufficient_balance/,
  },
  {
    what: "Try a route without writing a program",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/reference"],
    seen: /GET \/openapi\.json/,
  },
  {
    what: "Back the service up",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/backups"],
    seen: /dataq backup \/backups/,
  },
  {
    what: "Connect Claude Code",
    product: "locallm",
    from: "/",
    links: ["/docs", "/locallm/agents"],
    seen: /locallm launch/,
  },
  {
    what: "Which model fits 16 GB?",
    product: "locallm",
    from: "/",
    links: ["/docs", "/locallm/bigger-models"],
    seen: /Which model fits/,
  },
  {
    what: "Give each colleague a key with a limit",
    product: "locallm",
    from: "/docs",
    links: ["/locallm/keys"],
    seen: /--tokens-per-day/,
  },
  {
    what: "Try a question without an account",
    product: "dataq",
    from: "/",
    links: ["#try"],
    seen: /Try it, without an account/,
  },
  {
    what: "Which errors are there?",
    product: "dataq",
    from: "/",
    links: ["/dataq/errors"],
    seen: /code/i,
  },
  {
    what: "Call it from Python",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/client-python"],
    seen: /pip install|dataq_client|dataq-client/,
  },
  {
    what: "Get told when a law changes",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/webhooks"],
    seen: /watch/i,
  },
  {
    what: "Limit what a key may spend",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/keys-and-limits"],
    seen: /key/i,
  },
  {
    what: "Bring real companies",
    product: "dataq",
    from: "/docs",
    links: ["/dataq/open-data"],
    seen: /dataq data/,
  },
  {
    what: "What is kept of what I ask?",
    product: "dataq",
    from: "/docs",
    links: ["/privacy"],
    seen: /kept|keep/,
  },
  {
    what: "Use OpenAI's client",
    product: "locallm",
    from: "/",
    links: ["/docs", "/locallm/openai"],
    seen: /base URL/,
  },
  {
    what: "Move from Ollama",
    product: "locallm",
    from: "/docs",
    links: ["/locallm/coming-from-ollama"],
    seen: /Ollama/,
  },
  {
    what: "Start it with the machine",
    product: "locallm",
    from: "/docs",
    links: ["/services"],
    seen: /service/,
  },
  {
    what: "Use a GPU",
    product: "locallm",
    from: "/docs",
    links: ["/locallm/gpu"],
    seen: /doctor/,
  },
  {
    what: "Send a picture",
    product: "locallm",
    from: "/docs",
    links: ["/locallm/pictures"],
    seen: /vision/,
  },
  {
    what: "It does not work",
    product: "locallm",
    from: "/docs",
    links: ["/locallm/troubleshooting"],
    seen: /trouble/i,
  },
];

/** Goes the way of a task. Returns what was clicked, or null if a link or the sight is missing. */
export async function clicksTo(
  page: Page,
  url: string,
  { from, links, seen }: Task,
): Promise<string[] | null> {
  await page.goto(url + from, { waitUntil: "networkidle" });
  const clicked: string[] = [];
  for (const end of links) {
    let link = await onScreen(page, end);
    // On a phone the list of pages is behind a button.
    const menu = page.locator(menus).first();
    // A busy machine draws the list of pages late.
    for (let tries = 0; tries < 40 && link === undefined && (await menu.count()) === 0; tries++) {
      await page.waitForTimeout(250);
      link = await onScreen(page, end);
    }
    if (link === undefined && (await menu.count()) > 0) {
      await menu.click();
      clicked.push("☰");
      await page.waitForTimeout(500);
      link = await onScreen(page, end);
    }
    if (link === undefined) return null;
    clicked.push((await link.textContent())?.trim() ?? end);
    // A new window counts as a click, too.
    if ((await link.getAttribute("target")) === "_blank")
      await page.goto(url + (await link.getAttribute("href")));
    else await link.click();
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(300);
  }
  for (let tries = 0; tries < 40; tries++) {
    if (seen.test(await page.evaluate<string>(textOnScreen))) return clicked;
    await page.waitForTimeout(250);
  }
  return null;
}

/** The first link with this end that is not beside the window, where a phone keeps its list of pages. */
async function onScreen(page: Page, end: string): Promise<Locator | undefined> {
  const { width } = page.viewportSize()!;
  for (const link of await page.locator(`a[href$="${end}"]:visible`).all()) {
    const box = await link.boundingBox();
    if (box !== null && box.x >= 0 && box.x + box.width <= width) return link;
  }
  return undefined;
}

const menus = "#open-side:visible, .VPLocalNav button.menu:visible";

const textOnScreen = `[...document.querySelectorAll("h1, h2, h3, p, li, td, th, pre")]
  .filter((each) => {
    const { top, bottom, height } = each.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  })
  .map((each) => each.textContent)
  .join("\\n")`;
