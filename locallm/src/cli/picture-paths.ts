import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";

/** A question, and the pictures whose paths stood in it. */
export interface QuestionWithPictures {
  readonly text: string;
  /** In base64. */
  readonly images: readonly string[];
  readonly paths: readonly string[];
}

/**
 * A path that begins with `/`, `./`, `../`, `~/` or a drive, and ends like a picture. Terminals write a dropped file's
 * path in quotes, or with a backslash before each space.
 */
const start = String.raw`(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}[\\/])`;
const ending = String.raw`\.(?:jpe?g|png|webp|gif)`;
const pathPattern = new RegExp(
  [
    `"(${start}[^"\\n]*?${ending})"`,
    `'(${start}[^'\\n]*?${ending})'`,
    String.raw`(?<!\S)(${start}(?:\\.|[^\s\\])*?${ending})(?=$|[\s.,;:!?)])`,
  ].join("|"),
  "gi",
);

/** Takes the paths of pictures that exist out of a question. Other paths stay words. */
export async function takePictures(question: string): Promise<QuestionWithPictures> {
  let text = question;
  const images: string[] = [];
  const paths: string[] = [];
  for (const [whole, ...written] of question.matchAll(pathPattern)) {
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
