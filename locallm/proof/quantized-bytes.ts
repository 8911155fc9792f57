import { execFile } from "node:child_process";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import koffi from "koffi";
import { type GgufHeader, readGguf } from "../src/library/gguf/header.ts";
import { tensorBytes, tensorType, writableType } from "../src/library/gguf/quantisation.ts";
import { quantizeInChild } from "../src/runner/quantize.ts";

export const title =
  "Quantised bytes: each tensor compared with what another build of ggml makes of the same numbers";

const reference = "@fugood/node-llama-linux-x64@1.7.15";
const types = ["q8_0", "q6_k", "q5_k_m", "q5_1", "q5_0", "q4_k_m", "q4_1", "q4_0", "iq4_nl", "iq4_xs"];
const moreTypes = ["q3_k_m", "q2_k", "iq3_s", "tq1_0", "tq2_0"];
/** Tensors that are copied or only rounded need no reference. */
const plain = new Set(["F32", "F16", "BF16"]);

/**
 * `--model FILE` is a GGUF file in F16 or F32; `TEST_MODELS` has one. The reference comes from npm: its library exports
 * `ggml_quantize_chunk`, and is of another release and built by somebody else.
 */
export async function run(
  print: (line: string) => void,
  _folder: string,
  options: readonly string[],
): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { model: { type: "string" } } });
  const model = values.model ?? join(process.env["TEST_MODELS"] ?? "", "all-minilm-l6-v2-f16.gguf");
  if (process.platform !== "linux" || process.arch !== "x64") return print("It needs Linux on x86-64.");
  if ((await stat(model).catch(() => null)) === null) return print("It needs TEST_MODELS or --model FILE.");
  const work = await mkdtemp(join(tmpdir(), "locallm-quantized-bytes-"));
  try {
    const quantize = await referenceQuantizer(work);
    const source = await readGguf(model);
    print(`The reference is ${reference}.\n`);
    print("| type | quantised tensors | of the types | bytes | the same bytes |");
    print("| ---- | ----------------: | ------------ | ----: | -------------: |");
    for (const type of [...types, ...moreTypes]) {
      const to = join(work, `${type}.gguf`);
      const job = { from: model, to, fileType: writableType(type)!.id, allowRequantize: false, isDry: false };
      await quantizeInChild(job, () => {}, new AbortController().signal);
      const made = await readGguf(to);
      const found = await compared({ path: model, header: source }, { path: to, header: made }, quantize);
      print(
        `| ${type.toUpperCase()} | ${found.tensors} | ${[...found.types].join(", ")} | ${found.bytes} | ${found.same} |`,
      );
      await rm(to);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Quantize = (type: number, numbers: Float32Array, rows: number, rowLength: number) => Buffer;

async function referenceQuantizer(work: string): Promise<Quantize> {
  const shell = promisify(execFile);
  await shell("npm", ["pack", "--silent", "--ignore-scripts", reference], { cwd: work });
  await shell("tar", ["xzf", "fugood-node-llama-linux-x64-1.7.15.tgz", "package/index.node"], { cwd: work });
  const library = koffi.load(join(work, "package/index.node"), { lazy: true });
  const chunk = library.func("ggml_quantize_chunk", "size_t", [
    ...["int32_t", "void *", "void *", "int64_t", "int64_t", "int64_t", "void *"],
  ]);
  const begin = library.func("ggml_quantize_init", "void", ["int32_t"]);
  return (type, numbers, rows, rowLength) => {
    const result = Buffer.alloc(tensorBytes(tensorType(type)!.name, [rowLength, rows]));
    begin(type);
    const written = Number(chunk(type, numbers, result, 0, rows, rowLength, null));
    if (written !== result.length)
      throw new Error(`The reference wrote ${written} of ${result.length} bytes.`);
    return result;
  };
}

interface GgufFile {
  readonly path: string;
  readonly header: GgufHeader;
}

async function compared(source: GgufFile, made: GgufFile, quantize: Quantize) {
  const found = { tensors: 0, types: new Set<string>(), bytes: 0, same: 0 };
  const from = new Map(source.header.tensors.map((tensor) => [tensor.name, tensor]));
  for (const tensor of made.header.tensors) {
    const original = from.get(tensor.name);
    if (plain.has(tensor.type) || original === undefined) continue;
    const numbers = floats(original.type, await bytesOf(source, original));
    const [rowLength = 1, ...rest] = tensor.shape;
    const rows = rest.reduce((product, length) => product * length, 1);
    const expected = quantize(typeId(tensor.type), numbers, rows, rowLength);
    const ours = await bytesOf(made, tensor);
    found.tensors++;
    found.types.add(tensor.type);
    found.bytes += ours.length;
    for (const [index, byte] of expected.entries()) if (ours[index] === byte) found.same++;
  }
  return found;
}

async function bytesOf({ path }: GgufFile, { offsetBytes, sizeBytes }: GgufHeader["tensors"][number]) {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(sizeBytes);
    await file.read(bytes, 0, sizeBytes, offsetBytes);
    return bytes;
  } finally {
    await file.close();
  }
}

function floats(type: string, bytes: Buffer): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const whole = buffer.slice(byteOffset, byteOffset + byteLength);
  if (type === "F32") return new Float32Array(whole);
  if (type === "F16") return Float32Array.from(new Float16Array(whole));
  throw new Error(`a tensor of the source is ${type}`);
}

function typeId(name: string): number {
  for (let id = 0; id < 64; id++) if (tensorType(id)?.name === name) return id;
  throw new Error(`no type is called ${name}`);
}
