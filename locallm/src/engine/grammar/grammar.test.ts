import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGbnf } from "../../../test/gbnf.ts";
import { LocallmError } from "../../wire/errors.ts";
import { Automaton, type Position } from "./automaton.ts";
import { freeText } from "./free-text.ts";
import { TokenTree } from "./token-tree.ts";
import { grammarLimits, Work } from "./work.ts";

/** This clock never advances, so nothing runs out of time. */
const endless = () => new Work(() => 0);
/** This clock advances by a fixed time at each reading. */
const ticking = (ms: number) => {
  let now = 0;
  return new Work(() => (now += ms));
};

function start(gbnf: string, work = endless()): Position {
  return new Automaton(gbnf, work).start("root", work);
}

function along(from: Position, text: string | Uint8Array, work = endless()): Position | null {
  let position: Position | null = from;
  for (const byte of Buffer.from(text)) position = position?.after(byte, work) ?? null;
  return position;
}

const accepts = (gbnf: string, text: string) => along(start(gbnf), text)?.canEnd ?? false;

/** Random GBNF with few letters, so that random texts often match. */
const bodies = fc.letrec<{ body: string }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 4, depthIdentifier: "body" },
    fc.constantFrom('"a"', '"b"', '"é"', '"ab"', "[ab]", "[^a]", "[a-zé-ö]", "[一-十🙂]", '""'),
    fc.tuple(tie("body"), tie("body")).map(([a, b]) => `(${a} ${b})`),
    fc.tuple(tie("body"), tie("body")).map(([a, b]) => `(${a} | ${b})`),
    fc
      .tuple(tie("body"), fc.constantFrom("*", "+", "?", "{2}", "{0,3}", "{1,}"))
      .map(([a, repeat]) => `(${a})${repeat}`),
  ),
})).body;
const texts = fc
  .array(fc.constantFrom("a", "b", "c", "é", "õ", "丁", "🙂", "🙃"), { maxLength: 8 })
  .map((all) => all.join(""));

describe("an automaton", () => {
  it("accepts what another reader of the same grammar accepts", () => {
    fc.assert(
      fc.property(bodies, texts, (body, text) => {
        const gbnf = `root ::= ${body}\n`;
        expect(accepts(gbnf, text)).toBe(parseGbnf(gbnf).accepts(text));
      }),
      { seed: 11, numRuns: 2000 },
    );
  });

  it("accepts every text that the grammar generates", () => {
    fc.assert(
      fc.property(
        bodies,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (body, numbers) => {
          const gbnf = `root ::= ${body}\n`;
          const text = parseGbnf(gbnf).derive(() => numbers.next().value as number);
          expect(accepts(gbnf, text)).toBe(true);
        },
      ),
      { seed: 12, numRuns: 1000 },
    );
  });

  it("supports recursive rules", () => {
    const gbnf = 'root ::= list\nlist ::= "[" (item ("," item)*)? "]"\nitem ::= "1" | list\n';
    expect(
      ["[]", "[1,[1,[]],1]", "[".repeat(300) + "]".repeat(300)].map((text) => accepts(gbnf, text)),
    ).toEqual([true, true, true]);
    expect(["[", "[1,]", "[]]"].map((text) => accepts(gbnf, text))).toEqual([false, false, false]);
  });

  it("needs one stack for a list of ten thousand items", () => {
    const work = endless();
    let position: Position | null = start(
      'root ::= item more\nmore ::= "," item more | "."\nitem ::= "1"\n',
      work,
    );
    position = along(position, `1${",1".repeat(10_000)}`, work);
    const before = position;
    expect(along(before!, ",1", work)).toBe(before);
  });

  it("supports characters that are split between tokens", () => {
    const first = along(start("root ::= [一-十]"), Buffer.from("丁").subarray(0, 2));
    expect(first?.canEnd).toBe(false);
    expect(first?.after(Buffer.from("丁")[2]!, endless())?.canEnd).toBe(true);
  });

  it.each([
    "root ::= (",
    'root ::= "a',
    "root ::= [a",
    "root ::= other",
    'thing ::= "a"',
    'root ::= "a"\nroot ::= "b"',
    "root ::= a{3,1}",
    'root ::= "a"{9999}',
    `root ::= ${"(".repeat(300)}"a"${")".repeat(300)}`,
    "no rule",
  ])("rejects %j", (gbnf) => {
    expect(() => start(gbnf)).toThrow(expect.objectContaining({ code: "invalid_grammar" }));
  });

  const blown = (depth: number) =>
    [
      "root ::= r0",
      ...Array.from({ length: depth }, (_, at) => `r${at} ::= r${at + 1}? r${at + 1}?`),
      `r${depth} ::= "a"?`,
    ].join("\n");

  it("fails with a clear error if a character has too many alternatives", () => {
    expect(() => start(blown(40))).toThrow(expect.objectContaining({ code: "grammar_too_wide" }));
    expect(() => start('root ::= root "a" | "b"')).toThrow(
      expect.objectContaining({ code: "grammar_too_wide" }),
    );
  });

  it("fails with a clear error if it takes too long", () => {
    const work = ticking(grammarLimits.creditMs / 4);
    const gbnf = `root ::= ${'("a"? "b"?){1000} '.repeat(30)}\n`;
    expect(() => work.measure(() => start(gbnf, work))).toThrow(
      expect.objectContaining({ code: "grammar_too_slow" }),
    );
  });

  it.each(['("a" | "b" | "c" | "d")* ', "[a-d]* ", '"a"? '.repeat(5)])(
    "accepts %j repeated 60 times",
    (body) => {
      const gbnf = `root ::= ${body.repeat(60)}\n`;
      const work = endless();
      const position = along(start(gbnf, work), "aaaaaaaaaaaaaaaaaaaa", work);
      expect(position?.canEnd).toBe(true);
    },
  );
});

