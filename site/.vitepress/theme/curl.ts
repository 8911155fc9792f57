/** A call of HTTP that stands in an example. */
export interface ExampleCall {
  readonly method: string;
  /** With the query, without the origin. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Origins that the examples of a product name. */
const origins = {
  dataq: /^(?:\$\{?BASE\}?|http:\/\/(?:127\.0\.0\.1|localhost):11435)(?=\/|$)/,
  locallm: /^http:\/\/(?:127\.0\.0\.1|localhost):11434(?=\/|$)/,
};

/**
 * The calls of a block of shell commands, in order; none if it has anything else than calls of `curl` to this product
 * that a page can send as they are.
 */
export function callsOf(block: string, product: keyof typeof origins): ExampleCall[] {
  const commands = commandsOf(block);
  if (commands === undefined) return [];
  const calls = commands.map((words) => callOf(words, product));
  return calls.every((call) => call !== undefined) ? calls : [];
}

/** The words of each command; undefined if a command uses more of the shell than quotes and comments. */
function commandsOf(block: string): string[][] | undefined {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)!.push(word);
    word = undefined;
  };
  for (let at = 0; at < block.length; at += 1) {
    const sign = block[at]!;
    if (sign === "'" || sign === '"') {
      const end = endOfQuote(block, at);
      if (end === -1) return undefined;
      const inside = block.slice(at + 1, end);
      if (sign === '"' && /[`]|\$\(/.test(inside)) return undefined;
      word = (word ?? "") + (sign === '"' ? inside.replaceAll(/\\(["\\$])/g, "$1") : inside);
      at = end;
    } else if (sign === "\\" && block[at + 1] === "\n") {
      endWord();
      at += 1;
    } else if (sign === "#" && word === undefined) {
      const end = block.indexOf("\n", at);
      at = (end === -1 ? block.length : end) - 1;
    } else if (sign === "\n") {
      endWord();
      commands.push([]);
    } else if (/\s/.test(sign)) endWord();
    else if (/[|&;<>()`\\]/.test(sign)) return undefined;
    else word = (word ?? "") + sign;
  }
  endWord();
  return commands.filter((words) => words.length > 0);
}

function endOfQuote(block: string, start: number): number {
  const quote = block[start]!;
  for (let at = start + 1; at < block.length; at += 1) {
    if (quote === '"' && block[at] === "\\") at += 1;
    else if (block[at] === quote) return at;
  }
  return -1;
}

function callOf([program, ...words]: string[], product: keyof typeof origins): ExampleCall | undefined {
  if (program !== "curl") return undefined;
  let url: string | undefined;
  let method: string | undefined;
  let body: string | undefined;
  const headers: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (/^-[sSNif]+$/.test(word)) continue;
    const value = words[at + 1];
    if (word === "-X" || word === "--request") method = value;
    else if (word === "-d" || word === "--data") body = value;
    else if (word === "-H" || word === "--header") {
      const [, name, text] = /^([^:]+):\s*(.*)$/s.exec(value ?? "") ?? [];
      if (name === undefined) return undefined;
      // The page sends its own credentials.
      if (!/^(?:authorization|x-api-key)$/i.test(name)) headers[name.toLowerCase()] = text!;
    } else if (word.startsWith("-") || url !== undefined) return undefined;
    else {
      url = word;
      continue;
    }
    if (value === undefined) return undefined;
    at += 1;
  }
  if (url === undefined || !origins[product].test(url) || body?.startsWith("@")) return undefined;
  const path = url.replace(origins[product], "") || "/";
  return { method: method ?? (body === undefined ? "GET" : "POST"), path, headers, body };
}
