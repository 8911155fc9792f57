import type { MarkdownIt } from "/page/markdown-it.js";
import { styled } from "./element.ts";
import { Library } from "./library.ts";

/** Formulas longer than this are shown as they are written. */
const longestFormula = 4000;

const fences = [
  ["$$", "$$"],
  ["\\[", "\\]"],
  ["\\(", "\\)"],
] as const;

/** Teaches the parser the forms in which models write LaTeX: `$x$`, `\(x\)`, `$$x$$` and `\[x\]`. */
export function mathRules(parser: MarkdownIt): void {
  // Before the rule that reads `\(` as a bracket.
  parser.inline.ruler.before("escape", "math", (state, silent) => {
    const found = formulaAt(state.src, state.pos);
    if (found === null) return false;
    if (!silent) {
      const token = state.push("math", "", 0);
      token.content = found.tex;
      token.markup = found.isBlock ? "block" : "inline";
    }
    state.pos = found.end;
    return true;
  });
  // Lines of a formula that look like a list or a heading belong to it.
  parser.block.ruler.before(
    "fence",
    "math",
    (state, startLine, endLine, silent) => {
      const start = state.bMarks[startLine]! + state.tShift[startLine]!;
      const part = state.src.slice(start, Math.min(state.eMarks[endLine - 1]!, start + longestFormula));
      const [open, close] = fences.find(([mark]) => mark !== "\\(" && part.startsWith(mark)) ?? [];
      if (open === undefined || close === undefined) return false;
      const closeAt = part.indexOf(close, open.length);
      const tex = part.slice(open.length, closeAt);
      if (closeAt < 0 || tex.trim() === "") return false;
      const end = start + closeAt + close.length;
      let lastLine = startLine;
      while (state.eMarks[lastLine]! < end) lastLine++;
      if (state.src.slice(end, state.eMarks[lastLine]).trim() !== "") return false;
      if (silent) return true;
      const token = state.push("math", "", 0);
      token.content = tex;
      token.markup = "block";
      token.map = [startLine, lastLine + 1];
      state.line = lastLine + 1;
      return true;
    },
    { alt: ["paragraph", "blockquote", "list"] },
  );
}

interface Formula {
  tex: string;
  isBlock: boolean;
  end: number;
}

function formulaAt(text: string, at: number): Formula | null {
  const mark = text[at];
  if (mark !== "$" && mark !== "\\") return null;
  const part = text.slice(at, at + longestFormula);
  for (const [open, close] of fences) {
    if (!part.startsWith(open)) continue;
    const end = part.indexOf(close, open.length);
    if (end < 0 || part.slice(open.length, end).trim() === "") return null;
    return { tex: part.slice(open.length, end), isBlock: open !== "\\(", end: at + end + close.length };
  }
  // A dollar before a space, or before a digit that follows the end, is money.
  const [all, tex] = /^\$((?! )(?:\\.|[^$\\\n]){1,500}?)(?<! )\$(?!\d)/.exec(part) ?? [];
  return all === undefined || tex === undefined ? null : { tex, isBlock: false, end: at + all.length };
}

type Temml = Pick<typeof import("/page/temml.js"), "render">;
const temml = new Library<Temml>(async () => (await import("/page/temml.js")).default);

/** Shows the formula as MathML. The renderer is loaded with the first one; until then its source is shown. */
export function mathBox(tex: string, isBlock: boolean): HTMLElement {
  const box = styled("span", isBlock ? "math block" : "math", tex);
  temml.use((renderer) => draw(renderer, box, tex, isBlock));
  return box;
}

function draw(renderer: Temml, box: HTMLElement, tex: string, isBlock: boolean): void {
  try {
    renderer.render(tex, box, {
      displayMode: isBlock,
      throwOnError: true,
      trust: false,
      strict: false,
      maxSize: [20, 10],
      maxExpand: 500,
    });
    box.title = tex;
  } catch {
    // Half a formula, while an answer arrives, or a command that it does not know.
    box.textContent = tex;
  }
}
