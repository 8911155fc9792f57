// Lays out docs/ as the site has it: English at the root, Chinese below zh/, links between pages as addresses of the
// site. A page whose twin is missing is shown in the other language and says so; so does one whose twin is older.
// Also makes what is read without the site: the pages as Markdown, llms.txt, llms-full.txt, and the index of the search.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { groups } from "./outline.mjs";

export const docs = fileURLToPath(new URL("../../docs", import.meta.url));
/** Where the products serve the site. */
export const base = "/docs/";
/** The last line of a Chinese page names the English text that it says the same as. */
const twinMark = /\n<!-- twin: (\w+) -->\n*$/;
const fence = /^( *)```.*?^\1```[^\n]*$/gms;

/** All pages in the order of the outline, each with its text in one language and what is known of its twin. */
export function readPages(language) {
  return groups.flatMap(({ pages }) => pages.map((name) => readPage(name, language)));
}

function readPage(name, language) {
  const english = readFileSync(join(docs, `${name}.md`), "utf8");
  const chinesePath = join(docs, `${name}.zh.md`);
  const chinese = existsSync(chinesePath) ? readFileSync(chinesePath, "utf8") : null;
  const text = language === "zh" && chinese !== null ? chinese.replace(twinMark, "\n") : english;
  const markdown = withLinks(text, name, language);
  const ids = language === "zh" ? [...anchorsOf(name).values()] : [];
  return {
    name,
    language,
    /** Of the site: dataq/search or zh/dataq/search. */
    address: language === "zh" ? `zh/${name}` : name,
    title: /^# (.*)$/m.exec(text)[1].replaceAll("`", ""),
    twin: language === "en" ? "whole" : twinState(english, chinese),
    markdown,
    /** With the anchors of the English page, so that a link to a heading holds in both languages. */
    anchored: ids.length === 0 ? markdown : withAnchors(markdown, ids),
  };
}

/** The anchor of each Chinese heading, with that of the English one in its place; empty if the twins differ. */
function anchorsOf(name) {
  const path = join(docs, `${name}.zh.md`);
  if (!existsSync(path)) return new Map();
  const [chinese, english] = [path, join(docs, `${name}.md`)].map((each) =>
    slugsOf(readFileSync(each, "utf8")),
  );
  return chinese.length === english.length
    ? new Map(chinese.map((slug, index) => [slug, english[index]]))
    : new Map();
}

const headingLine = /^#{1,6} (.*)$/gm;

function slugsOf(markdown) {
  const next = slugs();
  return [...markdown.replaceAll(fence, "").matchAll(headingLine)].map(([, heading]) => next(heading));
}

