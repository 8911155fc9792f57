import type { TypeObject } from "koffi";
import { layout } from "../../src/engine/libllama/layout-0.5.0.ts";
import { mtmdLayout } from "../../src/engine/libmtmd/layout.ts";

/** What a C compiler says about a release. `measure.ts` writes it to a file. */
export interface MeasuredLayout {
  readonly structs: Readonly<Record<keyof typeof structs, MeasuredStruct>>;
  readonly tensorTypes: readonly {
    readonly id: number;
    readonly name: string;
    readonly blockLength: number;
    readonly blockBytes: number;
  }[];
  readonly fileTypes: readonly { readonly id: number; readonly name: string }[];
}

export interface MeasuredStruct {
  readonly bytes: number;
  readonly members: Readonly<Record<string, Member>>;
}

interface Member {
  readonly offset: number;
  readonly bytes: number;
  readonly kind: "bool" | "float" | "integer" | "pointer" | "array";
}

/** The structures that we pass to the library, by their names in our layout and in C. */
export const structs = {
  modelParams: "llama_model_params",
  contextParams: "llama_context_params",
  batch: "llama_batch",
  logitBias: "llama_logit_bias",
  samplerChainParams: "llama_sampler_chain_params",
  threadpoolParams: "ggml_threadpool_params",
  quantizeParams: "llama_model_quantize_params",
  visionParams: "mtmd_context_params",
  visionText: "mtmd_input_text",
  visionPosition: "mtmd_decoder_pos",
} as const;

/** Our layouts of these structures. */
export const ours = {
  ...layout,
  visionParams: mtmdLayout.contextParams,
  visionText: mtmdLayout.inputText,
  visionPosition: mtmdLayout.decoderPosition,
};

/** The members of a structure as our layout places them. */
export function membersOf(struct: TypeObject): Record<string, Member> {
  return Object.fromEntries(
    Object.entries(struct.members ?? {}).map(([name, { offset, type }]) => [
      name,
      { offset, bytes: type.size, kind: kindOf(type) },
    ]),
  );
}

function kindOf(type: TypeObject): Member["kind"] {
  const name = type.primitive.toLowerCase();
  if (name === "bool" || name === "array") return name;
  if (name === "pointer" || name === "string" || name === "str") return "pointer";
  return name.startsWith("float") ? "float" : "integer";
}
