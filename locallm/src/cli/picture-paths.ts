import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";

/** A question, and the pictures and sounds whose paths stood in it. */
export interface QuestionWithMedia {
  readonly text: string;
  /** In base64. Ollama's API has sounds there, too. */
  readonly images: readonly string[];
  readonly paths: readonly string[];
}

/** What a model takes beside texts. */
export interface Senses {
  readonly sees: boolean;
  readonly hears: boolean;
}

export function sensesOf(capabilities: readonly string[]): Senses {
  return { sees: capabilities.includes("vision"), hears: capabilities.includes("audio") };
}

/**
 * A path that begins with `/`, `./`, `../`, `~/` or a drive, and ends like a picture or sound. Terminals write a dropped file's
 * path in quotes, or with a backslash before each space.
 */
const start = String.raw`(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}[\\/])`;
function pathPattern({ sees, hears }: Senses): RegExp {
  const names = [...(sees ? ["jpe?g", "png", "webp", "gif"] : []), ...(hears ? ["wav", "mp3"] : [])];
  const ending = String.raw`\.(?:${names.join("|")})`;
  return new RegExp(
    [
      `"(${start}[^"\\n]*?${ending})"`,
      `'(${start}[^'\\n]*?${ending})'`,
      String.raw`(?<!\S)(${start}(?:\\.|[^\s\\])*?${ending})(?=$|[\s.,;:!?)])`,
    ].join("|"),
    "gi",
  );
}

/** Takes the paths of pictures and sounds that exist, if the model takes them, out of a question. Others stay words. */
export async function takeMedia(question: string, senses: Senses): Promise<QuestionWithMedia> {
  if (!senses.sees && !senses.hears) return { text: question, images: [], paths: [] };
  let text = question;
  const images: string[] = [];
  const paths: string[] = [];
  for (const [whole, ...written] of question.matchAll(pathPattern(senses))) {
    const path = await existing(written.find((each) => each !== undefined) ?? "");
    if (path === null) continue;
    images.push((await readFile(path)).toString("base64"));
    paths.push(path);
    text = text.replace(whole, "");
  }
  return images.length === 0 ? { text, images, paths } : { text: text.trim(), images, paths };
}

async function existing(written: string): Promise<string | null> {
  const atHome = written.replace(/^~(?=\/)/, homedir());
  for (const path of [atHome, atHome.replace(/\\([^A-Za-z0-9])/g, "$1")])
    if ((await stat(path).catch(() => null))?.isFile()) return path;
  return null;
}