/** Gives the headings of one page their anchors, in order: of equal ones, all but the first get a number. */
function slugs() {
  const seen = new Map();
  return (heading) => {
    const slug = slugOf(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

function withAnchors(markdown, ids) {
  let index = 0;
  return markdown
    .split(/(^ *```[\s\S]*?^ *```[^\n]*$)/m)
    .map((part, place) =>
      place % 2 === 1 ? part : part.replaceAll(headingLine, (line) => `${line} {#${ids[index++]}}`),
    )
    .join("");
}

/** Columns that a line of code has on a wide screen. */
const codeColumns = 76;

/**
 * Where a comment behind a command would not fit its line, all comments of the block stand above their commands. The
 * files keep them behind, where they are read in an editor.
 */
export function commentsAbove(markdown) {
  return markdown.replaceAll(/^( *)```sh[^\n]*\n.*?^\1```/gms, (block) => {
    const isWide = block.split("\n").some((line) => widthOf(line) > codeColumns && behind.test(line));
    if (!isWide || block.includes("<<")) return block;
    return block
      .split("\n")
      .map((line) => {
        const [, indent, command, comment] = behind.exec(line) ?? [];
        const isOpen = ["'", '"'].some((quote) => (command?.split(quote).length ?? 1) % 2 === 0);
        return command === undefined || isOpen ? line : `${indent}# ${comment}\n${indent}${command}`;
      })
      .join("\n");
  });
}

const behind = /^( *)([^#\s].*?)\s+# (\S.*)$/;

/** Chinese characters are as wide as two others. */
function widthOf(line) {
  return line.length + (line.match(/[\u2e80-\uffef]/g)?.length ?? 0);
}

/** Whether the Chinese page says what the English one says now. */
function twinState(english, chinese) {
  if (chinese === null) return "missing";
  return twinMark.exec(chinese)?.[1] === markOf(english) ? "whole" : "older";
}

export function markOf(english) {
  return createHash("sha256").update(english).digest("hex").slice(0, 12);
}

/** Writes the mark into a Chinese page: its text says again what the English one says. */
export function markTwin(name) {
  const path = join(docs, `${name}.zh.md`);
  const english = readFileSync(join(docs, `${name}.md`), "utf8");
  const chinese = readFileSync(path, "utf8").replace(twinMark, "\n").trimEnd();
  writeFileSync(path, `${chinese}\n\n<!-- twin: ${markOf(english)} -->\n`);
}

/** Writes what VitePress reads, and returns the files to put beside what it builds. */
export function layOut(folder) {
  rmSync(folder, { recursive: true, force: true });
  const beside = new Map();
  const all = { en: readPages("en"), zh: readPages("zh") };
  for (const [language, pages] of Object.entries(all)) {
    for (const page of pages) {
      const { address, twin, markdown } = page;
      // Only pages with calls load what sends them.
      const calls = /^ *```sh$[^`]*\bcurl /m.test(markdown);
      const head = `---\ntwin: ${twin}\ncalls: ${calls}\ndescription: ${JSON.stringify(descriptionOf(page))}\n---\n\n`;
      write(join(folder, `${address}.md`), head + commentsAbove(page.anchored));
      beside.set(`${address}.md`, plainMarkdown(markdown));
    }
    const start = language === "zh" ? "zh/index.md" : "index.md";
    write(join(folder, start), `---\nlayout: page\nsidebar: false\ntitle: ${startTitles[language]}\n---\n`);
    beside.set(`search-${language}.json`, JSON.stringify(pages.flatMap(sectionsOf)));
  }
  beside.set("llms.txt", llmsText(all.en));
  beside.set("llms-full.txt", inOneFile(all.en));
  beside.set("zh/llms-full.txt", inOneFile(all.zh.filter(({ twin }) => twin !== "missing")));
  return beside;
}

function inOneFile(pages) {
  return pages.map(({ markdown }) => plainMarkdown(markdown)).join("\n\n---\n\n");
}

const startTitles = { en: "Documentation", zh: "文档" };

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/**
 * Links between pages become addresses of the site in the page's own language. The scheme `repository:` marks what only
 * the repository has.
 */
function withLinks(markdown, name, language) {
  return outsideCode(markdown, (text) =>
    text.replaceAll(/\]\(([^)\s]+)\)/g, (whole, href) => {
      if (/^(?:\/|[a-z]+:)/.test(href)) return whole;
      const [path, named] = href.split("#");
      const anchorIn = (target) => anchorsOf(target).get(named) ?? named;
      if (path === "") return `](#${language === "zh" ? anchorIn(name) : named})`;
      const target = posix.join(posix.dirname(name), path).replace(/(?:\.zh)?\.md$/, "");
      if (!known.has(target)) return `](repository:${posix.join(posix.dirname(name), path)})`;
      // A page's link to its own twin changes the language.
      const isSwitch = target === name;
      const isChinese = isSwitch ? path.endsWith(".zh.md") : language === "zh";
      const anchor = named === undefined ? "" : `#${isChinese ? anchorIn(target) : named}`;
      return `](${isChinese ? "/zh" : ""}/${target}${anchor})`;
    }),
  );
}

const known = new Set(groups.flatMap(({ pages }) => pages));

/** Changes the text between blocks of code and pieces of code. */
function outsideCode(markdown, change) {
  const code = /^( *)```.*?^\1```[^\n]*$|`[^`\n]*`/gms;
  let end = 0;
  let made = "";
  for (const match of markdown.matchAll(code)) {
    made += change(markdown.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return made + change(markdown.slice(end));
}

/** A page as people copy it: its links lead to the pages as Markdown. */
function plainMarkdown(markdown) {
  return outsideCode(markdown, (text) =>
    text
      .replaceAll(/\]\(\/([^)#\s]+)(#[^)\s]*)?\)/g, (_, path, anchor = "") =>
        known.has(path.replace(/^zh\//, "")) ? `](${base}${path}.md${anchor})` : `](/${path}${anchor})`,
      )
      .replaceAll(/\[([^[\]]*)\]\(repository:[^)]*\)/g, "$1"),
  );
}

/** The first sentence of a page. */
function descriptionOf({ markdown }) {
  const paragraph = markdown
    .replaceAll(fence, "")
    .split("\n\n")
    .slice(1)
    .find((each) => /^[^#|[<\s-]/.test(each.trim()));
  const text = wordsOf(paragraph ?? "");
  return /^.{20,}?(?:[.。：:](?=\s|$)|。)/.exec(text)?.[0] ?? text.slice(0, 160);
}

function llmsText(pages) {
  const lists = groups.map(({ title, pages: names }) => {
    const lines = names.map((name) => {
      const page = pages.find((each) => each.name === name);
      return `- [${page.title}](${base}${page.address}.md): ${descriptionOf(page)}`;
    });
    return `## ${title.en}\n\n${lines.join("\n")}`;
  });
  return `# locallm and dataq

> locallm runs large language models on your own machine and serves them over the APIs of Ollama, OpenAI and Anthropic. dataq answers questions about Chinese law, companies, content, parcels and research through one endpoint.

All pages in one file: [English](${base}llms-full.txt), [中文](${base}zh/llms-full.txt).

${lists.join("\n\n")}
`;
}

/** What the search looks in: each part of a page below its own heading. */
function sectionsOf({ name, language, markdown, title, address }) {
  const anchors = language === "zh" ? anchorsOf(name) : new Map();
  const blocks = [];
  const text = markdown.replaceAll(fence, (block) => {
    blocks.push(block.replaceAll(/^ *```.*$/gm, ""));
    return `⟦${blocks.length - 1}⟧`;
  });
  const next = slugs();
  return text.split(/^(?=#{1,4} )/m).flatMap((part) => {
    const [, marks, heading] = /^(#+) (.*)$/m.exec(part) ?? [];
    if (heading === undefined) return [];
    const slug = next(heading);
    const body = part
      .slice(part.indexOf("\n") + 1)
      .replaceAll(/⟦(\d+)⟧/g, (_, index) => blocks[Number(index)]);
    return {
      address: marks.length === 1 ? address : `${address}#${anchors.get(slug) ?? slug}`,
      page: title,
      heading: marks.length === 1 ? "" : wordsOf(heading),
      text: wordsOf(body),
    };
  });
}

function wordsOf(markdown) {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^\s*(?:\|[\s:|-]+\|)\s*$/gm, "")
    .replaceAll(/[`|]|\*\*|^[#>-]+ /gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The anchor that code hosts give a heading. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
