import { type Language, tokensPerCny } from "@dataq/contract";
import type { CatalogEntry, Sent, TrialOperation, tried } from "@dataq/contract/wire";
import { answerTrial } from "../../query/trial.ts";
import type { WelcomeFiles } from "../console/files.ts";
import type { Offer } from "../docs/offer.ts";
import type { HttpParts } from "../parts.ts";
import { dataBlock, html, Markup } from "./markup.ts";
import { type WelcomeText, welcomeTexts } from "./texts.ts";

export interface Look {
  readonly theme: "system" | "light" | "dark";
  readonly language: Language;
}

export interface WelcomeSettings {
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  /** DATAQ_TRIALS */
  readonly trialsPerDay: number;
}

export type WelcomeParts = Pick<HttpParts, "pipeline" | "logger"> & {
  readonly offer: () => Promise<Offer>;
  /** Whether a first start is still bringing the laws. */
  readonly isPreparing: () => boolean;
};
type Answers = Partial<Record<TrialOperation, Sent<typeof tried>>>;

/** The page at `/` for people without a session: what the service answers, to try, and what that costs. */
export class Welcome {
  readonly #parts: WelcomeParts;
  readonly #files: WelcomeFiles;
  readonly #settings: WelcomeSettings;
  /** The answers to the first questions, in each language, until the offer changes. */
  #answers: { readonly of: Offer; readonly made: Map<Language, Promise<Answers>> } | undefined;

  constructor(parts: WelcomeParts, files: WelcomeFiles, settings: WelcomeSettings) {
    this.#parts = parts;
    this.#files = files;
    this.#settings = settings;
  }

  async page({ theme, language }: Look, address: string): Promise<string> {
    const offer = await this.#parts.offer();
    const entries = offer.entries();
    const t = welcomeTexts[language];
    const answers = await this.#answersOf(offer, language);
    const docs = language === "zh" ? "/docs/zh/" : "/docs/";
    const canTry = this.#settings.trialsPerDay > 0 && answers.legal_laws !== undefined;
    return html`<!doctype html>
<html lang="${language === "zh" ? "zh-CN" : "en"}" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${t.title}</title>
<meta name="description" content="${t.lead}">
<link rel="icon" type="image/svg+xml" href="${this.#files.icon}">
<link rel="stylesheet" href="${this.#files.style}">
<script type="module" src="${this.#files.script}"></script>
</head>
<body>
<a class="skip" href="#main">${t.skip}</a>
${this.#head(t, language, docs)}
<main id="main">
<section class="hero">
<h1>${t.headline}</h1>
<p class="lead">${t.lead}</p>
<p class="ways">${canTry ? html`<a class="button main" href="#try">${t.tryIt}</a>` : undefined}<a class="button${canTry ? "" : " main"}" href="/console/">${t.signIn}</a>${this.#settings.signup === "closed" ? undefined : html`<a class="button" href="/console/sign-up">${t.signUp}</a>`}<a class="plain" href="${docs}dataq/start">${t.docs}</a></p>
<ul class="points">${t.points.map(([name, about]) => html`<li><strong>${name}</strong><span>${about}</span></li>`)}</ul>
</section>
${canTry ? tries(t, answers) : this.#parts.isPreparing() && this.#settings.trialsPerDay > 0 ? html`<section id="try"><h2>${t.tryTitle}</h2><p class="note" role="status">${t.preparing}</p></section>` : undefined}
${offered(entries, t, language)}
${status(entries, t)}
<section id="start">
<h2>${t.startTitle}</h2>
<p>${t.startAbout}</p>
<pre tabindex="0"><code>curl ${address}/v1/data/query \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"operation":"legal_laws","params":{"query":"民法典 第五百七十七条"}}'</code></pre>
<ul class="links">${t.links.map(([name, path, about]) => html`<li><a href="${path.startsWith("/") ? path : docs + path}">${name}</a><span>${about}</span></li>`)}</ul>
${this.#settings.mode === "local" ? html`<p class="note">${t.local}</p>` : undefined}
</section>
</main>
<footer><p>${t.foot}</p></footer>
${canTry ? dataBlock("answers", answers) : undefined}
${canTry ? dataBlock("publishers", publishersOf(entries, language)) : undefined}
</body>
</html>`.text;
  }

