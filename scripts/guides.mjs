// The guides that a running product serves, made from docs/. build.mjs calls it and writes each page to the product's
// dist/guides/.
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const docs = fileURLToPath(new URL("../docs", import.meta.url));
/** Pages about both products. */
const common = ["install.md", "services.md"];

/** By folder of the package: its name, its folder in docs/, and the path of its guides on the server. */
const products = {
  locallm: { name: "locallm", folder: "locallm", path: "/docs" },
  "dataq/service": { name: "dataq", folder: "dataq", path: "/docs/guides" },
};

/**
 * Returns the pages of a package's guides: the file each is made from, the file to write, and a function that makes
 * HTML of Markdown. Packages without guides have none.
 */
export function guidesOf(packageFolder) {
  const product = products[packageFolder];
  if (product === undefined) return [];
  const own = readdirSync(join(docs, product.folder)).filter((name) => name.endsWith(".md"));
  const sources = [
    join(docs, "README.md"),
    ...common.map((name) => join(docs, name)).filter((path) => existsSync(path)),
    ...own.map((name) => join(docs, product.folder, name)),
  ];
  const addressOf = (path) => {
    if (!sources.includes(path)) return null;
    return path === sources[0] ? product.path : `${product.path}/${basename(path, ".md")}`;
  };
  return sources.map((source) => ({
    source,
    target: source === sources[0] ? "index.html" : `${basename(source, ".md")}.html`,
    render: (markdown) => {
      const text = source === sources[0] ? partOf(markdown, product.name) : markdown;
      return page(text, product, (path) => addressOf(join(dirname(source), path)));
    },
  }));
}

/** `addressOf` returns null for a file that only the repository contains. */
function page(markdown, product, addressOf) {
  const title = /^# (.*)$/m.exec(markdown)[1].replaceAll("`", "");
  return `<!doctype html>
<html lang="${/[\u4e00-\u9fff]/.test(title) ? "zh-CN" : "en"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – ${product.name}</title>
<style>${style}</style>
</head>
<body>
<header><a href="${product.path}">${product.name}: all guides</a></header>
<main>
${htmlOf(markdown, addressOf)}</main>
</body>
</html>
`;
}

/** The product's part of the index. */
function partOf(markdown, name) {
  const part = markdown.split(/^(?=## )/m).find((each) => each.startsWith(`## ${name}`));
  return part.replace(/^## .*$/m, `# ${name}: guides`);
}

function htmlOf(markdown, addressOf) {
  // Loaded here, because most builds find all pages up to date.
  const { Marked } = require("marked");
  const seen = new Map();
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const slug = slugOf(text);
        const count = seen.get(slug) ?? 0;
        seen.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = linkOf(href, addressOf);
        return target === null ? inner : `<a href="${escaped(target)}">${inner}</a>`;
      },
      table(token) {
        // A wide table scrolls by itself, also with the keyboard.
        const row = (cells, tag) =>
          `<tr>${cells.map(({ tokens, align }) => `<${tag}${align === "right" ? ' class="number"' : ""}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>\n`;
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${token.rows
          .map((cells) => row(cells, "td"))
          .join("")}</tbody></table></div>\n`;
      },
    },
  }).parse(markdown);
}

function linkOf(href, addressOf) {
  if (/^(?:#|https?:)/.test(href)) return href;
  const [path, anchor] = href.split("#");
  const address = addressOf(path);
  return address === null || anchor === undefined ? address : `${address}#${anchor}`;
}

/** The anchor that code hosts give a heading. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.6 system-ui, "Noto Sans CJK SC", sans-serif; }
header, main { max-width: 56rem; margin: 0 auto; padding: 1rem; }
header { padding-bottom: 0; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 2.25rem; }
pre, code { font: 0.875rem/1.5 ui-monospace, monospace; }
code, pre { background: light-dark(#f3f4f6, #22262c); border-radius: 4px; }
code { padding: 0.1em 0.3em; overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; overflow-x: auto; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.4rem 0.75rem; border-bottom: 1px solid light-dark(#d5d8de, #3a3f47); text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td:first-child code { overflow-wrap: normal; }
a { color: light-dark(#0b57b0, #8ab8ff); }
`;
