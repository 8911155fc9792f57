import type { WelcomeFiles } from "../console/files.ts";
import { html, type Markup } from "./markup.ts";
import type { Look } from "./welcome.ts";

const texts = {
  en: {
    skip: "Skip to content",
    docs: "Documentation",
    switchTo: "中文：切换为中文",
    other: "中文",
  },
  zh: { skip: "跳到正文", docs: "文档", switchTo: "EN: switch to English", other: "EN" },
} as const;

/** A page beside the one at `/`, with its head: the way home, to the documentation, and to the other language. */
export interface PlainPage {
  readonly title: string;
  /** What `main` holds. */
  readonly body: Markup;
  readonly foot?: Markup;
}

/** It runs no script, and is a plain list without the console's files. */
export function plainPage(page: PlainPage, { theme, language }: Look, files?: WelcomeFiles): string {
  const t = texts[language];
  const other = language === "zh" ? "en" : "zh";
  return html`<!doctype html>
<html lang="${language === "zh" ? "zh-CN" : "en"}" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · dataq</title>
${
  files &&
  html`<link rel="icon" type="image/svg+xml" href="${files.icon}">
<link rel="stylesheet" href="${files.style}">`
}
</head>
<body>
<a class="skip" href="#main">${t.skip}</a>
<header>
<a class="brand" href="/">${files && html`<img src="${files.icon}" alt="" width="28" height="28">`}dataq</a>
<div class="tools"><a href="/docs/${language === "zh" ? "zh/" : ""}dataq/start">${t.docs}</a><a href="?language=${other}" hreflang="${other}" lang="${other === "zh" ? "zh-CN" : "en"}" aria-label="${t.switchTo}">${t.other}</a></div>
</header>
<main id="main">
${page.body}
</main>
${page.foot && html`<footer>${page.foot}</footer>`}
</body>
</html>`.text;
}