  #head(t: WelcomeText, language: Language, docs: string): Markup {
    const other = language === "zh" ? "en" : "zh";
    return html`<header>
<a class="brand" href="/"><img src="${this.#files.icon}" alt="" width="28" height="28">dataq</a>
<nav aria-label="${t.navigation}"><a href="#prices">${t.pricesShort}</a><a href="#status">${t.statusShort}</a><a href="${docs}dataq/start">${t.docs}</a></nav>
<div class="tools"><a href="/?language=${other}" hreflang="${other}" lang="${other === "zh" ? "zh-CN" : "en"}" aria-label="${t.switchTo}">${other === "zh" ? "中文" : "EN"}</a><button type="button" id="theme" aria-label="${t.theme}" title="${t.theme}"><span aria-hidden="true">◐</span></button><a class="enter" href="/console/">${t.signIn}</a></div>
</header>`;
  }

  /** Real answers stand on the page before anybody asks. They are asked once, and again when the data changes. */
  #answersOf(offer: Offer, language: Language): Promise<Answers> {
    if (this.#answers?.of !== offer) this.#answers = { of: offer, made: new Map() };
    const { made } = this.#answers;
    const known = made.get(language);
    if (known !== undefined) return known;
    // After a failure whoever comes next asks again.
    const asked = this.#ask(offer, language, () => made.delete(language));
    made.set(language, asked);
    return asked;
  }

  async #ask(offer: Offer, language: Language, onFailure: () => void): Promise<Answers> {
    const t = welcomeTexts[language];
    const answers: Answers = {};
    for (const [operation, text] of [
      ["legal_laws", t.questions[0]!],
      ["legal_citation_check", t.opinion],
    ] as const) {
      // Only real records are worth looking at, and a visitor does not wait for those that are being prepared.
      const entry = offer.entries().find((each) => each.operation === operation);
      if (entry?.data !== "imported") continue;
      const signal = AbortSignal.timeout(longestWaitMs);
      const asker = { requestId: "visitor", signal, language };
      try {
        answers[operation] = trimmed(await answerTrial(this.#parts.pipeline, { operation, text }, asker));
      } catch (error) {
        this.#parts.logger.warn({ err: (error as Error).message }, "no example for the page for visitors");
        onFailure();
      }
    }
    return answers;
  }
}

/** What readers of a language call the publishers of the records that can be tried, by `source.name`. */
function publishersOf(entries: readonly CatalogEntry[], language: Language): Record<string, string> {
  return Object.fromEntries(
    entries
      .filter(({ domain }) => domain === "legal")
      .flatMap(({ publishers, publisher_names }) =>
        publishers.map((name, at) => [name, publisher_names[at]![language]]),
      ),
  );
}

const longestWaitMs = 3_000;

/** Without what the page does not show: the revisions of an article are longer than the article. */
function trimmed(answer: Sent<typeof tried>): Sent<typeof tried> {
  const data = answer.data.map(({ revisions: _revisions, law_history: _history, ...rest }) => rest);
  return { ...answer, data };
}

function tries(t: WelcomeText, answers: Answers): Markup {
  return html`<section id="try">
<h2>${t.tryTitle}</h2>
<p>${t.tryAbout}</p>
<div class="tries">
<form class="card" data-operation="legal_laws">
<h3>${t.lawsTitle}</h3>
<label for="question">${t.lawsLabel}</label>
<div class="ask"><input id="question" name="text" type="search" maxlength="100" required value="${t.questions[0]}"><button class="button main">${t.search}</button></div>
<p class="chips">${t.questions.map((question) => html`<button type="button" data-question="${question}">${question}</button>`)}</p>
<div class="answer" tabindex="0" role="region" aria-live="polite" aria-label="${t.answer}"></div>
</form>
${
  answers.legal_citation_check === undefined
    ? undefined
    : html`<form class="card" data-operation="legal_citation_check">
<h3>${t.checkTitle}</h3>
<label for="opinion">${t.checkLabel}</label>
<textarea id="opinion" name="text" rows="7" maxlength="1000" required>${t.opinion}</textarea>
<p class="ask"><button class="button main">${t.check}</button><small>${t.checkHint}</small></p>
<div class="answer" tabindex="0" role="region" aria-live="polite" aria-label="${t.answer}"></div>
</form>`
}
</div>
<noscript><p class="note">${t.noScript}</p></noscript>
</section>`;
}

