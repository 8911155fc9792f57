import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PastedLines } from "./pasted-lines.ts";

async function shown(reads: readonly string[]): Promise<string> {
  const terminal = new PassThrough();
  const lines = new PastedLines(terminal as unknown as NodeJS.ReadStream);
  for (const read of reads) terminal.write(read);
  terminal.end();
  let out = "";
  for await (const text of lines) out += text;
  return out;
}

/** A read never ends inside a character, nor right after a mark's Escape, so the test does not cut there. */
const isAfterEscape = (text: string, cut: number) =>
  text.startsWith("\u001b[2", cut - 1) || /[\udc00-\udfff]/.test(text[cut] ?? "");

const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;

test("joins the lines of pasted text and leaves typed text unchanged", async () => {
  expect(await shown([`a${paste("one\r\ntwo\rthree\n\nfour")}b\r`])).toBe("aone␤two␤three␤␤fourb\r");
  expect(await shown(["\u001b[A\r", paste(""), "x\u001b"])).toBe("\u001b[A\rx\u001b");
});

test("gives the same output for any split of the input into reads", async () => {
  const part = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "é", "中", "\r", "[2", "\u001b[A"), maxLength: 20 }),
    fc.string({ unit: fc.constantFrom("b", "\n", "~", "\u001b[20", "🙂"), maxLength: 20 }).map(paste),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.array(fc.nat(200)), async (parts, cuts) => {
      const whole = parts.join("");
      const at = [
        ...new Set([0, ...cuts.filter((cut) => cut < whole.length && !isAfterEscape(whole, cut))]),
      ].sort((a, b) => a - b);
      const reads = at.map((from, index) => whole.slice(from, at[index + 1] ?? whole.length));
      expect(await shown(reads)).toBe(await shown([whole]));
    }),
    { seed: 5, numRuns: 300 },
  );
});
