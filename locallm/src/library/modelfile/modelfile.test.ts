import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Instruction, messageRoles, textKinds } from "./instruction.ts";
import { parseModelfile } from "./parse.ts";
import { printModelfile } from "./print.ts";

/** Instructions without line numbers. */
const parse = (text: string): Instruction[] =>
  parseModelfile(Buffer.from(text)).map((instruction) =>
    instruction.kind === "parameter"
      ? { kind: "parameter", name: instruction.name, value: instruction.value }
      : instruction,
  );

describe("a Modelfile", () => {
  test("may contain instructions in any case, comments and blank lines", () => {
    expect(
      parse("# from nothing\n\n  from llama3 \nParameter TEMPERATURE 0.5\r\nSYSTEM you # are\n"),
    ).toEqual([
      { kind: "from", value: "llama3" },
      { kind: "parameter", name: "temperature", value: "0.5" },
      { kind: "system", value: "you # are" },
    ]);
  });

  test("may contain quoted values, also over several lines", () => {
    const text =
      'FROM "a b.gguf"\nTEMPLATE """{{ .Prompt }}\n"quoted"\n"""  \nSYSTEM "two\nlines"\nLICENSE ""\n';
    expect(parse(text)).toEqual([
      { kind: "from", value: "a b.gguf" },
      { kind: "template", value: '{{ .Prompt }}\n"quoted"\n' },
      { kind: "system", value: "two\nlines" },
      { kind: "license", value: "" },
    ]);
  });

  test("keeps whitespace and line ends inside quotes", () => {
    expect(parse('FROM x\nSYSTEM "  a  \r\n b "')[1]).toEqual({ kind: "system", value: "  a  \r\n b " });
  });

  test("may contain messages with a role and parameters with a name", () => {
    expect(
      parse('FROM x\nMESSAGE user Hi there\nMESSAGE Assistant """Hello"""\nPARAMETER stop "</s>"').slice(1),
    ).toEqual([
      { kind: "message", role: "user", value: "Hi there" },
      { kind: "message", role: "assistant", value: "Hello" },
      { kind: "parameter", name: "stop", value: "</s>" },
    ]);
  });

  test.each([
    ["UTF-8 with a byte order mark", Buffer.from("\ufeffFROM é")],
    ["UTF-16 little-endian", Buffer.from("\ufeffFROM é", "utf16le")],
    ["UTF-16 big-endian", Buffer.from("\ufeffFROM é", "utf16le").swap16()],
  ])("may be %s", (_, bytes) => {
    expect(parseModelfile(bytes)).toEqual([{ kind: "from", value: "é" }]);
  });

  test.each([
    ["", "no FROM line"],
    ["SYSTEM x", "no FROM line"],
    ["FROM x\n\nFORM y", "(line 3): command must be one of from,"],
    ["FROM x\nMESSAGE tool hi", "(line 2): message role must be one of system, user, assistant"],
    ["FROM x\nPARAMETER stop", "(line 2): PARAMETER needs a name and a value"],
    ["FROM x\nSYSTEM", "(line 2): the value is missing"],
    ['FROM x\nSYSTEM """a\nb\n', '(line 2): the opening """ is not closed'],
    ['FROM x\nSYSTEM "a', '(line 2): the opening " is not closed'],
    ["FROM x\nSYSTEM \\json {}", "(line 2): \\json needs a JSON string"],
  ])("reports an error with its line: %j", (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test("must be valid UTF-8", () => {
    expect(() => parseModelfile(Buffer.from([0x46, 0xff]))).toThrow("not valid utf-8");
  });
});

describe("printModelfile", () => {
  test("quotes only values that need it, like Ollama", () => {
    const instructions: Instruction[] = [
      { kind: "from", value: "smollm2:135m" },
      { kind: "template", value: "{{ .Prompt }}\n" },
      { kind: "system", value: 'Say "hi"\nand go' },
      { kind: "parameter", name: "stop", value: "<|im_end|>" },
      { kind: "message", role: "user", value: "" },
    ];
    expect(printModelfile(instructions)).toBe(
      'FROM smollm2:135m\nTEMPLATE "{{ .Prompt }}\n"\nSYSTEM """Say "hi"\nand go"""\nPARAMETER stop <|im_end|>\nMESSAGE user ""\n',
    );
  });

  const piece = fc.constantFrom(
    '"',
    '"""',
    "\n",
    "\r\n",
    " ",
    "\\json ",
    "#",
    "FROM ",
    "a",
    "é",
    "\u00a0",
    "\\",
    "{{ }}",
  );
  const value = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "grapheme" }),
  );
  const instruction: fc.Arbitrary<Instruction> = fc.oneof(
    fc.record({ kind: fc.constantFrom(...textKinds), value }),
    fc.record({ kind: fc.constant("parameter" as const), name: fc.stringMatching(/^[a-z_]+$/), value }),
    fc.record({ kind: fc.constant("message" as const), role: fc.constantFrom(...messageRoles), value }),
  );

  test("prints text that parses back to the same instructions", () => {
    fc.assert(
      fc.property(fc.array(instruction), value, (rest, from) => {
        const instructions: Instruction[] = [{ kind: "from", value: from }, ...rest];
        expect(parse(printModelfile(instructions))).toEqual(instructions);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});