/** Operations with their prices, what is here of them, and how many calls of each a reader expects. */
function offered(entries: readonly CatalogEntry[], t: WelcomeText, language: Language): Markup {
  const domains = [...new Set(entries.map(({ domain }) => domain))];
  const isReal = ({ data }: CatalogEntry) => data === "imported" || data === "connector";
  // Where nothing is real: what the sum begins with.
  const first = entries.some(isReal) ? isReal : ({ operation }: CatalogEntry) => operation in usualCalls;
  const shown = new Set(entries.filter(first).map(({ domain }) => domain));
  return html`<section id="prices">
<h2>${t.pricesTitle(entries.length)}</h2>
<p>${t.pricesAbout}</p>
<form class="prices" autocomplete="off">
${domains.map((domain) =>
  group(
    domain,
    entries.filter((entry) => entry.domain === domain),
    shown.has(domain),
    t,
    language,
  ),
)}
<p class="sum"><span>${t.sum}</span><output id="sum">–</output></p>
</form>
</section>`;
}

/** Whoever begins sees the operations that answer with real data, and opens the others. */
function group(
  domain: CatalogEntry["domain"],
  entries: readonly CatalogEntry[],
  isOpen: boolean,
  t: WelcomeText,
  language: Language,
): Markup {
  return html`<details${isOpen ? new Markup(" open") : undefined}>
<summary><h3>${t.domains[domain]}</h3><span>${entries.map(({ title }) => title[language]).join(t.comma)}</span></summary>
<table aria-label="${t.domains[domain]}">
<thead><tr><th scope="col">${t.operation}</th><th scope="col">${t.here}</th><th scope="col" class="number">${t.price}</th><th scope="col" class="number">${t.month}</th></tr></thead>
<tbody>${entries.map((entry) => row(entry, t, language))}</tbody>
</table>
</details>`;
}

function row(entry: CatalogEntry, t: WelcomeText, language: Language): Markup {
  const { operation, title, price, data } = entry;
  const free = data === "sample" || data === "none";
  const usual = usualCalls[operation] ?? 0;
  return html`<tr>
<th scope="row"><a href="${language === "zh" ? "/docs/zh/" : "/docs/"}dataq/operations#${operation}">${title[language]}</a><code>${operation}</code></th>
<td><span class="state ${data}">${t.states[data]}</span>${here(entry, t, language)}</td>
<td class="number" data-column="${t.price}">${free ? html`<span class="free">${t.free}</span>` : html`<span>${yuan(price.tokens)}</span>`}<small>${free ? t.listPrice(yuan(price.tokens)) : undefined}${t.points_(price.tokens.toLocaleString("en"))}${price.per ? `${t.comma}${t.per(price.per.count, price.per.what[language])}` : ""}</small></td>
<td class="number" data-column="${t.month}"><input type="number" inputmode="numeric" min="0" max="100000000" step="1" value="${usual}" data-tokens="${price.tokens}" aria-label="${t.monthOf(title[language])}"></td>
</tr>`;
}

/** A beginning for the sum: what a small law firm asks for in a month. */
const usualCalls: Readonly<Record<string, number>> = { legal_laws: 500, legal_citation_check: 100 };

function here({ data, coverage, publisher_names, needs }: CatalogEntry, t: WelcomeText, language: Language) {
  if (data === "imported" && coverage !== null)
    return html`<small>${coverage.text[language]}${
      publisher_names.length === 0
        ? ""
        : t.from(
            publisher_names
              .map((name) => name[language])
              .slice(0, 3)
              .join(t.comma),
          )
    }</small>`;
  if (data === "sample" || data === "none") return html`<small>${t.needs(needs[language])}</small>`;
  return undefined;
}

function status(entries: readonly CatalogEntry[], t: WelcomeText): Markup {
  const count = (kinds: readonly CatalogEntry["data"][]) =>
    entries.filter(({ data }) => kinds.includes(data)).length;
  const newest = entries
    .flatMap(({ newest_day }) => newest_day ?? [])
    .sort()
    .at(-1);
  return html`<section id="status">
<h2>${t.statusTitle}</h2>
<dl class="figures">
<div><dt>${t.states.imported}</dt><dd>${count(["imported"])}</dd></div>
<div><dt>${t.states.connector}</dt><dd>${count(["connector"])}</dd></div>
<div><dt>${t.states.sample}</dt><dd>${count(["sample"])}</dd></div>
<div><dt>${t.states.none}</dt><dd>${count(["none"])}</dd></div>
${newest === undefined ? undefined : html`<div><dt>${t.newest}</dt><dd>${newest}</dd></div>`}
</dl>
<p>${t.statusAbout} <a href="/status">/status</a></p>
</section>`;
}

function yuan(tokens: number): string {
  const value = tokens / tokensPerCny;
  return `¥${value.toFixed(value > 0 && value < 0.01 ? 4 : 2)}`;
}
