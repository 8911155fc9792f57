import { countText } from "./amounts.ts";
import type { TextFile } from "./conversation.ts";
import { word } from "./words.ts";

const largestBytes = 1_000_000;

/** What a person can do about a file that is not text. */
const otherFormats = /\.(?:pdf|docx?|xlsx?|pptx?|odt|epub|zip|gz|rar|7z|mp3|mp4|wav|mov|exe)$/i;

/** Reads a text file in UTF-8, UTF-16 or GB 18030. Throws with a sentence for the user. */
export async function readTextFile(file: File): Promise<Omit<TextFile, "tokens">> {
  const { name } = file;
  if (otherFormats.test(name)) throw new Error(word("notText", { name }));
  if (file.size > largestBytes) throw new Error(word("tooLarge", { name }));
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = decoded(bytes);
  if (text === null) throw new Error(word("notText", { name }));
  return { name, text };
}

/** Null if the bytes are no text. */
function decoded(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  const marked =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : null;
  for (const encoding of marked === null ? ["utf-8", "gb18030"] : [marked]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell that it is no text
      return /[\0-\x08\x0e-\x1a]/.test(text) ? null : text.replaceAll("\r\n", "\n");
    } catch {}
  }
  return null;
}

export function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** The tokens of a file, or about how many if they cannot be counted. */
export function tokensText({ tokens, text }: TextFile): string {
  return word(tokens === null ? "aboutTokens" : "tokens", {
    tokens: countText(tokens ?? roughTokens(text)),
  });
}

export function roughTokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / 3.5);
}
