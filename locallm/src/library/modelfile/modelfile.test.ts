import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Instruction, messageRoles, textKinds } from "./instruction.ts";
import { parseModelfile } from "./parse.ts";
import { printModelfile } from "./print.ts";
import { modelfileRequest } from "./request.ts";

/** Instructions without line numbers. */
const parse = (text: string): Instruction[] => parseModelfile(Buffer.from(text)).map(withoutLine);

function withoutLine(instruction: Instruction): Instruction {
  const { line, ...rest } = { line: 0, ...instruction };
  return rest;
}

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
    expect(parseModelfile(bytes)).toEqual([{ kind: "from", value: "é", line: 1 }]);
  });

  test.each([
    ["", "no FROM line"],
    ["SYSTEM x", "no FROM line"],
    ["FROM x\n\nFORM y", "(line 3): command must be one of from,"],
    ["FROM x\nMESSAGE tool hi", "(line 2): message role must be one of system, user, assistant"],
    ["FROM x\nPARAMETER stop", "(line 2): PARAMETER needs a name and a value"],
    ["FROM x\nREMOTE weight", "(line 2): REMOTE needs a name and a value"],
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

describe("a Modelfile of a remote model", () => {
  const request = (...text: string[]) => modelfileRequest(parseModelfile(Buffer.from(text.join("\n"))));
  const one = "FROM https://gpu1.example:8000/v1#Qwen/Qwen3-32B";
  const two = "FROM http://gpu2.example:8000/v1#qwen3:32b";

  test("names replicas; REMOTE lines apply to the FROM lines directly above", () => {
    const { from, fields } = request(
      "SYSTEM Be brief.",
      one,
      "# the same settings for both",
      two,
      "REMOTE key gpu",
      "REMOTE Weight 2",
      "PARAMETER temperature 0.1",
      "remote requests 8",
      "FROM http://[::1]:11434#qwen3:32b",
      "REMOTE protocol ollama",
      "REMOTE context 131072",
      "REMOTE capabilities completion, tools thinking",
    );
    const shared = { protocol: "openai", key: "gpu", weight: 2, requests: 8 };
    expect({ from, fields }).toEqual({
      from: [],
      fields: {
        system: "Be brief.",
        parameters: { temperature: 0.1 },
        remotes: [
          { url: "https://gpu1.example:8000/v1", model: "Qwen/Qwen3-32B", ...shared },
          { url: "http://gpu2.example:8000/v1", model: "qwen3:32b", ...shared },
          {
            url: "http://[::1]:11434",
            model: "qwen3:32b",
            protocol: "ollama",
            key: null,
            weight: 1,
            requests: null,
          },
        ],
        info: { context_length: 131_072, capabilities: ["completion", "tools", "thinking"] },
      },
    });
  });

  test("has no fields of a remote model if FROM is local", () => {
    expect(request("FROM llama3").fields).toEqual({});
  });

  test.each([
    [["FROM https://a:b@gpu1.example/v1#m"], "(line 1): FROM must not contain a username or password"],
    [["", "FROM https://gpu1.example/v1"], "(line 2): FROM must end with #"],
    [["REMOTE weight 2", one], "(line 1): REMOTE must follow a FROM line with the address of an engine"],
    [["FROM llama3", "REMOTE weight 2"], "(line 2): REMOTE must follow a FROM line with the address"],
    [["FROM llama3", one], "(line 2): the model must be either local or remote"],
    [[one, "FROM ./model.gguf"], "(line 2): the model must be either local or remote"],
    [[one, two, one], "(line 3): FROM repeats an address"],
    [[one, "FROM https://GPU1.example.:8000/v1/#Qwen/Qwen3-32B"], "(line 2): FROM repeats an address"],
    [[one, "REMOTE weigth 2"], "(line 2): REMOTE must be followed by one of protocol, key, weight, requests"],
    [[one, "REMOTE weight 2", "REMOTE weight 3"], "(line 3): REMOTE weight is already set"],
    [[one, "REMOTE weight 0"], "(line 2): REMOTE weight must be an integer between 1 and 1000"],
    [[one, "REMOTE weight 1.5"], "(line 2): REMOTE weight must be an integer between 1 and 1000"],
    [[one, "REMOTE requests -1"], "(line 2): REMOTE requests must be an integer between 1 and 100000"],
    [[one, "REMOTE protocol grpc"], "(line 2): REMOTE protocol must be one of openai, anthropic, ollama"],
    [[one, "REMOTE key ../x"], "(line 2): REMOTE key must be the name of a key"],
    [[one, "REMOTE context 0"], "(line 2): REMOTE context must be an integer between 1 and 2147483647"],
    [
      [one, "REMOTE capabilities tools, flying"],
      "(line 2): REMOTE capabilities must be a list of completion,",
    ],
    [
      Array.from({ length: 65 }, (_, index) => `FROM http://gpu${index}.example#m`),
      "(line 65): FROM exceeds the limit of 64 addresses",
    ],
  ])("reports an error with its line: %j", (lines, message) => {
    expect(() => request(...lines)).toThrow(message);
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
    fc.record({ kind: fc.constantFrom("from" as const, ...textKinds), value }),
    fc.record({
      kind: fc.constantFrom("parameter" as const, "remote" as const),
      name: fc.stringMatching(/^[a-z_]+$/),
      value,
    }),
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
