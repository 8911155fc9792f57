import type { Language } from "@dataq/contract";

/** Which of the two languages the caller prefers by Accept-Language (RFC 9110, 12.5.4); English by default. */
export function languageOf(header: string | undefined): Language {
  let best: { readonly language: Language; readonly q: number } = { language: "en", q: 0 };
  for (const part of (header ?? "").slice(0, 500).split(",")) {
    const [, language, weight] = /^\s*(zh|en)(?:-[\w-]*)?\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(part) ?? [];
    const q = weight === undefined ? 1 : Number(weight);
    // If weights are equal, the first language is used.
    if (language && q > best.q) best = { language: language.toLowerCase() as Language, q };
  }
  return best.language;
}
