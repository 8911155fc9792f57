import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformerStyleToClass } from "@shikijs/transformers";
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from "vitepress";
import { groups } from "../scripts/outline.mjs";
import { base, readPages, slugOf } from "../scripts/pages.mjs";

/** Colours of code as classes: the products' policy refuses styles in attributes. */
const colours = transformerStyleToClass({ classPrefix: "c-" });
const theme = fileURLToPath(new URL("theme", import.meta.url));

/** Runs before the page is painted, so that a reader of the dark theme sees no light page first. */
const look = `const set = localStorage.getItem("vitepress-theme-appearance") || "auto";
if (set === "dark" || (set === "auto" && matchMedia("(prefers-color-scheme: dark)").matches))
  document.documentElement.classList.add("dark");
if (/Mac|iPhone|iPod|iPad/i.test(navigator.platform)) document.documentElement.classList.add("mac");
`;

export default defineConfig({
  base,
  srcDir: ".pages",
  cleanUrls: true,
  // Else a page also sends the pages that its links lead to: on the first page a third of everything.
  router: { prefetchLinks: false },
  // The theme would switch with a style element, which the products' policy refuses.
  appearance: { disableTransition: false },
  title: "locallm · dataq",
  metaChunk: true,
  head: [
    ["link", { rel: "stylesheet", href: `${base}code.css` }],
    ["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }],
  ],
  locales: {
    root: { label: "English", lang: "en", description: "Documentation of locallm and dataq" },
    zh: {
      label: "简体中文",
      lang: "zh-CN",
      description: "locallm 与 dataq 的文档",
      themeConfig: chinese(),
    },
  },
  themeConfig: {
    nav: navOf("en"),
    sidebar: sidebarOf("en"),
    outline: { level: [2, 3], label: "On this page" },
    externalLinkIcon: false,
    notFound: {
      title: "There is no such page",
      quote: "The address may be wrong, or the page has another name now.",
      linkText: "To the documentation",
      linkLabel: "To the documentation",
    },
  },
  markdown: {
    html: false,
    // The usual ones are too pale on the grey of a block to be read with weak eyes (WCAG 1.4.3).
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    codeTransformers: [colours],
    anchor: { slugify: slugOf },
    config: fit,
  },
  transformHtml: (html) =>
    html
      .replace(/<script id="check-dark-mode">.*?<\/script>/s, `<script src="${base}look.js"></script>`)
      .replace(/<script id="check-mac-os">.*?<\/script>/s, "")
      .replaceAll(/ style="(?:--vp-vh:[^"]*|position:relative;)"/g, ""),
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, "code.css"), codeStyle());
    writeFileSync(join(outDir, "look.js"), look);
    writeFileSync(join(outDir, "icon.svg"), icon);
  },
  vite: {
    resolve: {
      alias: [{ find: /^.*\/VPNavBarSearch\.vue$/, replacement: join(theme, "search.ts") }],
    },
    build: { reportCompressedSize: false, assetsInlineLimit: 0 },
  },
});

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2563eb"/><path d="M9 8h10l4 4v12H9zM12 15h8M12 19h8" fill="none" stroke="#fff" stroke-width="2"/></svg>`;

/** Each token has the colour of both themes; which one holds is decided by the page. */
function codeStyle(): string {
  return `${colours.getCSS()}
html:not(.dark) .vp-code span { color: var(--shiki-light, inherit); }
html.dark .vp-code span { color: var(--shiki-dark, inherit); }
`;
}

function fit(md: MarkdownRenderer): void {
  // Vue reads what stands in double braces as a program.
  const text = md.renderer.rules.text!;
  md.renderer.rules.text = (...given) => text(...given).replaceAll("{{", "&#123;&#123;");
  // A path or an address in a narrow table breaks behind a slash or an @.
  const code = md.renderer.rules.code_inline!;
  md.renderer.rules.code_inline = (...given) =>
    code(...given).replaceAll(/(?<=[\w.])[/\\@](?=[\w.])/g, "$&<wbr>");
  for (const cell of ["th_open", "td_open"] as const)
    md.renderer.rules[cell] = (tokens, index) => {
      const tag = tokens[index]!.tag;
      return `<${tag}${/right/.test(String(tokens[index]!.attrGet("style"))) ? ' class="number"' : ""}>`;
    };
  // An indented block looks and scrolls like one between fences.
  md.core.ruler.push("indented", ({ tokens }) => {
    for (const token of tokens)
      if (token.type === "code_block") Object.assign(token, { type: "fence", info: "txt", tag: "code" });
  });
  md.core.ruler.push("repository", ({ tokens }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      let isOpen = false;
      for (const token of children) {
        if (token.type === "link_open" && token.attrGet("href")?.startsWith("repository:")) {
          isOpen = true;
          token.tag = "span";
          token.attrs = [["class", "repository"]];
          token.type = "span_open";
        } else if (token.type === "link_close" && isOpen) {
          isOpen = false;
          token.tag = "span";
          token.type = "span_close";
        }
      }
    }
  });
}

function navOf(language: "en" | "zh"): DefaultTheme.NavItem[] {
  return ["dataq", "locallm"].map((product) => {
    const first = groups.find((group) => group.product === product)!.pages[0]!;
    return { text: product, link: linkTo(first, language), activeMatch: `/${product}/` };
  });
}

/** A product's pages, then those about both. */
function sidebarOf(language: "en" | "zh"): DefaultTheme.SidebarMulti {
  const titles = new Map(readPages(language).map(({ name, title }) => [name, title]));
  const ofProduct = (product: string) =>
    groups
      .filter((group) => group.product === product || group.product === "both")
      .map(({ title, pages }) => ({
        text: title[language],
        items: pages.map((name) => ({ text: titles.get(name)!, link: linkTo(name, language) })),
      }));
  const top = language === "zh" ? "/zh/" : "/";
  return {
    [`${top}dataq/`]: ofProduct("dataq"),
    [`${top}locallm/`]: ofProduct("locallm"),
    [top]: ofProduct("both"),
  };
}

function linkTo(name: string, language: "en" | "zh"): string {
  return language === "zh" ? `/zh/${name}` : `/${name}`;
}

function chinese(): DefaultTheme.Config {
  return {
    nav: navOf("zh"),
    sidebar: sidebarOf("zh"),
    outline: { level: [2, 3], label: "本页目录" },
    docFooter: { prev: "上一页", next: "下一页" },
    darkModeSwitchLabel: "外观",
    lightModeSwitchTitle: "切换到浅色",
    darkModeSwitchTitle: "切换到深色",
    sidebarMenuLabel: "目录",
    returnToTopLabel: "回到顶部",
    langMenuLabel: "切换语言",
    skipToContentLabel: "跳到正文",
    notFound: {
      title: "没有这一页",
      quote: "地址可能有误，或者页面已改名。",
      linkText: "回到文档首页",
      linkLabel: "回到文档首页",
    },
  };
}