describe("the time budget of an answer", () => {
  it("grows with each token and shrinks with work", () => {
    let now = 0;
    const work = new Work(() => now);
    const token = (ms: number) =>
      work.token(() => {
        now += ms;
        work.spend(100_000);
      });
    for (let count = 0; count < 1000; count += 1) token(grammarLimits.perTokenMs);
    token(grammarLimits.creditMs - 1);
    expect(() => token(grammarLimits.perTokenMs + 2)).toThrow(LocallmError);
  });

  it("excludes work that is done once per model", () => {
    let now = 0;
    const work = new Work(() => now);
    work.token(() => {
      work.unmeasured(() => (now += 10_000));
      work.spend(100_000);
    });
    expect(() => work.token(() => work.spend(100_000))).not.toThrow();
  });
});

const pieces = ["", "a", "b", "ab", "abc", "é", "\xc3", "aé", "a", "<end>", "丁", "zz"].map((text) =>
  text === "\xc3" ? Buffer.from([0xc3]) : Buffer.from(text),
);
const vocabulary = {
  size: pieces.length,
  piece: (token: number) => new Uint8Array(pieces[token]!),
  isEnd: (token: number) => token === 9,
};

describe("the token tree", () => {
  it("allows the same tokens as the automaton does one by one", () => {
    const tree = new TokenTree(vocabulary, true);
    fc.assert(
      fc.property(bodies, texts, (body, text) => {
        const position = along(start(`root ::= ${body}\n`), text);
        if (position === null) return;
        const bits = tree.allowed(position, endless());
        const found = pieces.map((_, token) => ((bits[token >>> 5]! >>> (token & 31)) & 1) === 1);
        const expected = pieces.map((piece, token) =>
          token === 9 ? position.canEnd : piece.length > 0 && along(position, piece) !== null,
        );
        expect(found).toEqual(expected);
      }),
      { seed: 13, numRuns: 1000 },
    );
  });
});

describe("free text before a trigger", () => {
  const bound = () => start('root ::= "<call>" [0-9] "</call>"\n');
  const after = (words: string[], first: string | null, text: string) =>
    along(freeText({ words, start: first }, bound()), text);

  it("allows any text if the trigger word does not occur", () => {
    const position = after(["<call>"], null, "x <cal <call< <cal\nl>".repeat(500));
    expect([position?.isFree, position?.canEnd]).toEqual([true, true]);
  });

  it.each(["<call>", "text <call>", "<<call>", "<cal<call>", "<call<call>"])(
    "starts the grammar after %j",
    (text) => {
      const position = after(["<call>"], null, text);
      expect(position).not.toBeNull();
      expect(position?.isFree).toBe(false);
      expect(along(position!, "x")).toBeNull();
      expect(along(position!, "7</call>")?.canEnd).toBe(true);
    },
  );

  it("rejects a trigger that the grammar does not allow", () => {
    expect(after(["<calls>"], null, "<calls>")).toBeNull();
  });

  it("finds the first of several words", () => {
    expect(after(["[TOOL", "<call>"], null, "a <call>")?.isFree).toBe(false);
  });

  it("finds the same words as a search in the whole text", () => {
    const letters = fc
      .array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 5 })
      .map((all) => all.join(""));
    const long = fc.array(fc.constantFrom("a", "b"), { maxLength: 30 }).map((all) => all.join(""));
    fc.assert(
      fc.property(letters, long, (word, text) => {
        const position = along(
          freeText({ words: [word], start: null }, start(`root ::= "${word}" [ab]*`)),
          text,
        );
        expect(position?.isFree).toBe(!text.includes(word));
      }),
      { seed: 14, numRuns: 1000 },
    );
  });

  it("starts the grammar at the start of an answer, after any white space", () => {
    const gbnf = 'root ::= "{\\"name\\": \\"f\\"}"';
    const begun = (text: string) => along(freeText({ words: [], start: '{"name":' }, start(gbnf)), text);
    expect(begun('{"name":')?.isFree).toBe(false);
    expect(begun('\n { "name" :')?.isFree).toBe(false);
    expect(along(begun('{ "name":')!, ' "f"}')?.canEnd).toBe(true);
    expect(begun('x {"name":')?.isFree).toBe(true);
    expect(begun('{"nam{"name":')?.isFree).toBe(true);
  });
});
