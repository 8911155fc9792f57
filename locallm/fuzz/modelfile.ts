import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import type { Instruction } from "../src/library/modelfile/instruction.ts";
import { parseModelfile } from "../src/library/modelfile/parse.ts";
import { printModelfile } from "../src/library/modelfile/print.ts";
import { modelfileRequest } from "../src/library/modelfile/request.ts";
import { LocallmError } from "../src/wire/errors.ts";

/** What was read is printed, and read again as the same. */
export const target: Target = {
  covers: [
    "locallm/src/library/modelfile",
    "locallm/src/wire/options.ts",
    "locallm/src/wire/remote-address.ts",
  ],
  seeds: [
    'FROM llama3\nSYSTEM """You are\nbrief."""\nPARAMETER temperature 0.7\nPARAMETER stop "<|end|>"\n',
    "# a remote model\nFROM http://10.0.0.1:8000/v1#qwen\nREMOTE key work\nREMOTE weight 3\nREMOTE capabilities tools vision\n",
    'FROM ./a.gguf\nADAPTER ./b.gguf\nTEMPLATE "{{ .Prompt }}"\nMESSAGE user hi\nMESSAGE assistant hello\nLICENSE MIT\n',
    Buffer.from('\ufeffFROM x\r\nSYSTEM \\json "a\\n\\"\\"\\"\\nb"\r\n', "utf16le"),
  ],
  read(input) {
    const read = parseModelfile(input);
    assert.deepEqual(
      parseModelfile(Buffer.from(printModelfile(read))).map(withoutLine),
      read.map(withoutLine),
    );
    modelfileRequest(read);
  },
  refuses: (error) => error instanceof LocallmError,
};

function withoutLine(instruction: Instruction): object {
  return { ...instruction, line: undefined };
}
