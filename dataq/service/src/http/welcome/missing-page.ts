import type { WelcomeFiles } from "../console/files.ts";
import { html } from "./markup.ts";
import { plainPage } from "./plain-page.ts";
import type { Look } from "./welcome.ts";

const texts = {
  en: {
    title: "There is no page at this address",
    about: "It may be mistyped, or the page has moved.",
    start: "Start page",
    ways: [
      ["Console", "/console/", "keys, usage, balance"],
      ["Documentation", "/docs/dataq/start", "from the first call on, with a search"],
      ["Status", "/status", "whether calls are answered now"],
    ],
  },
  zh: {
    title: "这个地址没有页面",
    about: "可能是输入有误，也可能页面已移走。",
    start: "回到首页",
    ways: [
      ["控制台", "/console/", "密钥、用量、余额"],
      ["文档", "/docs/zh/dataq/start", "从第一次调用开始，可搜索"],
      ["服务状态", "/status", "现在能否正常调用"],
    ],
  },
} as const;

/** What a browser shows of an address that this service does not have. `path` is the address without its query. */
export function missingPage(path: string, look: Look, files?: WelcomeFiles): string {
  const t = texts[look.language];
  const body = html`<section class="hero">
<h1>${t.title}</h1>
<p class="lead">${t.about}</p>
<p><code>${path}</code></p>
<p class="ways"><a class="button main" href="/">${t.start}</a></p>
<ul class="links">${t.ways.map(([name, address, about]) => html`<li><a href="${address}">${name}</a><span>${about}</span></li>`)}</ul>
</section>`;
  return plainPage({ title: t.title, body }, look, files);
}

/** Whether a browser was to show the address as a page. Programs, and the addresses of programs, get the error. */
export function wantsPage(method: string, path: string, accept: string | undefined): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    (accept?.includes("text/html") ?? false) &&
    !/^\/(?:v1|api|mcp|console|docs)(?:\/|$)/.test(path)
  );
}
