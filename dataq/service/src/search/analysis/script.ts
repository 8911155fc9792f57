import { Converter } from "opencc-js/t2cn";

const firstHan = 0x4e00;
const lastHan = 0x9fff;
/** Characters with a simplified form for only some of their meanings; they also occur in simplified texts. */
const inBothScripts = "乾著瞭藉徵於餘夥覆摺鍾麽蘋讎";

interface Script {
  readonly convert: (text: string) => string;
  /**
   * Characters that occur only in traditional texts. A character that simplified texts also use, such as 著 in 著作权,
   * does not make a text traditional.
   */
  readonly onlyTraditional: Uint8Array;
}

let script: Script | undefined;

/** A text in simplified characters. Taiwanese words become those of the mainland: 軟體 → 软件. */
export function simplified(text: string): string {
  script ??= readScript();
  for (let at = 0; at < text.length; at++)
    if (script.onlyTraditional[text.charCodeAt(at)] === 1) return script.convert(text);
  return text;
}

/** At first use, because it takes a tenth of a second and most commands do not search. */
function readScript(): Script {
  const convert = Converter({ from: "twp", to: "cn" });
  return { convert, onlyTraditional: findOnlyTraditional(convert) };
}

function findOnlyTraditional(convert: Script["convert"]): Uint8Array {
  const marks = new Uint8Array(1 << 16);
  const results = new Set<string>();
  for (let code = firstHan; code <= lastHan; code++) {
    const character = String.fromCharCode(code);
    const result = convert(character);
    // 埠 alone would become the port of a computer: 端口.
    if (result === character || result.length !== 1) continue;
    marks[code] = 1;
    results.add(result);
  }
  for (const character of [...results, ...inBothScripts]) marks[character.charCodeAt(0)] = 0;
  return marks;
}
