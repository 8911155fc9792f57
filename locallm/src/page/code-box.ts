import { copyButton, element, styled } from "./element.ts";
import { Library } from "./library.ts";

interface Scope {
  scope?: string;
  children: readonly (string | Scope)[];
}

/** The parts of highlight.js that are used. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(
    text: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { _emitter: { rootNode: Scope } };
}

const address: string = "/page/highlight.js";
const highlighter = new Library<Highlighter>(async () => (await import(address)).default);

/** Longer code has no colours, because finding them takes time. */
const longestCode = 30_000;

/** Code with its language, a button that copies it, and colours as soon as they are loaded. */
export function codeBox(text: string, language: string): HTMLElement {
  const code = element("code", text);
  colour(code, text, language);
  return titledBox(text, language, code);
}

/** A text below its title, with a button that copies it. */
export function titledBox(text: string, title: string, code = element("code", text)): HTMLElement {
  const box = element("pre", code);
  box.tabIndex = 0;
  const head = styled(
    "div",
    "code-head",
    element("span", title),
    copyButton(() => text),
  );
  return styled("div", "code", head, box);
}

function colour(code: HTMLElement, text: string, language: string): void {
  if (language === "" || text.length > longestCode) return;
  highlighter.use((found) => paint(found, code, text, language));
}

function paint(found: Highlighter, code: HTMLElement, text: string, language: string): void {
  if (found.getLanguage(language) === undefined) return;
  try {
    // The tree of scopes instead of the HTML, so that text only becomes text nodes.
    const { rootNode } = found.highlight(text, { language, ignoreIllegals: true })._emitter;
    code.replaceChildren(...rootNode.children.map(node));
  } catch {}
}

function node(part: string | Scope): Node | string {
  if (typeof part === "string") return part;
  const name = (part.scope ?? "").split(".")[0]!.replaceAll(/[^a-z_-]/g, "");
  return styled("span", `hl-${name}`, ...part.children.map(node));
}
